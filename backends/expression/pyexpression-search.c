/* pyexpression-search: tests in which frames the names of an expression are bound. */
#include "backends/expression/pyexpression-private.h"

#include "banned.h"
#include "backends/cpython/pyobject.h"
#include "backends/expression/pyevaluate.h"
#include "backends/expression/pysyntax.h"
#include "backends/expression/pyvalue.h"
#include "base/error.h"

/* The search for an expression's names in one frame. */
struct look {
	struct pyevaluation evaluation;
	struct error unused;
	struct pyexpression_search *search;
	size_t number;	  /* index of the current name in the expression */
	bool is_own;	  /* only variables of the frame and builtins count */
	bool is_shared;	  /* no name so far is a variable of the frame */
	bool is_stranger; /* the frame's function lacks a variable of the expression */
};

static bool pyexpression_search_is_builtin(struct look *look, const char *name)
{
	size_t number = look->number++;
	uint64_t value;
	bool is;

	if (number < PYEXPRESSION_NAMES && look->search->builtins[number])
		return look->search->builtins[number] > 0;
	is = !pyevaluation_module(&look->evaluation, "builtins", name, &value);
	if (number < PYEXPRESSION_NAMES)
		look->search->builtins[number] = is ? 1 : -1;
	return is;
}

/* A name that is a variable of the frame counts as the variable, even if it is also a builtin. */
static bool pyexpression_search_is_name(struct look *look, const char *name)
{
	struct pyname found;
	int result = pyname_find_own(&look->evaluation, name, &found);

	if (result > 0)
		look->is_shared = false;
	if (result < 0 || (result > 0 && !found.value))
		return false;
	if (result > 0) {
		look->number++;
		return true;
	}
	if (look->is_own) {
		look->is_stranger = !pyexpression_search_is_builtin(look, name);
		return !look->is_stranger;
	}
	look->number++;
	return pyname_find(&look->evaluation, name, &found) > 0 && found.value;
}

static bool are_names(struct look *look, const struct pysyntax *syntax)
{
	for (size_t i = 0; i < syntax->count; i++)
		if (!are_names(look, syntax->items[i]))
			return false;
	return syntax->kind != PYSYNTAX_NAME || pyexpression_search_is_name(look, syntax->text);
}

static bool each_name(const struct pysyntax *syntax, bool (*each)(const char *name, void *data),
		      void *data)
{
	for (size_t i = 0; i < syntax->count; i++)
		if (!each_name(syntax->items[i], each, data))
			return false;
	return syntax->kind != PYSYNTAX_NAME || each(syntax->text, data);
}

void pyexpression_each_name(const struct pyexpression *expression,
			    bool (*each)(const char *name, void *data), void *data)
{
	each_name(expression->syntax, each, data);
}

static void pyexpression_search_begin(struct look *look, struct pyreader *reader,
				      const struct pyobject_frame *frame,
				      struct pyexpression_search *search, bool is_own)
{
	*look = (struct look){ .search = search, .is_own = is_own, .is_shared = true };
	look->evaluation =
		(struct pyevaluation){ .reader = reader, .frame = frame, .error = &look->unused };
}

static bool is_stranger(const struct pyexpression_search *search, const struct pyname_code *code)
{
	for (size_t i = 0; i < search->stranger_count; i++)
		if (search->strangers[i].code == code->code &&
		    search->strangers[i].names == code->names)
			return true;
	return false;
}

bool pyexpression_is_own(const struct pyexpression *expression, struct pyreader *reader,
			 const struct pyobject_frame *frame, struct pyexpression_search *search)
{
	struct look look;
	struct pyname_code code;
	bool is_function;
	bool result;

	pyexpression_search_begin(&look, reader, frame, search, true);
	is_function = !pyname_code(&look.evaluation, &code);
	if (is_function && is_stranger(search, &code))
		return false;
	result = are_names(&look, expression->syntax);
	if (is_function && look.is_stranger && search->stranger_count < PYEXPRESSION_CODES)
		search->strangers[search->stranger_count++] = code;
	pyevaluation_clear(&look.evaluation);
	return result;
}

bool pyexpression_is_seen(const struct pyexpression *expression, struct pyreader *reader,
			  const struct pyobject_frame *frame, struct pyexpression_search *search)
{
	struct look look;
	uint64_t globals;
	bool result;

	pyexpression_search_begin(&look, reader, frame, search, false);
	if (pyname_globals(&look.evaluation, &globals))
		globals = 0;
	for (size_t i = 0; globals && i < search->judged_count; i++)
		if (search->judged[i].globals == globals && !search->judged[i].is_seen)
			return false;
	result = are_names(&look, expression->syntax);
	pyevaluation_clear(&look.evaluation);
	/*
	 * If no name is a variable of the frame, frames with the same globals give the same
	 * result.
	 */
	if (globals && look.is_shared && search->judged_count < PYEXPRESSION_GLOBALS) {
		search->judged[search->judged_count].globals = globals;
		search->judged[search->judged_count++].is_seen = result;
	}
	return result;
}
