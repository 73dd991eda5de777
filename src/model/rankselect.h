/*
 * rankselect: the grammar for sets of ranks on the command line, at the `@` prompt and in
 * scripts.
 *
 * 	0-7,16  0-63/8		rank numbers; every eighth number of a range
 * 	all  focus		all ranks; the ranks that commands act on
 * 	outlier  majority	the verdict's outliers; the verdict's majority
 * 	state=waiting		running, waiting, sleeping, stopped, exited,
 * 				not-found, unreadable, unknown
 * 	class=2  class=●	the class's number in `ranks`, or its mark on the screen
 * 	host=node[01-04]	host pattern, see hostmatch.h
 * 	@name			a set that the user named
 * 	!X			all ranks except X, a single term
 * 	X&Y			ranks in both
 * 	X,Y			ranks in either; but behind a comma "!3" removes rank 3
 * 				from the terms before
 *
 * Parsing needs no ranks; the expression is resolved later, against the ranks known then.
 */
#ifndef MODEL_RANKSELECT_H
#define MODEL_RANKSELECT_H

#include <stdbool.h>
#include <stddef.h>

#include "protocol/rankset.h"

struct error;
struct rank;
struct rankselect_item;
struct rankset;
struct session;

struct rankselect {
	struct rankselect_item *items;
	size_t count;
	size_t capacity;
};

#define RANKSELECT_INIT { .items = NULL }

void rankselect_clear(struct rankselect *select);
/*
 * Replaces *select. Returns 0; -1: *select is empty, and *error names the wrong part and its
 * column.
 */
int rankselect_parse(struct rankselect *select, const char *text, struct error *error);
/*
 * Sets *set to the session's ranks that match, by the current verdict. Returns 0; -1 and *error: a
 * name, a class or a majority in the expression does not exist.
 */
int rankselect_resolve(const struct rankselect *select, const struct session *session,
		       struct rankset *set, struct error *error);
/* True if the rank matches; false also if a name or class does not exist. */
bool rankselect_has(const struct rankselect *select, const struct session *session,
		    const struct rank *rank);
/*
 * If the expression has only numbers, adds these to *set, also numbers of missing ranks, and
 * returns true; else returns false and leaves *set unchanged.
 */
bool rankselect_add_numbers(const struct rankselect *select, struct rankset *set);
/*
 * For a job whose ranks are still appearing: true if all numbers of the expression that are below
 * the world size (if known) were found, or, for an expression without numbers, at least one
 * matching rank.
 */
bool rankselect_has_come(const struct rankselect *select, const struct session *session);
/*
 * True if a rank's number and host alone decide whether it matches, so that no samples are needed.
 */
bool rankselect_is_of_process(const struct rankselect *select);

/* True if the expression needs the verdict: outlier, majority, a class or a class's mark. */
bool rankselect_is_judged(const struct rankselect *select);

/* rankselect_parse() and rankselect_resolve(); -1 and *error also if no rank matches. */
int rankselect_find(const char *text, const struct session *session, struct rankset *set,
		    struct error *error);

/*
 * rankname: names that the user gave to sets of ranks. The session owns the names and sets. A name
 * stands for rank numbers, even after those ranks have ended.
 */

#define RANKNAME_LENGTH 32
#define RANKNAMES_MAXIMUM 256

struct error;
struct session;

struct rankname {
	char *name;
	struct rankset ranks;
};

/* True if name is 1 to RANKNAME_LENGTH letters, digits, "_", "-" and ".". */
bool rankname_is_valid(const char *name);
/* Gives a name to a copy of a set; replaces an older set of this name. Returns 0; -1 and *error. */
int rankname_set(struct session *session, const char *name, const struct rankset *ranks,
		 struct error *error);
/* Returns the set with this name, borrowed; NULL: there is none. */
const struct rankset *rankname_find(const struct session *session, const char *name);
void rankname_clear_all(struct session *session);

#endif
