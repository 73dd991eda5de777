/*
 * tensorview: the data of the selected tensor that was read so far: type and shape, statistics, the
 * cells of a plane, and the cells of the previous reading. The engine sends the requests
 * (engine/tensor-requests.h) and passes the answers on; panes read the view.
 *
 * A new reading begins when the rank has run: the cells of one reading belong together, and are
 * compared with the cells of the previous reading.
 */
#ifndef MODEL_TENSORVIEW_H
#define MODEL_TENSORVIEW_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/tensorheat.h"
#include "model/tensorplane.h"
#include "protocol/tensor.h"
#include "protocol/variable.h"

struct error;

/* The request that is under way for the tensor. */
enum tensor_work {
	TENSOR_WORK_NONE,
	TENSOR_WORK_LOOK,   /* type, shape, and statistics of a sample */
	TENSOR_WORK_WHOLE,  /* statistics of all elements */
	TENSOR_WORK_SLICE,  /* visible cells */
	TENSOR_WORK_HEAT,   /* a part of the heat map */
	TENSOR_WORK_FIND,   /* search for an element */
	TENSOR_WORK_EXPORT, /* elements to write to a file */
};

struct tensorview {
	char *expression; /* NULL: no tensor is selected */
	int rank;	  /* rank whose tensor it is; -1: none yet */
	size_t node;
	pid_t pid;
	enum tensor_work work;
	int64_t done;	  /* bytes exported so far */
	uint64_t reading; /* number of the current reading */
	double time;	  /* session time of the last answer */
	char *error;	  /* why the newest request failed; NULL: it did not */
	bool has_value;
	struct variable value; /* the expression's value, a tensor or not */
	char *where;	       /* "train (train.py:14)"; NULL: unknown */
	bool has_tensor;
	struct tensor tensor; /* its statistics are the newest received */
	uint64_t statistics_reading;
	bool has_before;
	struct tensor_statistics before; /* statistics of the reading before */
	struct tensor_slice slice;	 /* the newest cells */
	uint64_t slice_reading;
	struct tensor_slice previous; /* cells of the reading before */
	struct tensor_heat heat;      /* the map that is shown */
	struct tensor_heat next_heat; /* the map that is being read, to replace heat */
	uint64_t heat_reading;	      /* reading for which next_heat was begun */
	bool has_found;		      /* a `find` request was answered */
	int64_t found;		      /* flat index of the found element; -1: none */
};

void tensorview_init(struct tensorview *tensorview);
void tensorview_clear(struct tensorview *tensorview);
/* Selects an expression and drops all data. */
void tensorview_look(struct tensorview *tensorview, const char *expression);
/* Selects another process and drops all data, but not the expression. */
void tensorview_move(struct tensorview *tensorview, int rank, size_t node, pid_t pid);
/* Starts a new reading: later answers belong to it. */
void tensorview_begin_reading(struct tensorview *tensorview);
/*
 * Takes an answer to a `tensor` request for this work. Returns 0; -1 and *error: the answer is
 * invalid, and the view is unchanged.
 */
int tensorview_take(struct tensorview *tensorview, enum tensor_work work, const json_t *body,
		    double now, struct error *error);
/* Notes why a request failed; older data is kept. */
void tensorview_fail(struct tensorview *tensorview, const char *why);
/* Returns the number of a cell, borrowed; NULL: not received. */
const struct tensor_number *tensorview_number(const struct tensorview *tensorview,
					      const struct tensor_plane *plane,
					      const struct tensor_place *place);
/* True if the cell differs from the same cell in the previous reading; false also if unknown. */
bool tensorview_has_changed(const struct tensorview *tensorview, const struct tensor_plane *plane,
			    const struct tensor_place *place);
/* True if all cells of the slice were received in this reading. */
bool tensorview_covers(const struct tensorview *tensorview, const struct tensor_slice *slice);

#endif
