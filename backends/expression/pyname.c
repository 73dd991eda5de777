/*
 * Resolves names as the compiler does: the frame's own variables and cells, the mapping of a module
 * or class body, globals, builtins.
 */
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/pydict.h"
#include "backends/cpython/pyhash.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pyscope.h"
#include "backends/cpython/pystring.h"
#include "backends/expression/pyevaluate.h"
#include "backends/expression/pyexpression.h"
#include "backends/expression/pyvalue.h"
#include "base/error.h"

struct wanted {
	struct pyreader *reader;
	const char *name;
};

static bool pyname_is_wanted(uint64_t key, void *data)
{
	const struct wanted *wanted = data;

	return pystring_equals(wanted->reader, key, wanted->name);
}

int pyname_in_table(struct pyreader *reader, const struct pytable *table, const char *name,
		    struct pyname *found)
{
	struct wanted wanted = { .reader = reader, .name = name };
	uint64_t hash;

	if (!pyhash_text(reader, name, &hash) &&
	    !pytable_locate(reader, table, hash, pyname_is_wanted, &wanted, &found->place) &&
	    !pyreader_pointer(reader, found->place, &found->value))
		return found->value ? 0 : -1;
	/*
	 * The interpreter hashes differently: comparing all keys finds the value, but not its
	 * place.
	 */
	found->place = 0;
	return pytable_find(reader, table, name, &found->value);
}

static int find_in_dict(struct pyreader *reader, uint64_t dict, const char *name,
			struct pyname *found)
{
	struct pytable table;

	found->owner = dict;
	if (pytable_of_dict(reader, dict, &table))
		return -1;
	return pyname_in_table(reader, &table, name, found);
}

/*
 * Searches the frame's variables; an unbound variable of an inlined comprehension does not
 * count.
 */
static bool find_in_frame(const struct pyscope *scope, const char *name, struct pyname *found)
{
	for (size_t i = 0; i < scope->count; i++) {
		const struct pyvariable *variable = &scope->variables[i];

		if ((variable->kind & PYSCOPE_HIDDEN && !variable->value) ||
		    !pystring_equals(scope->reader, variable->name, name))
			continue;
		*found = (struct pyname){
			.value = variable->value,
			.place = variable->place,
			.owner = variable->cell,
		};
		return true;
	}
	return false;
}

static int find_interpreter(struct pyevaluation *evaluation, uint64_t *interpreter)
{
	const struct cpython *python = evaluation->reader->python;
	uint64_t thread = evaluation->frame->thread;

	if (thread)
		return pyreader_pointer(evaluation->reader,
					thread + (uint64_t)python->offsets.ts_interp, interpreter);
	return pyreader_pointer(evaluation->reader,
				python->runtime + (uint64_t)python->offsets.rt_interp_main,
				interpreter);
}

int pyevaluation_module(struct pyevaluation *evaluation, const char *module, const char *name,
			uint64_t *value)
{
	uint64_t interpreter;

	if (find_interpreter(evaluation, &interpreter))
		return -1;
	return pymodule_find(evaluation->reader, interpreter, module, name, value);
}

static int find_in_scope(struct pyevaluation *evaluation, const struct pyscope *scope,
			 const char *name, struct pyname *found)
{
	struct pyreader *reader = evaluation->reader;
	uint64_t locals, globals;

	*found = (struct pyname){ .value = 0 };
	/* In a class body, the class's mapping comes before the cells of enclosing functions. */
	if (!scope->is_function && !pyscope_locals(scope, &locals) &&
	    !find_in_dict(reader, locals, name, found))
		return 1;
	if (find_in_frame(scope, name, found))
		return 1;
	if (pyscope_globals(scope, &globals))
		return error_set(evaluation->error, "The names of the frame cannot be read.");
	if (!find_in_dict(reader, globals, name, found))
		return 1;
	*found = (struct pyname){ .value = 0 };
	return !pyevaluation_module(evaluation, "builtins", name, &found->value);
}

int pyname_find_own(struct pyevaluation *evaluation, const char *name, struct pyname *found)
{
	struct pyscope scope;
	uint64_t locals;
	int result = -1;

	*found = (struct pyname){ .value = 0 };
	if (!pyscope_read(&scope, evaluation->reader, evaluation->frame->address))
		result = (!scope.is_function && !pyscope_locals(&scope, &locals) &&
			  !find_in_dict(evaluation->reader, locals, name, found)) ||
			 find_in_frame(&scope, name, found);
	pyscope_clear(&scope);
	return result;
}

int pyname_globals(struct pyevaluation *evaluation, uint64_t *globals)
{
	const struct pyscope scope = {
		.reader = evaluation->reader,
		.frame = evaluation->frame->address,
	};

	return pyscope_globals(&scope, globals);
}

int pyname_code(struct pyevaluation *evaluation, struct pyname_code *code)
{
	const struct pyscope scope = {
		.reader = evaluation->reader,
		.frame = evaluation->frame->address,
	};

	return pyscope_function(&scope, &code->code, &code->names);
}

int pyname_find(struct pyevaluation *evaluation, const char *name, struct pyname *found)
{
	struct pyscope scope;
	int result;

	if (pyscope_read(&scope, evaluation->reader, evaluation->frame->address))
		result = error_set(evaluation->error, "The stack has changed: ask again.");
	else
		result = find_in_scope(evaluation, &scope, name, found);
	pyscope_clear(&scope);
	return result;
}
