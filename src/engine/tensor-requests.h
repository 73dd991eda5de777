/*
 * tensor-requests: requests `tensor` for data that the tensor pane lacks, one at a time, so that a
 * new request by the person does not wait for a queue of older requests. The session's tensorview
 * takes the answers.
 *
 * The order is: the tensor with statistics of a sample, then the visible cells, then statistics of
 * all elements. While the rank runs, and after a step, all of this is read again: as often as the
 * screen takes samples, but the pause after a reading is ten times the duration of the reading.
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
	/* When reading began; if one of these has changed, the tensor is read again: */
	uint64_t epoch;	      /* rank.epoch; compared only while the rank is not stopped */
	uint64_t stops;	      /* number of the rank's stop, from session_find_stop() */
	uint64_t touched;     /* number of code runs by the user, from session_find_touched() */
	bool has_ended_whole; /* the person has cancelled reading all elements: not repeated */
	bool has_whole;	      /* all elements were read since reading began */
	bool is_old;	      /* the person has requested to read everything again */
	bool is_large;	      /* the first answer was only a sample */
	struct tensor_export *export; /* NULL: none */
	char *find;		      /* next search: "min" "max" "nan"; NULL: none */
	int64_t after;		      /* flat index after which find searches */
};

/* The data that the pane needs. */
struct tensor_want {
	int bin_count;
	struct tensor_slice slice; /* visible cells; row_count 0: none */
	bool wants_map;
	struct tensor_plane plane; /* rows and columns of the heat map */
	int row_maximum;
	int column_maximum;
	int64_t column; /* a column that the map must show */
};

void tensor_asking_clear(struct engine *engine);
/* Shows an expression of the selected rank; reads it again if it is the one that is shown. */
void tensor_look(struct engine *engine, const char *expression);
/* Call after each draw of the pane: sends the next request for missing data. */
void tensor_want(struct engine *engine, const struct tensor_want *want);
/*
 * Searches `what` ("min", "max", "nan") after flat index `after`; the result goes to
 * session.tensorview.
 */
void tensor_find(struct engine *engine, const char *what, int64_t after);
/*
 * Writes the tensor to a new file, part by part; a notice of the engine reports the end. Returns 0;
 * -1 and *error: the tensor cannot be written.
 */
int tensor_export(struct engine *engine, const char *path, struct error *error);
/* Reads everything again, even if the rank has not run since the last reading. */
void tensor_again(struct engine *engine);
/* Cancels the open request if it takes long, or the export. Returns false if there is neither. */
bool tensor_cancel(struct engine *engine);
/* Call while the pane is hidden: cancels long requests. */
void tensor_rest(struct engine *engine);

/*
 * Arguments of the request `tensor` for an expression in a rank: the frame in which the expression
 * is looked up, and the requested data. The answer is described in protocol/tensoranswer.h.
 *
 * If a person has selected a frame, or the selected rank is stopped, the lookup begins in the
 * selected frame, in other ranks in the frame of the same function; otherwise it begins in the
 * innermost frame. It takes the first frame, outwards, whose local variables include the names of
 * the expression.
 */

/* A new object with pid, frame and expression. */
json_t *tensor_question_place(const struct engine *engine, const struct rank *rank,
			      const char *expression);
/* Like tensor_question_place(), but always from the main thread's innermost frame outwards. */
json_t *tensor_question_innermost(const struct rank *rank, const char *expression);
/*
 * Like tensor_question_place(), for only the frame at depth, which must be a frame of function; in
 * a stopped rank it is a frame of the stopped thread.
 */
json_t *tensor_question_at(const struct rank *rank, const char *expression, int depth,
			   const char *function);

/* Requested data about the elements; all zero: none. */
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

/* Returns the arguments of the request `tensor`: owned_place with the requested data added. */
json_t *tensor_question_arguments(const struct engine *engine, json_t *owned_place,
				  const struct tensor_question *ask);

#endif
