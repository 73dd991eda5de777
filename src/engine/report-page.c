#include "engine/report-page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "engine/cause.h"
#include "engine/format.h"
#include "engine/report.h"

const struct rank *page_next_rank(const struct page *page, size_t *next)
{
	return report_next(page->report, page->engine, next);
}

const char *page_plural(size_t count)
{
	return count == 1 ? "" : "s";
}

void page_append_time(const struct page *page, double at)
{
	double clock = page->report->clock + at;
	time_t seconds = (time_t)clock;
	struct tm parts;
	char text[32];

	if (page->report->clock < 0 || at < 0)
		return;
	gmtime_r(&seconds, &parts);
	strftime(text, sizeof(text), "%H:%M:%S", &parts);
	buffer_printf(page->out, "%s.%03d UTC", text, (int)((clock - (double)seconds) * 1000));
}

const char *page_end(const struct rank *rank)
{
	const char *end = cause_end(rank);

	return strncmp(end, "was ", 4) == 0 ? end + 4 : end;
}

void groups_add(struct groups *groups, const char *text, int rank, double at)
{
	size_t i = 0;

	while (i < groups->count && strcmp(groups->items[i].text, text) != 0)
		i++;
	if (i == groups->count) {
		ARRAY_GROW(groups->items, groups->count, groups->capacity);
		groups->items[groups->count++] = (struct group){ .text = xstrdup(text), .at = at };
	}
	rankset_add(&groups->items[i].ranks, rank);
	if (at < groups->items[i].at)
		groups->items[i].at = at;
}

static int compare_groups(const void *left, const void *right)
{
	const struct group *a = left;
	const struct group *b = right;

	return (a->at > b->at) - (a->at < b->at);
}

void groups_sort(struct groups *groups)
{
	if (groups->count > 1)
		qsort(groups->items, groups->count, sizeof(*groups->items), compare_groups);
}

void groups_clear(struct groups *groups)
{
	for (size_t i = 0; i < groups->count; i++) {
		free(groups->items[i].text);
		rankset_clear(&groups->items[i].ranks);
	}
	free(groups->items);
	*groups = (struct groups){ .items = NULL };
}

void page_append_line(struct buffer *out, const char *before, const char *text)
{
	buffer_append_string(out, before);
	format_text(out, text);
	buffer_append_char(out, '\n');
}

void groups_append(struct buffer *out, struct groups *groups, size_t maximum)
{
	size_t left = 0;

	for (size_t i = 0; i < groups->count; i++) {
		if (i >= maximum) {
			left += rankset_count(&groups->items[i].ranks);
			continue;
		}
		buffer_append_string(out, "  ");
		rankset_append_named(out, &groups->items[i].ranks);
		page_append_line(out, ": ", groups->items[i].text);
	}
	if (left > 0)
		buffer_printf(out, "  ... and %zu more rank%s\n", left, page_plural(left));
	groups_clear(groups);
}
