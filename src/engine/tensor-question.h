/*
 * tensor-question: the node's request `tensor` for an expression in a rank: in which
 * frame it is looked for, and what is wanted (protocol/tensoranswer.h is what
 * comes).
 *
 * The frame is the one that is looked at, where a person has chosen one or the
 * rank is stopped, and its like in other ranks; from there outwards, else from
 * the innermost one, the first is taken whose own the expression's names are.
 */
#ifndef ENGINE_TENSOR_QUESTION_H
#define ENGINE_TENSOR_QUESTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct engine;
struct rank;
struct tensor_slice;

/* Arguments that name pid, frame and expression: a new object. */
json_t *tensor_question_place(const struct engine *engine, const struct rank *rank,
			      const char *expression);
/* From the innermost frame of its main thread outwards, whatever a person
 * looks at. */
json_t *tensor_question_innermost(const struct rank *rank, const char *expression);
/*
 * In that frame alone, which is to be of this function; a rank that is held
 * has it in the thread that is.
 */
json_t *tensor_question_at(const struct rank *rank, const char *expression, int depth,
			   const char *function);

/* What a request wants of the elements; all zero: nothing. */
struct tensor_question {
	const char *statistics; /* "sample" "whole" "auto"; NULL: none */
	int bin_count;
	bool wants_hash;
	int block_count;
	const struct tensor_slice *slice; /* NULL, or without cells: none */
	const char *find;		  /* "min" "max" "nan"; NULL: nothing */
	int64_t after;
	int64_t data_start;
	int64_t data_count; /* 0: none */
	double timeout;	    /* 0: as a shell waits */
};

/* The arguments of the request `tensor`: place with what is wanted of the elements. */
json_t *tensor_question_arguments(const struct engine *engine, json_t *owned_place,
				  const struct tensor_question *ask);

#endif
