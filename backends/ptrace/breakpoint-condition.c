/*
 * breakpoint-condition: finds undefined names in a condition when the breakpoint is set,
 * before the condition is evaluated for the first time.
 *
 * A name may be a variable of the code object, a global that its module has, a
 * builtin, or a global that is assigned later: then some code of the same file
 * (the module's body, or a function with `global`) has the name in co_names.
 * A name is accepted where memory is unreadable or no loaded module has the file.
 */
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/cpython/bytecode.h"
#include "backends/cpython/code-search.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pydict.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pystring.h"
#include "backends/cpython/sys-modules.h"
#include "backends/expression/pyexpression.h"
#include "backends/linux/memory.h"
#include "backends/ptrace/breakpoint-table-private.h"
#include "base/alloc.h"

/* The condition of a breakpoint that has more places than this is not checked. */
#define PLACES_MAXIMUM 16
#define NAMES_MAXIMUM 65536

struct judge {
	struct breaks *breaks;
	struct pyreader reader;
	const struct bytecode *code;
	char *unknown; /* the first undefined name; NULL: none */
};

/* True if name is in the tuple at this offset in the code object, or if the tuple is unreadable. */
static bool is_in_tuple(struct judge *judge, uint64_t code, long offset, const char *name)
{
	uint64_t names, item;
	int64_t count;

	if (pyreader_pointer(&judge->reader, code + (uint64_t)offset, &names) ||
	    pyreader_size(&judge->reader, names, &count) || count < 0 || count > NAMES_MAXIMUM)
		return true;
	for (int64_t i = 0; i < count; i++)
		if (pytuple_item(&judge->reader, names, i, &item) ||
		    pystring_equals(&judge->reader, item, name))
			return true;
	return false;
}

/* True if name is in co_names, which follows co_consts in every version (Include/code.h). */
static bool is_mentioned(struct judge *judge, uint64_t code, const char *name)
{
	long offset = judge->breaks->python->offsets.co_names;

	return is_in_tuple(judge, code, offset, name);
}

static bool is_variable(struct judge *judge, const char *name)
{
	const struct offsets *at = &judge->breaks->python->offsets;
	uint64_t code = judge->code->address;

	if (judge->breaks->python->minor >= 11)
		return is_in_tuple(judge, code, at->co_localsplusnames, name);
	return is_in_tuple(judge, code, at->co_varnames, name) ||
	       is_in_tuple(judge, code, at->co_cellvars, name) ||
	       is_in_tuple(judge, code, at->co_freevars, name);
}

/*
 * True if the dict was read consistently: every module's dict has __name__, so a dict without it
 * was changed during the read.
 */
static bool breakpoint_condition_is_whole(struct judge *judge, const struct pytable *table)
{
	uint64_t value;

	return !pytable_find(&judge->reader, table, "__name__", &value);
}

static bool is_in_dict(struct judge *judge, uint64_t dict, const char *name)
{
	struct pytable table;
	uint64_t value;

	return pytable_of_dict(&judge->reader, dict, &table) ||
	       !breakpoint_condition_is_whole(judge, &table) ||
	       !pytable_find(&judge->reader, &table, name, &value);
}

/*
 * True if a module that was loaded from the code's file has this global, or if no such module is
 * loaded.
 */
static bool is_global(struct judge *judge, uint64_t interpreter, const char *name)
{
	struct sys_modules modules = { .items = NULL };
	bool is_found = false;
	size_t count = 0;

	sys_modules_read(&modules, judge->breaks->memory, judge->breaks->python, interpreter);
	for (size_t i = 0; i < modules.count && !is_found; i++) {
		const struct module *module = &modules.items[i];

		if (!module->dict || !module->file ||
		    !pystring_equals(&judge->reader, module->file, judge->code->file))
			continue;
		count++;
		is_found = is_in_dict(judge, module->dict, name);
	}
	sys_modules_clear(&modules);
	return is_found || count == 0;
}

static bool breakpoint_condition_is_builtin(struct judge *judge, uint64_t interpreter,
					    const char *name)
{
	uint64_t value;

	return pymodule_find(&judge->reader, interpreter, "builtins", "len", &value) ||
	       !pymodule_find(&judge->reader, interpreter, "builtins", name, &value);
}

/*
 * True if other code of the file mentions the name, so that it may be assigned later. Called last,
 * because it searches the whole process for code of the file.
 */
static bool breakpoint_condition_is_to_come(struct judge *judge, const char *name)
{
	struct code_list list = { .items = NULL };
	bool is_found = false;

	code_search_of_file(judge->breaks->codes, judge->code->file, &list);
	is_found = list.is_cut;
	for (size_t i = 0; i < list.count && !is_found; i++)
		is_found = is_mentioned(judge, list.items[i], name);
	code_list_clear(&list);
	return is_found;
}

static bool breakpoint_condition_is_known(struct judge *judge, const char *name)
{
	const struct cpython *python = judge->breaks->python;
	uint64_t interpreter;

	return pyreader_pointer(&judge->reader,
				python->runtime + (uint64_t)python->offsets.rt_interp_main,
				&interpreter) ||
	       is_variable(judge, name) || is_mentioned(judge, judge->code->address, name) ||
	       is_global(judge, interpreter, name) ||
	       breakpoint_condition_is_builtin(judge, interpreter, name) ||
	       breakpoint_condition_is_to_come(judge, name);
}

static bool look_at_name(const char *name, void *data)
{
	struct judge *judge = data;

	memory_begin(judge->breaks->memory, false);
	if (breakpoint_condition_is_known(judge, name))
		return true;
	judge->unknown = xstrdup(name);
	return false;
}

char *break_unknown_name(struct breaks *breaks, const struct break_entry *entry)
{
	char *unknown = NULL;

	if (!entry->condition || entry->count > PLACES_MAXIMUM)
		return NULL;
	for (size_t i = 0; i < entry->count; i++) {
		struct judge judge = {
			.breaks = breaks,
			.code = bytecode_find(breaks->bytecodes, entry->places[i].code),
		};

		free(unknown);
		unknown = NULL;
		if (!judge.code)
			return NULL;
		pyreader_init(&judge.reader, breaks->memory, breaks->python);
		pyexpression_each_name(entry->condition, look_at_name, &judge);
		/* All names are defined at this place: the condition is accepted. */
		if (!judge.unknown)
			return NULL;
		unknown = judge.unknown;
	}
	return unknown;
}
