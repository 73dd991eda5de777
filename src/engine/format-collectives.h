/*
 * format-collectives: process groups and the collectives that ranks have called, as text and JSON,
 * and the graph of who waits for whom. Reads the session and changes nothing.
 */
#ifndef ENGINE_FORMAT_COLLECTIVES_H
#define ENGINE_FORMAT_COLLECTIVES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct group_row;
struct rank;
struct session;
struct wait_graph;

/* A line about a group, or about the calls of one rank. */
struct call_line {
	char *text;
	int rank;	 /* the first rank that it is about; -1: none */
	bool is_heading; /* names the group or the rank; the lines below belong to it */
	bool is_outlier; /* members that are behind, or whose call differs from the majority's */
};

struct call_lines {
	struct call_line *items;
	size_t count, capacity;
};

#define CALL_LINES_INIT { .items = NULL }

void call_lines_clear(struct call_lines *lines);
/*
 * Adds a line for the group, and one for each set of members that have called the same collective
 * last, the newest first.
 */
void call_lines_add_group(struct call_lines *lines, const struct group_row *row);
/*
 * Adds a line for each of the rank's newest `last` calls on the group; behind a call that is not
 * the majority's the majority's. Then the next collectives that only others have called, at most
 * `last`.
 */
void call_lines_add_beside(struct call_lines *lines, const struct rank *rank,
			   const struct group_row *row, size_t last);
/* Appends the lines of a group as text. */
void format_text_group(struct buffer *out, const struct group_row *row);
/* Appends the rank's newest `last` calls on the group (NULL: on all groups), a line each. */
void format_text_calls(struct buffer *out, const struct rank *rank, const struct group_row *row,
		       size_t last);
/* Appends one line for each fact of the graph. */
void format_text_waits(struct buffer *out, const struct wait_graph *graph);

json_t *format_json_group(const struct group_row *row);
/* The rank's newest `last` calls on the group; NULL: on all groups. */
json_t *format_json_calls(const struct rank *rank, const struct group_row *row, size_t last);
/* {"nodes", "edges"} of the session's graph; nodes without an edge are left out. */
json_t *format_json_waits(const struct session *session);

#endif
