#include "backends/cpython/pyscope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyexception.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pystring.h"
#include "backends/cpython/pytype.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "protocol/variable.h"

/*
 * A frame's variables are an array of words. Up to 3.10 (frameobject.h) the order is co_varnames,
 * co_cellvars, co_freevars; since 3.11 a code object has one tuple of all names, and for each name
 * a byte with its kind (pycore_code.h).
 */

/*
 * CO_OPTIMIZED in co_flags: a function with fast locals; without this bit the names are in a
 * mapping.
 */
#define CODE_OPTIMIZED 0x1
#define VARIABLES_MAXIMUM 10000

static int pyscope_read_word(const struct pyscope *scope, uint64_t base, long offset,
			     uint64_t *word)
{
	if (offset < 0 || pyreader_pointer(scope->reader, base + (uint64_t)offset, word))
		return -1;
	*word = pyreader_untag(scope->reader->python->minor, *word);
	return 0;
}

static int pyscope_read_count(const struct pyscope *scope, long offset, int64_t *count)
{
	int32_t number;

	if (offset < 0 ||
	    pyreader_read(scope->reader, scope->code + (uint64_t)offset, &number, sizeof(number)) ||
	    number < 0 || number > VARIABLES_MAXIMUM)
		return -1;
	*count = number;
	return 0;
}

/* Appends the first count names of the tuple at offset in the code object; count -1: all names. */
static int pyscope_append_names(struct pyscope *scope, long offset, unsigned kind, int64_t count)
{
	struct pyvariable *added;
	uint64_t names;
	int64_t length;

	if (pyscope_read_word(scope, scope->code, offset, &names))
		return -1;
	length = pytuple_count(scope->reader, names);
	if (count < 0)
		count = length;
	if (length < count || length < 0 || count + (int64_t)scope->count > VARIABLES_MAXIMUM)
		return -1;
	scope->variables = xrealloc(scope->variables,
				    (scope->count + (size_t)count + 1) * sizeof(*scope->variables));
	added = scope->variables + scope->count;
	for (int64_t i = 0; i < count; i++) {
		added[i] = (struct pyvariable){ .kind = kind };
		if (pytuple_item(scope->reader, names, i, &added[i].name))
			return -1;
		scope->count++;
	}
	return 0;
}

static int read_kinds(struct pyscope *scope)
{
	const struct offsets *at = &scope->reader->python->offsets;
	uint64_t bytes, data;
	int64_t length;

	if (pyscope_read_word(scope, scope->code, at->co_localspluskinds, &bytes) ||
	    pybytes_read(scope->reader, bytes, &data, &length) || length < (int64_t)scope->count)
		return -1;
	for (size_t i = 0; i < scope->count; i++) {
		uint8_t kind;

		if (pyreader_read(scope->reader, data + i, &kind, 1))
			return -1;
		scope->variables[i].kind = kind;
	}
	return 0;
}

static int pyscope_read_names(struct pyscope *scope)
{
	const struct offsets *at = &scope->reader->python->offsets;
	int64_t count;

	if (scope->reader->python->minor >= 11)
		return pyscope_read_count(scope, at->co_nlocalsplus, &count) ||
				       pyscope_append_names(scope, at->co_localsplusnames, 0,
							    count) ||
				       read_kinds(scope)
			       ? -1
			       : 0;
	return pyscope_read_count(scope, at->co_nlocals, &count) ||
			       pyscope_append_names(scope, at->co_varnames, PYSCOPE_LOCAL, count) ||
			       pyscope_append_names(scope, at->co_cellvars, PYSCOPE_CELL, -1) ||
			       pyscope_append_names(scope, at->co_freevars, PYSCOPE_FREE, -1)
		       ? -1
		       : 0;
}

/*
 * Replaces a cell by its contents. Before MAKE_CELL runs, the word still holds the bare argument.
 */
static void open_cell(struct pyreader *reader, struct pyvariable *variable)
{
	if (!variable->value || !pytype_is(reader, variable->value, "cell"))
		return;
	variable->cell = variable->value;
	variable->place = variable->cell + (uint64_t)reader->python->offsets.cell_ref;
	if (pyreader_pointer(reader, variable->place, &variable->value))
		variable->value = 0;
}

static int pyscope_read_values(struct pyscope *scope)
{
	uint64_t row = scope->frame + (uint64_t)scope->reader->python->offsets.if_localsplus;

	for (size_t i = 0; i < scope->count; i++) {
		struct pyvariable *variable = &scope->variables[i];

		variable->place = row + 8 * (uint64_t)i;
		if (pyscope_read_word(scope, variable->place, 0, &variable->value))
			return -1;
		if (variable->kind & (PYSCOPE_CELL | PYSCOPE_FREE))
			open_cell(scope->reader, variable);
	}
	return 0;
}

/*
 * Up to 3.10 an argument that inner functions use is named twice: its local is NULL and a cell has
 * the value. Keep one variable, at the argument's place.
 */
static void merge_arguments(struct pyscope *scope)
{
	size_t kept = 0;

	for (size_t i = 0; i < scope->count; i++) {
		const struct pyvariable *variable = &scope->variables[i];
		struct pyvariable *before = NULL;

		for (size_t at = 0; variable->kind == PYSCOPE_CELL && at < kept; at++) {
			if (scope->variables[at].name == variable->name &&
			    scope->variables[at].kind == PYSCOPE_LOCAL)
				before = &scope->variables[at];
		}
		if (before)
			*before = *variable;
		else
			scope->variables[kept++] = *variable;
	}
	scope->count = kept;
}

int pyscope_read(struct pyscope *scope, struct pyreader *reader, uint64_t frame)
{
	const struct offsets *at = &reader->python->offsets;
	uint32_t flags;

	*scope = (struct pyscope){ .reader = reader, .frame = frame };
	if (pyscope_read_word(scope, frame, at->if_code, &scope->code) ||
	    !pytype_is(reader, scope->code, "code") ||
	    pyreader_read(reader, scope->code + (uint64_t)at->co_flags, &flags, sizeof(flags)))
		return -1;
	scope->is_function = flags & CODE_OPTIMIZED;
	if (pyscope_read_names(scope) || pyscope_read_values(scope))
		return -1;
	if (reader->python->minor < 11)
		merge_arguments(scope);
	return 0;
}

void pyscope_clear(struct pyscope *scope)
{
	free(scope->variables);
	*scope = (struct pyscope){ .reader = NULL };
}

int pyscope_globals(const struct pyscope *scope, uint64_t *globals)
{
	return pyscope_read_word(scope, scope->frame, scope->reader->python->offsets.if_f_globals,
				 globals);
}

int pyscope_locals(const struct pyscope *scope, uint64_t *locals)
{
	return pyscope_read_word(scope, scope->frame, scope->reader->python->offsets.if_f_locals,
				 locals);
}

int pyscope_function(const struct pyscope *scope, uint64_t *code, uint64_t *names)
{
	const struct offsets *at = &scope->reader->python->offsets;
	uint32_t flags;

	if (pyscope_read_word(scope, scope->frame, at->if_code, code) ||
	    pyreader_read(scope->reader, *code + (uint64_t)at->co_flags, &flags, sizeof(flags)) ||
	    !(flags & CODE_OPTIMIZED))
		return -1;
	return pyscope_read_word(scope, *code,
				 scope->reader->python->minor >= 11 ? at->co_localsplusnames
								    : at->co_varnames,
				 names);
}

#define NAME_MAXIMUM 256
/* Maximum names of a module that are read. */
#define GLOBALS_MAXIMUM 100000
#define UNBOUND "unbound"
#define EXCEPTION_HANDLED "<exception>"
#define EXCEPTION_RAISED "<raised>"

/* The requested variables (index start to end - 1); number counts the variables visited so far. */
struct page {
	struct pyreader *reader;
	struct variable_list *list;
	enum variable_kind kind;
	int64_t start;
	int64_t end;
	int64_t number;
};

static struct variable *next_variable(struct page *page, enum variable_kind kind, uint64_t name)
{
	struct buffer text = BUFFER_INIT;
	struct variable *variable;
	int64_t number = page->number++;

	if (number < page->start || number >= page->end)
		return NULL;
	if (pyobject_string(page->reader, name, NAME_MAXIMUM, &text))
		buffer_append_string(&text, "?");
	variable = variable_list_add(page->list);
	variable->kind = kind;
	variable->name = buffer_take(&text);
	return variable;
}

static void pylocals_add_variable(struct page *page, const struct pyvariable *is)
{
	enum variable_kind kind = VARIABLE_LOCAL;
	struct variable *variable;

	/* An inlined comprehension's variables exist only while it runs. */
	if ((is->kind & PYSCOPE_HIDDEN) && !is->value)
		return;
	if (is->kind & PYSCOPE_CELL)
		kind = VARIABLE_CELL;
	if (is->kind & PYSCOPE_FREE)
		kind = VARIABLE_FREE;
	variable = next_variable(page, kind, is->name);
	if (!variable)
		return;
	if (is->value) {
		pyobject_describe(page->reader, is->value, variable);
		return;
	}
	variable->type = xstrdup("");
	variable->value = xstrdup(UNBOUND);
}

static bool is_dunder(struct pyreader *reader, uint64_t name)
{
	struct pystring string;
	uint32_t first[2], last[2];

	return !pystring_read(reader, name, &string) && string.length >= 4 &&
	       !pystring_characters(reader, &string, 0, 2, first) &&
	       !pystring_characters(reader, &string, string.length - 2, 2, last) &&
	       first[0] == '_' && first[1] == '_' && last[0] == '_' && last[1] == '_';
}

static bool add_named(uint64_t key, uint64_t value, void *data)
{
	struct page *page = data;
	struct variable *variable;

	if (is_dunder(page->reader, key))
		return true;
	variable = next_variable(page, page->kind, key);
	if (variable)
		pyobject_describe(page->reader, value, variable);
	return true;
}

/* Adds the names of a module, or of a class whose body runs. */
static int add_mapping(struct page *page, const struct pyscope *scope)
{
	uint64_t locals, globals;

	if (pyscope_locals(scope, &locals) || pyscope_globals(scope, &globals))
		return -1;
	page->kind = locals == globals ? VARIABLE_GLOBAL : VARIABLE_LOCAL;
	return pydict_each(page->reader, locals, 0, GLOBALS_MAXIMUM, add_named, page) < 0 ? -1 : 0;
}

static void add_exception(struct page *page, const char *name, uint64_t exception)
{
	struct variable *variable;
	int64_t number;

	if (!exception)
		return;
	number = page->number++;
	if (number < page->start || number >= page->end)
		return;
	variable = variable_list_add(page->list);
	variable->kind = VARIABLE_LOCAL;
	variable->name = xstrdup(name);
	pyobject_describe(page->reader, exception, variable);
}

static void add_exceptions(struct page *page, const struct pyobject_frame *frame)
{
	struct pyreader *reader = page->reader;
	uint64_t entry = 0;

	if (frame->thread)
		entry = pyexception_of_thread(reader, frame->thread);
	else if (frame->coroutine)
		entry = pyexception_of_coroutine(reader, frame->coroutine);
	if (entry)
		add_exception(page, EXCEPTION_HANDLED,
			      pyexception_handled(reader, entry, frame->address, frame->is_newest));
	if (frame->thread && frame->is_newest)
		add_exception(page, EXCEPTION_RAISED, pyexception_raised(reader, frame->thread));
}

int pyobject_locals(struct pyreader *reader, const struct pyobject_frame *frame, int64_t start,
		    size_t count, struct variable_list *list, struct error *error)
{
	struct page page = {
		.reader = reader,
		.list = list,
		.start = start > 0 ? start : 0,
		.end = start > 0 ? start : 0,
	};
	struct pyscope scope;
	int result;

	if (count < (size_t)(INT64_MAX - page.end))
		page.end += (int64_t)count;
	else
		page.end = INT64_MAX;
	result = pyscope_read(&scope, reader, frame->address);
	if (result) {
		error_set(error, "the stack has changed: try again");
		goto out;
	}
	add_exceptions(&page, frame);
	for (size_t i = 0; i < scope.count; i++)
		pylocals_add_variable(&page, &scope.variables[i]);
	if (!scope.is_function)
		result = add_mapping(&page, &scope);
	if (result)
		error_set(error, "the variables of the frame cannot be read: its namespace is not "
				 "a readable dict");
	list->total = page.number;
out:
	pyscope_clear(&scope);
	return result;
}
