/*
 * report-timeline: what happened in the minute before the event, from the histories of the main
 * threads, the ends of the ranks, and the calls in torch's Flight Recorders.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "engine/cause.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/report-page.h"
#include "engine/report.h"
#include "model/group-table.h"
#include "model/place.h"
#include "protocol/collectives.h"
#include "protocol/stack.h"

#define LINE_SECONDS 60.0
/* Maximum number of lines, as people read the page: the newest. */
#define ROWS_MAXIMUM 30
/* Newest changes of a rank, and newest collectives of a group, that are looked at. */
#define MOMENTS_MAXIMUM 16
#define CALLS_MAXIMUM 4
/*
 * Ranks that do the same within so many seconds share a line: what samples show, about one interval
 * between samples; what has an exact time, less than a launcher takes.
 */
#define SAMPLED_SECONDS 1.0
#define EXACT_SECONDS 0.05

struct event {
	double at; /* session time */
	int rank;
	bool is_exact; /* the time is that of the event, not of the first sample that shows it */
	char *text;
};

struct events {
	struct event *items;
	size_t count;
	size_t capacity;
};

static void add_event(struct events *events, const struct event *event)
{
	ARRAY_GROW(events->items, events->count, events->capacity);
	events->items[events->count++] = *event;
}

/* Returns "train (train.py:36) in all_reduce", for free(). */
static char *text_of_stack(const struct rank *rank, const struct stack *stack)
{
	size_t at = place_user_frame(&rank->process, stack);
	const struct frame *frame = &stack->frames[at];
	struct buffer text = BUFFER_INIT;

	buffer_printf(&text, "%s (", frame->code->func);
	place_append(&text, frame);
	buffer_append_char(&text, ')');
	while (at > 0 && place_is_wrapper(&stack->frames[at - 1]))
		at--;
	/* Importing a module is in frozen functions, which say nothing more. */
	if (at > 0 && strncmp(stack->frames[at - 1].code->file, "<frozen", 7) != 0)
		buffer_printf(&text, " in %s", stack->frames[at - 1].code->func);
	return buffer_take(&text);
}

static void add_moments(struct events *events, const struct rank *rank, double since)
{
	size_t first =
		rank->history_count > MOMENTS_MAXIMUM ? rank->history_count - MOMENTS_MAXIMUM : 0;

	for (size_t i = first; i < rank->history_count; i++) {
		const struct rank_moment *moment = &rank->history[i % RANK_HISTORY];

		if (moment->time >= since && moment->stack && moment->stack->frame_count > 0)
			add_event(events, &(struct event){
						  .at = moment->time,
						  .rank = rank->process.rank,
						  .text = text_of_stack(rank, moment->stack),
					  });
	}
}

/* The ends of ranks are listed whenever they were. */
static void add_end(struct events *events, const struct rank *rank)
{
	if (rank_is_gone(rank) && rank->ended_at >= 0)
		add_event(events, &(struct event){
					  .at = rank->ended_at,
					  .rank = rank->process.rank,
					  .is_exact = true,
					  .text = xstrdup(page_end(rank)),
				  });
}

/* The calls of a group's newest collectives, by the clock of the rank's machine. */
static void add_calls(const struct page *page, struct events *events, const struct group_row *row,
		      double since)
{
	const char *group = row->group->description ? row->group->description : row->group->name;

	for (size_t i = 0; i < row->count; i++) {
		for (int64_t seq = row->newest; seq > 0 && seq > row->newest - CALLS_MAXIMUM;
		     seq--) {
			const struct collective_entry *entry =
				group_member_entry(&row->members[i], seq);
			double at = entry ? (double)entry->created / 1e9 - page->report->clock : -1;

			if (!entry || page->report->clock < 0 || at < fmax(since, 0))
				continue;
			add_event(events,
				  &(struct event){
					  .at = at,
					  .rank = row->members[i].rank->process.rank,
					  .is_exact = true,
					  .text = xasprintf("called %s as collective %lld of %s",
							    collective_call_name(entry),
							    (long long)seq, group),
				  });
		}
	}
}

static void add_all_calls(const struct page *page, struct events *events, double since)
{
	struct group_table table;

	group_table_make(&table, &page->engine->session);
	for (size_t i = 0; i < table.count; i++)
		add_calls(page, events, &table.rows[i], since);
	group_table_clear(&table);
}

static int compare_texts(const void *left, const void *right)
{
	const struct event *a = left;
	const struct event *b = right;
	int order = strcmp(a->text, b->text);

	return order != 0 ? order : (a->at > b->at) - (a->at < b->at);
}

/* Joins the events of the same text into groups; frees them. */
static void join(struct events *events, struct groups *groups)
{
	if (events->count > 1)
		qsort(events->items, events->count, sizeof(*events->items), compare_texts);
	for (size_t i = 0; i < events->count; i++) {
		const struct event *event = &events->items[i];
		struct group *last = groups->count > 0 ? &groups->items[groups->count - 1] : NULL;

		if (!last || strcmp(last->text, event->text) != 0 ||
		    event->at - last->at > (event->is_exact ? EXACT_SECONDS : SAMPLED_SECONDS) ||
		    rankset_contains(&last->ranks, event->rank)) {
			ARRAY_GROW(groups->items, groups->count, groups->capacity);
			last = &groups->items[groups->count++];
			*last = (struct group){ .text = xstrdup(event->text), .at = event->at };
		}
		rankset_add(&last->ranks, event->rank);
	}
	for (size_t i = 0; i < events->count; i++)
		free(events->items[i].text);
	free(events->items);
}

/* Drops each row that says of the same ranks what the row before says: they are still there. */
static void drop_repeated(struct groups *groups)
{
	size_t count = 0;

	for (size_t i = 0; i < groups->count; i++) {
		struct group *last = count > 0 ? &groups->items[count - 1] : NULL;
		struct group *group = &groups->items[i];

		if (last && strcmp(last->text, group->text) == 0 &&
		    rankset_is_equal(&last->ranks, &group->ranks)) {
			free(group->text);
			rankset_clear(&group->ranks);
		} else {
			groups->items[count++] = *group;
		}
	}
	groups->count = count;
}

void page_append_timeline(const struct page *page)
{
	double since = page->report->sampled_at - LINE_SECONDS;
	struct events events = { .items = NULL };
	struct groups groups = { .items = NULL };
	const struct rank *rank;
	size_t next = 0;

	while ((rank = page_next_rank(page, &next))) {
		add_moments(&events, rank, since);
		add_end(&events, rank);
	}
	add_all_calls(page, &events, since);
	join(&events, &groups);
	groups_sort(&groups);
	drop_repeated(&groups);
	for (size_t i = groups.count > ROWS_MAXIMUM ? groups.count - ROWS_MAXIMUM : 0;
	     i < groups.count; i++) {
		buffer_append_string(page->out, "  ");
		page_append_time(page, groups.items[i].at);
		buffer_append_string(page->out, "  ");
		rankset_append_named(page->out, &groups.items[i].ranks);
		page_append_line(page->out, "  ", groups.items[i].text);
	}
	groups_clear(&groups);
}
