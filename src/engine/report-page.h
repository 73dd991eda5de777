/*
 * report-page: parts that the sections of a report's text share. Private to the files report*.c.
 */
#ifndef ENGINE_REPORT_PAGE_H
#define ENGINE_REPORT_PAGE_H

#include <stddef.h>

#include "protocol/rankset.h"

struct buffer;
struct engine;
struct rank;
struct report;

struct page {
	struct buffer *out;
	const struct report *report;
	const struct engine *engine;
};

/* The next rank of the report, borrowed; *next is 0 at first. NULL: there are no more. */
const struct rank *page_next_rank(const struct page *page, size_t *next);
/* Appends the time of day (UTC) at session time at; nothing if the time of day is not known. */
void page_append_time(const struct page *page, double at);
/* Appends `before`, the text with control characters shown as ^X, and a newline. */
void page_append_line(struct buffer *out, const char *before, const char *text);
/*
 * Returns cause_end() without "was", so that the text fits one rank or several ("killed by").
 */
const char *page_end(const struct rank *rank);
/* Returns "s", or "" for one. */
const char *page_plural(size_t count);

/*
 * Groups of ranks with the same text, as most texts are equal on all ranks. The groups are in the
 * order in which their first ranks were added.
 */
struct group {
	char *text;
	struct rankset ranks;
	double at; /* session time; the earliest of the group's ranks */
};

struct groups {
	struct group *items;
	size_t count;
	size_t capacity;
};

void groups_add(struct groups *groups, const char *text, int rank, double at);
/* Sorts the groups by their times. */
void groups_sort(struct groups *groups);
/* Appends a line for each group, at most `maximum`, and frees the groups. */
void groups_append(struct buffer *out, struct groups *groups, size_t maximum);
void groups_clear(struct groups *groups);

/* Sections: what the ranks were started with (report-origin.c). */
void page_append_origin(const struct page *page);
void page_append_environment(const struct page *page);
void page_append_limits(const struct page *page);
/* Section: what happened in the minute before the event (report-timeline.c). */
void page_append_timeline(const struct page *page);

#endif
