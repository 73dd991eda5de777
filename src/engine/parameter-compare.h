/*
 * parameter-compare: asks ranks for all their parameters and buffers, page by page, with
 * hashes, into the session's paramdiff; where elements differ, the first such
 * pair is compared element by element (engine/tensor-compare.h). One at a time: what
 * was asked before is dropped then. Beside it the same is done for the parts
 * of what `compare` asked for, plain values included, into the answers' parts.
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

/* All zero: nothing is asked. */
struct parameter_compare {
	bool is_of_answers;		   /* it fills their parts */
	struct request_group *group;	   /* pages to come; NULL: none was asked for */
	struct tensor_compare *comparison; /* of the first that differs; NULL: none */
	int way;			   /* of naming it, that is tried */
	bool is_late;			   /* elements are not compared any more */
};

void parameter_compare_clear(struct engine *engine);
/* Asks the context's ranks. -1 and a sentence where there is none. */
int parameter_compare_begin(struct command_context *context, const char *expression,
			    bool is_of_gradients, struct error *error);
/* Asks these ranks for the parts of what the answers' question names. */
void parameter_compare_begin_parts(struct engine *engine, const struct rankset *ranks);
/* They are not waited for any more. */
void parameter_compare_drop_parts(struct engine *engine);
bool parameter_compare_are_parts_busy(const struct engine *engine);
bool parameter_compare_is_busy(const struct engine *engine);
/* What is asked of ranks ends: they answer that it did. */
void parameter_compare_cancel(struct engine *engine);
/* A row's tensor as an expression, "model.fc.weight"; free() it. */
char *parameter_compare_name(const struct engine *engine, const struct paramdiff_row *row);
/* In a shell: waits for all; who is late fails with a sentence. */
void parameter_compare_wait(struct engine *engine);
void parameter_compare_wait_parts(struct engine *engine);

#endif
