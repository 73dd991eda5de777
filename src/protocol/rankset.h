/*
 * rankset: a set of ranks, stored as ranges.
 *
 * Invariant: ranges are sorted, disjoint and not adjacent, so that equal sets have equal texts:
 * "0-2,4-7". Ranks are 0 … RANKSET_MAXIMUM.
 */
#ifndef PROTOCOL_RANKSET_H
#define PROTOCOL_RANKSET_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct error;

#define RANKSET_MAXIMUM 1048575
/* Maximum number of ranks in one range with a step, such as "0-63/8". */
#define RANKSET_STEPS 65536

struct rank_range {
	int first;
	int last;
};

struct rankset {
	struct rank_range *ranges;
	size_t range_count;
	size_t capacity;
};

#define RANKSET_INIT { .ranges = NULL }

void rankset_clear(struct rankset *set);
void rankset_add(struct rankset *set, int rank);
void rankset_add_range(struct rankset *set, int first, int last);
void rankset_remove(struct rankset *set, int rank);
/* Adds the members of more to *set. */
void rankset_unite(struct rankset *set, const struct rankset *more);
/* Removes the members of less from *set. */
void rankset_subtract(struct rankset *set, const struct rankset *less);
/* Removes from *set the members that are not in *other. */
void rankset_intersect(struct rankset *set, const struct rankset *other);
/* Replaces the contents of *to by a copy of *from. */
void rankset_copy(struct rankset *to, const struct rankset *from);
bool rankset_contains(const struct rankset *set, int rank);
bool rankset_is_equal(const struct rankset *a, const struct rankset *b);
size_t rankset_count(const struct rankset *set);
/* Returns the smallest rank; -1: the set is empty. */
int rankset_first(const struct rankset *set);
/*
 * The smallest member greater than rank; rank -1: the smallest member. Returns -1 if there is none.
 */
int rankset_next(const struct rankset *set, int rank);
/*
 * Reads "3", "0-7" or "0-63/8" (every eighth) at *at, adds these ranks, and moves *at behind the
 * text. Returns 0; -1 and *error: the set is unchanged, and *at is at the wrong character.
 */
int rankset_parse_range(struct rankset *set, const char **at, struct error *error);
/*
 * Adds the ranks of a text like "0-7,16". Returns 0; -1 and *error: the set is unchanged. Commands
 * accept more forms: model/rankselect.h.
 */
int rankset_parse(struct rankset *set, const char *text, struct error *error);
/* Appends "0-2,4-7"; nothing for an empty set. */
void rankset_append(struct buffer *out, const struct rankset *set);
/* Appends "rank 3" or "ranks 0-2,4-7". */
void rankset_append_named(struct buffer *out, const struct rankset *set);
/* Appends "0-2,4-7 (7)": the ranks and their count. */
void rankset_append_counted(struct buffer *out, const struct rankset *set);

#endif
