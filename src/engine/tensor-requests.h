/*
 * tensor-requests: requests `tensor` for data that the tensor pane lacks, one at a time, so that a
 * new request by the person does not wait for a queue of older requests. The session's tensorview
 * takes the answers.
 *
 * The order is: the tensor with statistics of a sample, then the visible cells, then statistics of
 * all elements. While the rank runs, and after it has stepped, all of this is read again: as often
 * as the screen samples, but reading takes at most a tenth of the time.
 */
#ifndef ENGINE_TENSOR_REQUESTS_H
#define ENGINE_TENSOR_REQUESTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/tensorview.h"

struct engine;
struct error;
struct rank;
struct request;
struct tensor_export;
struct tensor_slice;

/* State of the tensor pane's requests. All zero: none. */
struct tensor_asking {
	struct request *request; /* NULL: no open request */
	enum tensor_work work;
	uint64_t reading; /* tensorview.reading when request was sent */
	double asked_at;  /* session time when request was sent */
	double look_at;	  /* session time before which nothing is read again */
	double whole_at;  /* session time before which not all elements are read again */
	uint64_t epoch;	  /* of the rank, when reading began */
	uint64_t stops;
	uint64_t touched;     /* session_find_touched() when reading began */
	bool has_ended_whole; /* a person cancelled reading all elements: not repeated by itself */
	bool has_whole;	      /* all elements were read in this reading */
	bool is_old;	      /* read again in any case */
	bool is_large;	      /* the first answer was only a sample */
	struct tensor_export *export; /* NULL: none */
	char *find;		      /* "min" "max" "nan" to search next; NULL: none */
	int64_t after;
};

/* What the pane shows. */
struct tensor_want {
	int bin_count;
	struct tensor_slice slice; /* cells; row_count 0: none */
	bool wants_map;
	struct tensor_plane plane; /* rows and columns of the heat map */
	int row_maximum;
	int column_maximum;
	int64_t column; /* a column that the map must show */
};

void tensor_asking_clear(struct engine *engine);
/* Shows another expression of the selected rank; the same expression is read anew. */
void tensor_look(struct engine *engine, const char *expression);
/* Call after each draw of the pane: sends the next request for missing data. */
void tensor_want(struct engine *engine, const struct tensor_want *want);
/* Searches "min", "max" or "nan" after a flat index; the result goes to session.tensorview. */
void tensor_find(struct engine *engine, const char *what, int64_t after);
/*
 * Writes the tensor to a new file, part by part; the engine reports the end. -1 and a sentence: it
 * cannot be written.
 */
int tensor_export(struct engine *engine, const char *path, struct error *error);
/* Reads everything again, even if nothing has happened since. */
void tensor_again(struct engine *engine);
/* Cancels a long request; false: there is none. */
bool tensor_cancel(struct engine *engine);
/* Call while the pane is hidden: cancels long requests. */
void tensor_rest(struct engine *engine);

/*
 * Arguments of the request `tensor` for an expression in a rank: the frame in
 * which the expression is looked up, and the data that is wanted (protocol/tensoranswer.h is the
 * answer).
 *
 * If a person has selected a frame, or the selected rank is stopped, the lookup begins in that
 * frame, and in other ranks in the frame of the same function; otherwise in the innermost frame.
 * From there outwards, the first frame is taken that has the expression's names as variables of its
 * own.
 */

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
