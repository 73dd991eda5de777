/*
 * parameter-compare: requests all parameters and buffers of a value, such as a module, from ranks,
 * page by page and with hashes, and compares them in the session's paramdiff. If elements differ,
 * the first differing pair is compared element by element (engine/tensor-compare.h). A new
 * comparison drops the one before.
 *
 * A second comparison (engine->parts) does the same for the parts of the value that `compare`
 * requested, plain values included; its result goes to the session's answers.parts.
 */
#ifndef ENGINE_PARAMETER_COMPARE_H
#define ENGINE_PARAMETER_COMPARE_H

#include <stdbool.h>

struct command_context;
struct engine;
struct error;
struct tensor_compare;
struct paramdiff_row;
struct rankset;
struct request_group;

/* A comparison; all zero: none. */
struct parameter_compare {
	bool is_of_answers;		   /* result goes to the session's answers.parts */
	struct request_group *group;	   /* requests of pages; NULL: none */
	struct tensor_compare *comparison; /* elementwise, of the first pair that differs; NULL:
					    * none */
	int way;      /* `way` of parampath_make() (paramdiff.h) for the tensor's name */
	bool is_late; /* the time limit was reached: elements are not compared any more */
};

void parameter_compare_clear(struct engine *engine);
/* Sends requests to the context's ranks. Returns 0; -1 and *error if there are no ranks. */
int parameter_compare_begin(struct command_context *context, const char *expression,
			    bool is_of_gradients, struct error *error);
/* Requests the parts of the value of the session's answers.question from these ranks. */
void parameter_compare_begin_parts(struct engine *engine, const struct rankset *ranks);
/* Cancels the comparison of parts. */
void parameter_compare_drop_parts(struct engine *engine);
/* True while the comparison of parts, or the first comparison, respectively, waits for answers. */
bool parameter_compare_are_parts_busy(const struct engine *engine);
bool parameter_compare_is_busy(const struct engine *engine);
/* Sends `cancel` to the ranks; their requests then fail. */
void parameter_compare_cancel(struct engine *engine);
/* Expression for a row's tensor, "model.fc.weight"; free() it. */
char *parameter_compare_name(const struct engine *engine, const struct paramdiff_row *row);
/*
 * In a shell: wait for all answers; a request that is not answered in time fails with a sentence.
 */
void parameter_compare_wait(struct engine *engine);
void parameter_compare_wait_parts(struct engine *engine);

#endif
