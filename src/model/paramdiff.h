/*
 * paramdiff: compares the parameters and buffers of replicas by name: which ranks have
 * equal values, and which parameter differs first. Filled page by page as ranks answer;
 * ranks with equal values share one class.
 *
 * Different shards of one tensor may have different elements: only their dtype and placement are
 * compared. Elements are compared between replicas of the same shard. Other objects that contain
 * tensors and plain values are compared in the same way.
 */
#ifndef MODEL_PARAMDIFF_H
#define MODEL_PARAMDIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/tensordiff.h"
#include "protocol/rankset.h"
#include "protocol/tensor.h"
#include "protocol/tensoranswer.h"

struct answers;
struct buffer;
struct strmap;

enum paramdiff_how {
	PARAMDIFF_SAME,
	PARAMDIFF_MISSING, /* some ranks lack the parameter */
	PARAMDIFF_DTYPE,
	PARAMDIFF_SHAPE,
	PARAMDIFF_PLACEMENT, /* different placement, or sharded on some ranks only */
	PARAMDIFF_REPLICAS,  /* replicas of one shard differ */
	PARAMDIFF_ELEMENTS,
	PARAMDIFF_VALUES,  /* plain values differ, or only some ranks have a tensor */
	PARAMDIFF_SHARDED, /* no difference known; shards may have different elements */
	PARAMDIFF_NONE,	   /* None on all ranks: no gradient */
	PARAMDIFF_UNREAD,  /* no difference known, but elements were not read */
};

/* Ranks with equal tensors; shards that may belong to one tensor are one class. */
struct paramdiff_class {
	struct rankset ranks;
	struct strmap *shards; /* maps tensor.shard to the shard's hash + 1; NULL: no shards */
	struct tensor tensor;  /* tensor of the rank that answered first; dtype NULL: value or error
				* is set */
	char *value;	       /* a plain value, if not a tensor */
	char *error;
};

struct paramdiff_row {
	char *name;
	bool is_buffer;
	struct paramdiff_class *classes;
	size_t class_count;
	size_t class_capacity;
	struct rankset missing;
	enum paramdiff_how how;
};

/* The answers of one rank, as far as received. */
struct paramdiff_rank {
	int rank;
	bool is_done;
	char *error;	/* why the rank's parameters are missing or incomplete; NULL: no error */
	int64_t total;	/* number of parameters; -1: unknown yet */
	uint32_t *rows; /* indices into paramdiff.rows, in the rank's order */
	size_t count;
	size_t capacity;
	uint64_t signature; /* hash of the rank's values, set by paramdiff_judge(); equal: all rows
			     * are equal */
};

struct paramdiff {
	char *expression; /* NULL: nothing was requested */
	bool is_of_gradients;
	bool has_values; /* true: plain values were requested, too */
	double asked_at; /* session time */
	bool is_over;	 /* all ranks have answered: the results below are valid */
	struct paramdiff_rank *ranks;
	size_t rank_count;
	size_t rank_capacity;
	struct paramdiff_row *rows; /* in the first rank's order */
	size_t row_count;
	size_t row_capacity;
	struct strmap *by_name;		     /* maps a name to a row's index + 1 */
	size_t counts[PARAMDIFF_UNREAD + 1]; /* number of rows with each value of `how` */
	int64_t first;			     /* index of the first row that differs; -1: none */
	struct rankset reordered;	     /* ranks with another order of parameters */
	size_t nan_count;	  /* number of rows with NaN or an infinity on any rank */
	int64_t first_nan;	  /* index of the first row with NaN or an infinity; -1: none */
	struct rankset nan_ranks; /* ranks with NaN or an infinity in any row */
	bool has_difference;
	struct difference difference; /* elementwise comparison of the row `first` */
};

/* Removes all results. A zeroed struct is valid, too. */
void paramdiff_clear(struct paramdiff *diff);
/* Starts a new comparison of the parameters, or gradients, of expression. */
void paramdiff_begin(struct paramdiff *diff, const char *expression, bool is_of_gradients,
		     double now);
/* Adds a rank; returns its index, the argument `number` of the functions below. */
size_t paramdiff_add_rank(struct paramdiff *diff, int rank);
/* Moves a page of a rank's parameters from *page into the comparison. */
void paramdiff_take(struct paramdiff *diff, size_t number, struct tensor_parameters *page);
/* Marks a rank as failed: no more pages will come. */
void paramdiff_fail(struct paramdiff *diff, size_t number, const char *why);
/* Compares the answers and fills the results; call it when every rank has answered or failed. */
void paramdiff_judge(struct paramdiff *diff);
/* Returns the rank's answers, borrowed; NULL: the rank was not asked. */
const struct paramdiff_rank *paramdiff_find_rank(const struct paramdiff *diff, int rank);
/*
 * True if all elements of all rows were read and the rank has not failed. Call it after
 * paramdiff_judge().
 */
bool paramdiff_is_whole(const struct paramdiff *diff, int rank);
/* Number of rows that differ. */
size_t paramdiff_differing(const struct paramdiff *diff);
bool paramdiff_row_differs(const struct paramdiff_row *row);
/* True if the row differs, or has NaN or an infinity on any rank. */
bool paramdiff_row_is_odd(const struct paramdiff_row *row);
/* Number of rows for which paramdiff_row_is_odd() is true. */
size_t paramdiff_odd(const struct paramdiff *diff);
/* True if paramdiff_row_is_odd() for a row, or if a rank has another order of parameters. */
bool paramdiff_is_finding(const struct paramdiff *diff);
/* Appends the class's counts "12 NaN", "3 Inf" or both; nothing if both are 0. */
void paramdiff_append_nan(struct buffer *out, const struct paramdiff_class *class);
/* Sets *absent, which must be empty, to the ranks without the parameter, or without a gradient. */
void paramdiff_absent(const struct paramdiff_row *row, struct rankset *absent);
/*
 * Sets *done and *total to the number of parameters received and expected, over all ranks; *total
 * 0: unknown.
 */
void paramdiff_progress(const struct paramdiff *diff, int64_t *done, int64_t *total);
/* Converts a row to answers, so that answer_classes_make() can make classes and sentences of it. */
void paramdiff_to_answers(struct answers *answers, const struct paramdiff *diff,
			  const struct paramdiff_row *row);
/* Appends "26 parameters and buffers of model are the same on ranks 0-7", or which parameter
 * differs first, and how. */
void paramdiff_append_sentence(struct buffer *out, const struct paramdiff *diff);
/* Appends which parameters were not read, and why; nothing if all were read. */
void paramdiff_append_unread(struct buffer *out, const struct paramdiff *diff);

/*
 * parampath: makes a Python expression for a parameter, from the requested expression and the
 * parameter's name. The parameter's name comes from another process: only identifiers, numbers and
 * quoted strings of the name get into the expression, never code.
 */

/*
 * From "model" and "layers.0.weight", makes model.layers._modules["0"].weight (way 0: a member of a
 * module, or an item of a list) or model["layers.0.weight"] (way 1: a value of a dict); ".grad"
 * follows for a gradient. The caller frees the string; NULL: the name cannot be written in this
 * way.
 */
char *parampath_make(const char *expression, const char *name, int way, bool is_gradient);

#endif
