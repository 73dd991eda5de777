/*
 * rankselect: the one grammar in which people name ranks, on the command
 * line, at the `@` prompt and in scripts.
 *
 *	0-7,16  0-63/8		numbers; every eighth of them
 *	all  focus		every rank; those that commands act on
 *	outlier  majority	as the verdict has them
 *	state=waiting		running, waiting, sleeping, stopped, exited,
 *				not-found, unreadable, unknown
 *	class=2  class=●	by `class` of `ranks`, or by the screen's mark
 *	host=node[01-04]	see hostmatch.h
 *	@name			a set that was given a name
 *	!X			all but X: of the one thing behind it
 *	X&Y			both
 *	X,Y			either; but behind a comma "!3" takes 3 away
 *				from what stands before it
 *
 * A text becomes a rankselect without knowing any rank; which ranks it means
 * is asked later, when they are there.
 */
#ifndef MODEL_RANKSELECT_H
#define MODEL_RANKSELECT_H

#include <stdbool.h>
#include <stddef.h>

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
 * Replaces what it was; on failure it is empty, and the sentence names the
 * part that is wrong and its column.
 */
int rankselect_parse(struct rankselect *select, const char *text, struct error *error);
/*
 * Fills *set (emptied first) with the session's ranks that are meant, as the
 * verdict has them now. -1 and a sentence when a name, a class or a majority
 * that it asks for is not there.
 */
int rankselect_resolve(const struct rankselect *select, const struct session *session,
		       struct rankset *set, struct error *error);
/* Whether a rank is meant; false too for what is not there. */
bool rankselect_has(const struct rankselect *select, const struct session *session,
		    const struct rank *rank);
/*
 * Adds the numbers to *set where nothing but numbers stands in it, so that
 * ranks that are missing can be named; false, and nothing, else.
 */
bool rankselect_add_numbers(const struct rankselect *select, struct rankset *set);
/*
 * Whether those that are meant have come, of a job whose ranks still come: all
 * whose numbers are named and below the world size, where that is known; of
 * other sets, any.
 */
bool rankselect_has_come(const struct rankselect *select, const struct session *session);
/*
 * The process alone tells whether a rank is meant (its number and machine),
 * not what it does.
 */
bool rankselect_is_of_process(const struct rankselect *select);

/*
 * What the verdict says of ranks decides: outlier, majority, a class, a mark.
 */
bool rankselect_is_judged(const struct rankselect *select);

/* Parses and resolves; -1 also when no rank is meant. */
int rankselect_find(const char *text, const struct session *session, struct rankset *set,
		    struct error *error);

#endif
