/*
 * tensor-question: arguments of the request `tensor` for an expression in a rank: the frame in
 * which the expression is looked up, and the data that is wanted (protocol/tensoranswer.h is the
 * answer).
 *
 * If a person has selected a frame, or the selected rank is stopped, the lookup begins in that
 * frame, and in other ranks in the frame of the same function; otherwise in the innermost frame.
 * From there outwards, the first frame is taken that has the expression's names as variables of its
 * own.
 */
#ifndef ENGINE_TENSOR_QUESTION_H
#define ENGINE_TENSOR_QUESTION_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct engine;
struct rank;
struct tensor_slice;

/* A new object with pid, frame and expression. */
json_t *tensor_question_place(const struct engine *engine, const struct rank *rank,
			      const char *expression);
/*
 * Like tensor_question_place(), from the main thread's innermost frame outwards, whatever frame is
 * selected.
 */
json_t *tensor_question_innermost(const struct rank *rank, const char *expression);
/*
 * Like tensor_question_place(), for one frame only: depth, which must be a frame of function; in a
 * stopped rank a frame of the stopped thread.
 */
json_t *tensor_question_at(const struct rank *rank, const char *expression, int depth,
			   const char *function);

/* Data that a request wants of the elements; all zero: none. */
struct tensor_question {
	const char *statistics; /* "sample" "whole" "auto"; NULL: no statistics */
	int bin_count;
	bool wants_hash;
	int block_count;		  /* maximum of blocks to hash; 0: none */
	const struct tensor_slice *slice; /* NULL, or without cells: no slice */
	const char *find;		  /* "min" "max" "nan"; NULL: no search */
	int64_t after;
	int64_t data_start; /* index of the first element to send */
	int64_t data_count; /* number of elements to send; 0: none */
	double timeout;	    /* seconds; 0: a shell's default, on a screen no limit */
};

/* The arguments of the request `tensor`: owned_place with the data that is wanted. */
json_t *tensor_question_arguments(const struct engine *engine, json_t *owned_place,
				  const struct tensor_question *ask);

#endif
