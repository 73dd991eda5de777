#include "backends/cpython/pyscope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pystring.h"
#include "backends/cpython/pytype.h"
#include "banned.h"
#include "base/alloc.h"

/*
 * A frame's variables are an array of words. Up to 3.10 (frameobject.h) in the order co_varnames,
 * co_cellvars, co_freevars; since 3.11 a code object has one tuple of all names, and a byte with
 * the kind of each (pycore_code.h).
 */

/* co_flags: a function with fast locals; without this bit the names are in a mapping. */
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

/* Appends the first count names of a tuple, or all (-1). */
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
