#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/ptrace/cpython.h"
#include "backends/ptrace/pycontainer.h"
#include "backends/ptrace/pyexception.h"
#include "backends/ptrace/pyobject.h"
#include "backends/ptrace/pyreader.h"
#include "backends/ptrace/pystring.h"
#include "backends/ptrace/pytype.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "protocol/variable.h"

/*
 * A frame's variables lie in a row of words. Up to 3.10 (frameobject.h) the
 * row is co_varnames, co_cellvars, co_freevars; since 3.11 a code object has
 * all names and a byte for each that says what it is (pycore_code.h).
 */
#define FAST_HIDDEN 0x10
#define FAST_LOCAL 0x20
#define FAST_CELL 0x40
#define FAST_FREE 0x80

/* co_flags: a function; without it names are kept in a mapping. */
#define CODE_OPTIMIZED 0x1

#define NAME_MAXIMUM 256
#define FAST_MAXIMUM 10000
/* Names of a module that are looked at. */
#define GLOBALS_MAXIMUM 100000
#define UNBOUND "unbound"
#define EXCEPTION_HANDLED "<exception>"
#define EXCEPTION_RAISED "<raised>"

struct fast {
	uint64_t name;
	uint64_t value;
	unsigned kind;
};

/* The variables of one frame. */
struct scope {
	struct pyreader *reader;
	uint64_t address;
	uint64_t code;
	bool is_function;
	size_t count;
	struct fast *fast;
};

/* Which variables are wanted, and how many there were so far. */
struct page {
	struct pyreader *reader;
	struct variable_list *list;
	enum variable_kind kind;
	int64_t start;
	int64_t end;
	int64_t number;
};

static int read_word(const struct scope *frame, uint64_t base, long offset,
		     uint64_t *word)
{
	if (offset < 0 ||
	    pyreader_pointer(frame->reader, base + (uint64_t)offset, word))
		return -1;
	*word = pyreader_untag(frame->reader->python->minor, *word);
	return 0;
}

static int read_count(const struct scope *frame, long offset, int64_t *count)
{
	int32_t number;

	if (offset < 0 ||
	    pyreader_read(frame->reader, frame->code + (uint64_t)offset,
			  &number, sizeof(number)) ||
	    number < 0 || number > FAST_MAXIMUM)
		return -1;
	*count = number;
	return 0;
}

/* Appends the names of a tuple, count of them or (-1) all. */
static int append_names(struct scope *frame, long offset, unsigned kind,
			int64_t count)
{
	uint64_t names;
	int64_t length;

	if (read_word(frame, frame->code, offset, &names))
		return -1;
	length = pytuple_count(frame->reader, names);
	if (count < 0)
		count = length;
	if (length < count || length < 0 ||
	    count + (int64_t)frame->count > FAST_MAXIMUM)
		return -1;
	frame->fast = xrealloc(frame->fast, (frame->count + (size_t)count + 1) *
						    sizeof(*frame->fast));
	for (int64_t i = 0; i < count; i++) {
		struct fast *fast = &frame->fast[frame->count++];

		*fast = (struct fast){ .kind = kind };
		if (pytuple_item(frame->reader, names, i, &fast->name))
			return -1;
	}
	return 0;
}

static int read_kinds(struct scope *frame)
{
	const struct offsets *at = &frame->reader->python->offsets;
	uint64_t bytes, data;
	int64_t length;

	if (read_word(frame, frame->code, at->co_localspluskinds, &bytes) ||
	    pybytes_read(frame->reader, bytes, &data, &length) ||
	    length < (int64_t)frame->count)
		return -1;
	for (size_t i = 0; i < frame->count; i++) {
		uint8_t kind;

		if (pyreader_read(frame->reader, data + i, &kind, 1))
			return -1;
		frame->fast[i].kind = kind;
	}
	return 0;
}

static int read_names(struct scope *frame)
{
	const struct offsets *at = &frame->reader->python->offsets;
	int64_t count;

	if (frame->reader->python->minor >= 11)
		return read_count(frame, at->co_nlocalsplus, &count) ||
				       append_names(frame,
						    at->co_localsplusnames, 0,
						    count) ||
				       read_kinds(frame)
			       ? -1
			       : 0;
	return read_count(frame, at->co_nlocals, &count) ||
			       append_names(frame, at->co_varnames, FAST_LOCAL,
					    count) ||
			       append_names(frame, at->co_cellvars, FAST_CELL,
					    -1) ||
			       append_names(frame, at->co_freevars, FAST_FREE,
					    -1)
		       ? -1
		       : 0;
}

/* A cell is looked through; before MAKE_CELL an argument lies there bare. */
static uint64_t open_cell(struct pyreader *reader, uint64_t value)
{
	uint64_t held;

	if (!value || !pytype_is(reader, value, "cell"))
		return value;
	return pyreader_pointer(reader, value + PYREADER_HEAD, &held) ? 0
								      : held;
}

static int read_values(struct scope *frame)
{
	long row = frame->reader->python->offsets.if_localsplus;

	for (size_t i = 0; i < frame->count; i++) {
		struct fast *fast = &frame->fast[i];

		if (read_word(frame, frame->address, row + 8 * (long)i,
			      &fast->value))
			return -1;
		if (fast->kind & (FAST_CELL | FAST_FREE))
			fast->value = open_cell(frame->reader, fast->value);
	}
	return 0;
}

/*
 * Up to 3.10 an argument that inner functions use is named twice: its local
 * is empty and a cell has the value. It is shown once, where the argument is.
 */
static void merge_arguments(struct scope *frame)
{
	size_t kept = 0;

	for (size_t i = 0; i < frame->count; i++) {
		struct fast *fast = &frame->fast[i];
		struct fast *before = NULL;

		for (size_t at = 0; fast->kind == FAST_CELL && at < kept;
		     at++) {
			if (frame->fast[at].name == fast->name &&
			    frame->fast[at].kind == FAST_LOCAL)
				before = &frame->fast[at];
		}
		if (before)
			*before = *fast;
		else
			frame->fast[kept++] = *fast;
	}
	frame->count = kept;
}

static int frame_read(struct scope *frame, struct pyreader *reader,
		      uint64_t address)
{
	const struct offsets *at = &reader->python->offsets;
	uint32_t flags;

	*frame = (struct scope){ .reader = reader, .address = address };
	if (read_word(frame, address, at->if_code, &frame->code) ||
	    !pytype_is(reader, frame->code, "code") ||
	    pyreader_read(reader, frame->code + (uint64_t)at->co_flags, &flags,
			  sizeof(flags)))
		return -1;
	frame->is_function = flags & CODE_OPTIMIZED;
	if (read_names(frame) || read_values(frame))
		return -1;
	if (reader->python->minor < 11)
		merge_arguments(frame);
	return 0;
}

static struct variable *next_variable(struct page *page,
				      enum variable_kind kind, uint64_t name)
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

static void add_fast(struct page *page, const struct fast *fast)
{
	enum variable_kind kind = VARIABLE_LOCAL;
	struct variable *variable;

	/* A comprehension's own names exist only while it runs. */
	if ((fast->kind & FAST_HIDDEN) && !fast->value)
		return;
	if (fast->kind & FAST_CELL)
		kind = VARIABLE_CELL;
	if (fast->kind & FAST_FREE)
		kind = VARIABLE_FREE;
	variable = next_variable(page, kind, fast->name);
	if (!variable)
		return;
	if (fast->value) {
		pyobject_describe(page->reader, fast->value, variable);
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
	       !pystring_characters(reader, &string, string.length - 2, 2,
				    last) &&
	       first[0] == '_' && first[1] == '_' && last[0] == '_' &&
	       last[1] == '_';
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

/* The names of a module or of a class that is being made. */
static int add_mapping(struct page *page, const struct scope *frame)
{
	const struct offsets *at = &page->reader->python->offsets;
	uint64_t locals, globals;

	if (read_word(frame, frame->address, at->if_f_locals, &locals) ||
	    read_word(frame, frame->address, at->if_f_globals, &globals))
		return -1;
	page->kind = locals == globals ? VARIABLE_GLOBAL : VARIABLE_LOCAL;
	return pydict_each(page->reader, locals, 0, GLOBALS_MAXIMUM, add_named,
			   page) < 0
		       ? -1
		       : 0;
}

static void add_exception(struct page *page, const char *name,
			  uint64_t exception)
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

static void add_exceptions(struct page *page,
			   const struct pyobject_frame *frame)
{
	struct pyreader *reader = page->reader;
	uint64_t entry = 0;

	if (frame->thread)
		entry = pyexception_of_thread(reader, frame->thread);
	else if (frame->coroutine)
		entry = pyexception_of_coroutine(reader, frame->coroutine);
	if (entry)
		add_exception(page, EXCEPTION_HANDLED,
			      pyexception_handled(reader, entry, frame->address,
						  frame->is_newest));
	if (frame->thread && frame->is_newest)
		add_exception(page, EXCEPTION_RAISED,
			      pyexception_raised(reader, frame->thread));
}

int pyobject_locals(struct pyreader *reader, const struct pyobject_frame *frame,
		    int64_t start, size_t count, struct variable_list *list,
		    struct error *error)
{
	struct page page = {
		.reader = reader,
		.list = list,
		.start = start > 0 ? start : 0,
		.end = start > 0 ? start : 0,
	};
	struct scope scope;
	int result;

	if (count < (size_t)(INT64_MAX - page.end))
		page.end += (int64_t)count;
	else
		page.end = INT64_MAX;
	result = frame_read(&scope, reader, frame->address);
	if (result) {
		error_set(error,
			  "There is no frame at 0x%" PRIx64
			  " any more: take a new sample.",
			  frame->address);
		goto out;
	}
	add_exceptions(&page, frame);
	for (size_t i = 0; i < scope.count; i++)
		add_fast(&page, &scope.fast[i]);
	if (!scope.is_function)
		result = add_mapping(&page, &scope);
	if (result)
		error_set(error,
			  "The names of the frame at 0x%" PRIx64
			  " are not in a dict that can be read.",
			  frame->address);
	list->total = page.number;
out:
	free(scope.fast);
	return result;
}
