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

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/tensorview.h"

struct engine;
struct error;
struct request;
struct tensor_export;

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

#endif
