/*
 * tensorview: the tensor that a person looks at, as far as it was read: what
 * it is, its statistics, the cells of a plane that have come, and what these
 * were at the reading before. The engine asks (engine/tensor-requests.h) and hands
 * the answers over; panes read it.
 *
 * A reading begins anew when its rank has run: cells of one reading belong
 * together, and are compared with those of the reading before.
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
#include "protocol/tensorslice.h"
#include "protocol/variable.h"

struct error;

/* What long or short work is under way for it. */
enum tensor_work {
	TENSOR_WORK_NONE,
	TENSOR_WORK_LOOK, /* what it is, and a sample's statistics */
	TENSOR_WORK_WHOLE,
	TENSOR_WORK_SLICE,
	TENSOR_WORK_HEAT,
	TENSOR_WORK_FIND,
	TENSOR_WORK_EXPORT,
};

struct tensorview {
	char *expression; /* NULL: none is looked at */
	int rank;	  /* what follows is of this one; -1: of none yet */
	size_t node;
	pid_t pid;
	enum tensor_work work;
	int64_t done;	  /* bytes that are exported */
	uint64_t reading; /* the number of this one */
	double time;	  /* session time of the last answer */
	char *error;	  /* why there is no newer one; NULL: there is */
	bool has_value;
	struct variable value; /* of anything */
	char *where;	       /* "train (train.py:14)"; NULL: not told */
	bool has_tensor;
	struct tensor tensor; /* statistics: the newest there are */
	uint64_t statistics_reading;
	bool has_before;
	struct tensor_statistics before; /* of the reading before */
	struct tensor_slice slice;	 /* its newest cells */
	uint64_t slice_reading;
	struct tensor_slice previous; /* of the reading before */
	struct tensor_heat heat;      /* shown */
	struct tensor_heat next_heat; /* being read, to take its place */
	uint64_t heat_reading;	      /* of the one being read */
	bool has_found;		      /* `find` was answered: */
	int64_t found;		      /* -1: there is none */
};

void tensorview_init(struct tensorview *tensorview);
void tensorview_clear(struct tensorview *tensorview);
/* Another expression: nothing is known of it. */
void tensorview_look(struct tensorview *tensorview, const char *expression);
/* Of another process: nothing is known of it there. */
void tensorview_move(struct tensorview *tensorview, int rank, size_t node, pid_t pid);
/* What comes from now on is of a later time. */
void tensorview_begin_reading(struct tensorview *tensorview);
/*
 * Takes an answer to the request `tensor` that did this work. -1 and a
 * sentence where it makes no sense; nothing is changed then.
 */
int tensorview_take(struct tensorview *tensorview, enum tensor_work work, const json_t *body,
		    double now, struct error *error);
/* It could not be read: what is known stays, and grows old. */
void tensorview_fail(struct tensorview *tensorview, const char *why);
/* Lends a cell; NULL: it has not come. */
const struct tensor_number *tensorview_number(const struct tensorview *tensorview,
					      const struct tensor_plane *plane,
					      const struct tensor_place *place);
/* It is another than at the reading before; false where that is not known. */
bool tensorview_has_changed(const struct tensorview *tensorview, const struct tensor_plane *plane,
			    const struct tensor_place *place);
/* All cells of a slice have come in this reading. */
bool tensorview_covers(const struct tensorview *tensorview, const struct tensor_slice *slice);

#endif
