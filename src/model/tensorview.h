/*
 * tensorview: the selected tensor, as far as it was read: type and shape, statistics, the
 * cells of a plane, and the cells of the reading before. The engine sends the requests
 * (engine/tensor-requests.h) and passes the answers on; panes read the view.
 *
 * A new reading begins when the rank has run: cells of one reading belong together, and
 * are compared with those of the reading before.
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
	TENSOR_WORK_LOOK, /* type, shape, and statistics of a sample */
	TENSOR_WORK_WHOLE,
	TENSOR_WORK_SLICE,
	TENSOR_WORK_HEAT,
	TENSOR_WORK_FIND,
	TENSOR_WORK_EXPORT,
};

struct tensorview {
	char *expression; /* NULL: no tensor is selected */
	int rank;	  /* rank of the members below; -1: none yet */
	size_t node;
	pid_t pid;
	enum tensor_work work;
	int64_t done;	  /* bytes exported so far */
	uint64_t reading; /* number of the current reading */
	double time;	  /* session time of the last answer */
	char *error;	  /* why the newest request failed; NULL: it did not */
	bool has_value;
	struct variable value; /* the value, tensor or not */
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
	uint64_t heat_reading;	      /* reading of next_heat */
	bool has_found;		      /* a `find` request was answered */
	int64_t found;		      /* flat index of the found element; -1: none */
};

void tensorview_init(struct tensorview *tensorview);
void tensorview_clear(struct tensorview *tensorview);
/* Selects another expression and drops all data. */
void tensorview_look(struct tensorview *tensorview, const char *expression);
/* Selects another process and drops all data, but not the expression. */
void tensorview_move(struct tensorview *tensorview, int rank, size_t node, pid_t pid);
/* Starts a new reading: later answers belong to it. */
void tensorview_begin_reading(struct tensorview *tensorview);
/*
 * Takes an answer to a `tensor` request for this work. -1 and *error: the answer is
 * invalid, and nothing has changed.
 */
int tensorview_take(struct tensorview *tensorview, enum tensor_work work, const json_t *body,
		    double now, struct error *error);
/* Notes that a request failed; older data is kept. */
void tensorview_fail(struct tensorview *tensorview, const char *why);
/* Returns a borrowed cell; NULL: not received. */
const struct tensor_number *tensorview_number(const struct tensorview *tensorview,
					      const struct tensor_plane *plane,
					      const struct tensor_place *place);
/* True if the cell differs from the reading before; false also if unknown. */
bool tensorview_has_changed(const struct tensorview *tensorview, const struct tensor_plane *plane,
			    const struct tensor_place *place);
/* True if all cells of the slice were received in this reading. */
bool tensorview_covers(const struct tensorview *tensorview, const struct tensor_slice *slice);

#endif
