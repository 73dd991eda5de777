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
/* Replaces *select; on failure it is empty, and *error names the wrong part and its column. */
int rankselect_parse(struct rankselect *select, const char *text, struct error *error);
/*
 * Fills *set (emptied first) with the session's ranks that match, by the current verdict.
 * -1 and *error: a name, a class or a majority in the expression does not exist.
 */
int rankselect_resolve(const struct rankselect *select, const struct session *session,
		       struct rankset *set, struct error *error);
/* True if the rank matches; false also if a name or class does not exist. */
bool rankselect_has(const struct rankselect *select, const struct session *session,
		    const struct rank *rank);
/*
 * If the expression has only numbers, adds them to *set, so that missing ranks can be
 * named, too; else returns false and leaves *set alone.
 */
bool rankselect_add_numbers(const struct rankselect *select, struct rankset *set);
/*
 * While the job's ranks are still being found: true if the matching ranks have been
 * found: for numbers all below the world size (if known), for other sets at least one.
 */
bool rankselect_has_come(const struct rankselect *select, const struct session *session);
/* True if number and host decide whether a rank matches, without samples. */
bool rankselect_is_of_process(const struct rankselect *select);

/* True if the verdict is needed: outlier, majority, a class, a mark. */
bool rankselect_is_judged(const struct rankselect *select);

/* Parses and resolves; -1 also if no rank matches. */
int rankselect_find(const char *text, const struct session *session, struct rankset *set,
		    struct error *error);

/*
 * Sets of ranks that the user named. The session owns them; a name stands for
 * the rank numbers it was given, even if those ranks end.
 */

#define RANKNAME_LENGTH 32
#define RANKNAMES_MAXIMUM 256

struct error;
struct session;

struct rankname {
	char *name;
	struct rankset ranks;
};

/* True for 1 to RANKNAME_LENGTH letters, digits, "_", "-" and ".". */
bool rankname_is_valid(const char *name);
/* Names a copy of a set, and replaces an older set of that name. -1 and *error. */
int rankname_set(struct session *session, const char *name, const struct rankset *ranks,
		 struct error *error);
/* Returns the borrowed set; NULL: no such name. */
const struct rankset *rankname_find(const struct session *session, const char *name);
void rankname_clear_all(struct session *session);

#endif
