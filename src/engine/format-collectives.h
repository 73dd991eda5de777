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
struct group_table;
struct rank;
struct rankset;
struct session;
struct wait_graph;

/* True if a member is behind, or if members have made different calls as one collective. */
bool group_row_is_uneven(const struct group_row *row);
/*
 * Appends a line for the group, and one for each set of members that have called the same
 * collective last, the newest first.
 */
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
