/*
 * column: what can be said of a rank in one word or number, by name: what the
 * table shows, ranks are sorted by, and a filter looks through.
 */
#ifndef UI_COLUMN_H
#define UI_COLUMN_H

#include <stdbool.h>

struct buffer;
struct rank;
struct session;
struct view;

/* In the order of the table. */
enum column {
	COLUMN_CLASS,
	COLUMN_RANK,
	COLUMN_HOST,
	COLUMN_PID,
	COLUMN_STATE,
	COLUMN_ACTIVITY,
	COLUMN_FUNCTION,
	COLUMN_PLACE,
	COLUMN_AGE,
	COLUMN_CPU,
	COLUMN_MEMORY,
	COLUMN_COUNT,
};

/* "rank", as in the command `sort`. */
const char *column_name(enum column column);
bool column_parse(const char *name, enum column *column);
/* As in the head of the table. */
const char *column_title(enum column column);
/* Numbers are right-aligned. */
bool column_is_number(enum column column);
/* Of these the largest comes first: who is longest there, who uses most. */
bool column_is_descending(enum column column);
/* Appends what a row says there; nothing when it is not known. */
void column_append(struct buffer *out, const struct session *session, const struct view *view,
		   const struct rank *rank, enum column column);
/*
 * Returns the number by which the column sorts ranks; false: the column is text or the value is
 * unknown.
 */
bool column_number(const struct session *session, const struct rank *rank, enum column column,
		   double *number);
/* The machine a process runs on. "": not known. */
const char *rank_host(const struct session *session, const struct rank *rank);

#endif
