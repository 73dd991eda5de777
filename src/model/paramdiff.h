/*
 * paramdiff: the parameters and buffers of replicas, name by name: which ranks
 * have the same, and the first that differs. Filled page by page as ranks
 * answer; ranks with the same values share what is kept of them.
 *
 * Shards of one tensor differ by right: of these dtype and placement are
 * compared, and the elements of those that are replicas of one another.
 * The same of anything else that has tensors and plain values in it.
 */
#ifndef MODEL_PARAMDIFF_H
#define MODEL_PARAMDIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/difference.h"
#include "protocol/rankset.h"
#include "protocol/tensor.h"
#include "protocol/tensorparameters.h"

struct answers;
struct buffer;
struct strmap;

enum paramdiff_how {
	PARAMDIFF_SAME,
	PARAMDIFF_MISSING, /* some ranks do not have it */
	PARAMDIFF_DTYPE,
	PARAMDIFF_SHAPE,
	PARAMDIFF_PLACEMENT, /* sharded in another way, or not everywhere */
	PARAMDIFF_REPLICAS,  /* of one shard */
	PARAMDIFF_ELEMENTS,
	PARAMDIFF_VALUES,  /* plain ones, or a tensor on some ranks only */
	PARAMDIFF_SHARDED, /* the same, as far as shards can be */
	PARAMDIFF_NONE,	   /* all have none: no gradient */
	PARAMDIFF_UNREAD,  /* the same, but elements that were not read */
};

/* Shards that may be of one tensor are of one class. */
struct paramdiff_class {
	struct rankset ranks;
	struct strmap *shards; /* hash + 1 of each, by tensor.shard; NULL */
	struct tensor tensor;  /* of its first; dtype NULL: error says why */
	char *value;	       /* a plain one, instead of a tensor */
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

/* One rank's, as far as they have come. */
struct paramdiff_rank {
	int rank;
	bool is_done;
	char *error;	/* why there are none, or no more; NULL: fine */
	int64_t total;	/* -1: not told yet */
	uint32_t *rows; /* in its order */
	size_t count;
	size_t capacity;
	uint64_t signature; /* once it was judged; equal: all rows are */
};

struct paramdiff {
	char *expression; /* NULL: nothing was asked */
	bool is_of_gradients;
	bool has_values; /* plain values were asked for, too */
	double asked_at; /* session time */
	bool is_over;	 /* the rest below holds */
	struct paramdiff_rank *ranks;
	size_t rank_count;
	size_t rank_capacity;
	struct paramdiff_row *rows; /* in the order of the first rank */
	size_t row_count;
	size_t row_capacity;
	struct strmap *by_name;		     /* number of a row, from 1 on */
	size_t counts[PARAMDIFF_UNREAD + 1]; /* of rows, by how */
	int64_t first;			     /* row that differs; -1: none */
	struct rankset reordered;	     /* have them in another order */
	size_t nan_count;		     /* rows with NaN or an infinity, on any rank */
	int64_t first_nan;		     /* the first of them; -1: none */
	struct rankset nan_ranks;	     /* that have it */
	bool has_difference;
	struct difference difference; /* of the first, where elements differ */
};

/* Forgets all: nothing was asked. All zero is the same. */
void paramdiff_clear(struct paramdiff *diff);
void paramdiff_begin(struct paramdiff *diff, const char *expression, bool is_of_gradients,
		     double now);
/* This rank is asked; number of it below. */
size_t paramdiff_add_rank(struct paramdiff *diff, int rank);
/* One more page; what is in it is moved out. */
void paramdiff_take(struct paramdiff *diff, size_t number, struct tensor_parameters *page);
/* It answers no more. */
void paramdiff_fail(struct paramdiff *diff, size_t number, const char *why);
/* Every rank has answered, or will not: compares. */
void paramdiff_judge(struct paramdiff *diff);
/* Lends; NULL: it was not asked. */
const struct paramdiff_rank *paramdiff_find_rank(const struct paramdiff *diff, int rank);
/* All that the rank has was read; once it was judged. */
bool paramdiff_is_whole(const struct paramdiff *diff, int rank);
/* So many differ. */
size_t paramdiff_differing(const struct paramdiff *diff);
bool paramdiff_row_differs(const struct paramdiff_row *row);
/* It does, or has NaN or an infinity on some rank. */
bool paramdiff_row_is_odd(const struct paramdiff_row *row);
/* So many are. */
size_t paramdiff_odd(const struct paramdiff *diff);
/* Some are, or are in another order. */
bool paramdiff_is_finding(const struct paramdiff *diff);
/* Appends "NaN" "Inf" "NaN or Inf": what the class has; nothing: neither. */
void paramdiff_append_nan(struct buffer *out, const struct paramdiff_class *class);
/* The ranks that do not have it, or have no gradient; absent is empty before.
 */
void paramdiff_absent(const struct paramdiff_row *row, struct rankset *absent);
/* Parameters that have come, of how many there will be (0: not known). */
void paramdiff_progress(const struct paramdiff *diff, int64_t *done, int64_t *total);
/* The row as answers of its ranks: classes and sentence are made of them. */
void paramdiff_to_answers(struct answers *answers, const struct paramdiff *diff,
			  const struct paramdiff_row *row);
/* Appends "26 parameters and buffers of model are the same on ranks 0-7", or
 * which is the first that differs, and how. */
void paramdiff_append_sentence(struct buffer *out, const struct paramdiff *diff);
/* Appends what was not read of it, and why; nothing: all was. */
void paramdiff_append_unread(struct buffer *out, const struct paramdiff *diff);

#endif
