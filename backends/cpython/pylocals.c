#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pyexception.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pyscope.h"
#include "backends/cpython/pystring.h"
#include "backends/cpython/pytype.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "protocol/variable.h"

#define NAME_MAXIMUM 256
/* Maximum names of a module that are read. */
#define GLOBALS_MAXIMUM 100000
#define UNBOUND "unbound"
#define EXCEPTION_HANDLED "<exception>"
#define EXCEPTION_RAISED "<raised>"

/* The page of variables wanted, and the number of variables counted so far. */
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
		error_set(error, "The stack has changed: ask again.");
		goto out;
	}
	add_exceptions(&page, frame);
	for (size_t i = 0; i < scope.count; i++)
		pylocals_add_variable(&page, &scope.variables[i]);
	if (!scope.is_function)
		result = add_mapping(&page, &scope);
	if (result)
		error_set(error, "The names of the frame are not in a dict that can be read.");
	list->total = page.number;
out:
	pyscope_clear(&scope);
	return result;
}
