/*
 * rankset: a set of rank numbers, kept folded.
 *
 * Invariant: ranges are sorted, disjoint and not adjacent. Written the same
 * way everywhere: "0-2,4-7". Ranks go from 0 to RANKSET_MAXIMUM.
 */
#ifndef PROTOCOL_RANKSET_H
#define PROTOCOL_RANKSET_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct error;

#define RANKSET_MAXIMUM 1048575
/* As many ranks that lie apart may be named at once. */
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
/* *set becomes the union of itself and more. */
void rankset_unite(struct rankset *set, const struct rankset *more);
/* *set loses the members of less. */
void rankset_subtract(struct rankset *set, const struct rankset *less);
/* *set keeps what other has, too. */
void rankset_intersect(struct rankset *set, const struct rankset *other);
/* *to becomes an equal set; what it held is freed. */
void rankset_copy(struct rankset *to, const struct rankset *from);
bool rankset_contains(const struct rankset *set, int rank);
bool rankset_is_equal(const struct rankset *a, const struct rankset *b);
size_t rankset_count(const struct rankset *set);
/* The smallest rank, -1 for the empty set. */
int rankset_first(const struct rankset *set);
/* The smallest member above rank, -1 if there is none (-1 starts). */
int rankset_next(const struct rankset *set, int rank);
/*
 * Reads "3", "0-7" or "0-63/8" (every eighth) and adds it; *at moves behind
 * it. On failure the set is as before, *at is where it is wrong, and the
 * sentence says what.
 */
int rankset_parse_range(struct rankset *set, const char **at, struct error *error);
/*
 * Adds "0-7,16", as rankset_append writes it; on failure the set is as
 * before. What people write has more in it: model/rankselect.h.
 */
int rankset_parse(struct rankset *set, const char *text, struct error *error);
/* Appends "0-2,4-7"; nothing for the empty set. */
void rankset_append(struct buffer *out, const struct rankset *set);
/* "rank 3", "ranks 0-2,4-7" */
void rankset_append_named(struct buffer *out, const struct rankset *set);
/* "0-2,4-7 (7)" */
void rankset_append_counted(struct buffer *out, const struct rankset *set);

#endif
