/*
 * tensor-requests: what the tensor pane lacks, asked for with the request `tensor`
 * one after the other, so that what a person does now is not behind what was
 * wanted before. The session's tensorview takes the answers.
 *
 * First what it is, with a sample's statistics, then the cells that are seen,
 * then all elements. While the rank runs, or when it has stepped, all of that
 * is read again: as often as the screen samples, but so that reading takes a
 * tenth of the time at most.
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

/* What is under way, and what was done. All zero: nothing. */
struct tensor_asking {
	struct request *request; /* NULL: nothing is under way */
	enum tensor_work work;
	uint64_t reading;
	double asked_at;
	double look_at;	 /* not read again before */
	double whole_at; /* nor all elements */
	uint64_t epoch;	 /* of the rank, at the reading */
	uint64_t stops;
	uint64_t touched;
	bool has_ended_whole;	      /* a person ended it: not again of itself */
	bool has_whole;		      /* in this reading */
	bool is_old;		      /* to be read again in any case */
	bool is_large;		      /* a sample was told first */
	struct tensor_export *export; /* NULL: none */
	char *find;		      /* to be found next; NULL */
	int64_t after;
};

/* What is seen. */
struct tensor_want {
	int bin_count;
	struct tensor_slice slice; /* cells; row_count 0: none */
	bool wants_map;
	struct tensor_plane plane; /* of the map */
	int row_maximum;
	int column_maximum;
	int64_t column;
};

void tensor_asking_clear(struct engine *engine);
/* Looks at another expression in the rank looked at; the same: anew. */
void tensor_look(struct engine *engine, const char *expression);
/* After each draw of the pane: asks for what is lacking next. */
void tensor_want(struct engine *engine, const struct tensor_want *want);
/* "min", "max" or "nan", behind a flat index: told in session.tensorview. */
void tensor_find(struct engine *engine, const char *what, int64_t after);
/* Writes it to a new file, part by part; the engine says when it is done. -1
 * and a sentence: it cannot. */
int tensor_export(struct engine *engine, const char *path, struct error *error);
/* It is read again, all of it, though nothing has happened since. */
void tensor_again(struct engine *engine);
/* Ends what takes long; false: nothing does. */
bool tensor_cancel(struct engine *engine);
/* The pane is not seen: what takes long ends. */
void tensor_rest(struct engine *engine);

#endif
