/*
 * column: named properties of a rank, each a word or a number. They are the columns of the table,
 * the sort keys, and the text that a filter searches.
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

/* Returns the name that the command `sort` takes: "rank". */
const char *column_name(enum column column);
bool column_parse(const char *name, enum column *column);
/* Returns the title in the head of the table. */
const char *column_title(enum column column);
/* True if the column is a number, and right-aligned. */
bool column_is_number(enum column column);
/* True if the largest number is sorted first (age, CPU, memory). */
bool column_is_descending(enum column column);
/* Appends the rank's value in the column as text; nothing if unknown. */
void column_append(struct buffer *out, const struct session *session, const struct view *view,
		   const struct rank *rank, enum column column);
/*
 * Sets *number to the number by which the column sorts ranks; false: the column is text, or the
 * value is unknown.
 */
bool column_number(const struct session *session, const struct rank *rank, enum column column,
		   double *number);
/* Returns the host of a rank's process; "": unknown. */
const char *rank_host(const struct session *session, const struct rank *rank);

#endif
