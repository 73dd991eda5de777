#include "model/stops.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/map.h"
#include "model/debug-state.h"
#include "model/place.h"
#include "model/rank.h"
#include "model/session.h"
#include "protocol/stack.h"

static void stop_clear(struct stop *stop)
{
	free(stop->value);
	free(stop->description);
	free(stop->said);
	free(stop->func);
	free(stop->qualname);
	free(stop->file);
	*stop = (struct stop){ .rank = 0 };
}

void stops_clear(struct stops *stops)
{
	for (size_t i = 0; stops->ring && i < STOPS_KEPT; i++)
		stop_clear(&stops->ring[i]);
	free(stops->ring);
	*stops = (struct stops){ .ring = NULL };
}

static void copy_frame(struct stop *stop, const struct rank *rank)
{
	const struct thread *thread = debug_state_thread(rank);
	const struct stack *stack = thread ? thread->sample.stack : NULL;
	const struct frame *frame;

	if (!stack || stack->frame_count == 0)
		return;
	frame = &stack->frames[0];
	stop->func = xstrdup(frame->code->func);
	stop->qualname = xstrdup_or_null(frame->code->qualname);
	stop->file = xstrdup(frame->code->file);
	stop->line = frame->lineno;
	stop->is_user = place_is_user(&rank->process, frame);
}

static struct stop *add(struct stops *stops)
{
	struct stop *stop;

	if (!stops->ring)
		stops->ring = xcalloc(STOPS_KEPT, sizeof(*stops->ring));
	stop = &stops->ring[stops->count++ % STOPS_KEPT];
	stop_clear(stop);
	return stop;
}

void stops_add_said(struct stops *stops, int rank, int id, const char *text)
{
	struct stop *stop = add(stops);

	stop->rank = rank;
	stop->hits[0] = id;
	stop->hit_count = 1;
	stop->description = xstrdup("log");
	stop->said = xstrdup(text);
}

void stops_add_resume(struct stops *stops, const struct rank *rank)
{
	const struct debugger *debugger = &rank->debugger;
	const char *name = resume_reason_name(debugger->resumed_for);
	struct stop *stop = add(stops);

	stop->rank = rank->process.rank;
	stop->resumed_for = debugger->resumed_for;
	stop->description = debugger->description ? xstrdup(debugger->description)
						  : xasprintf("rank %d was resumed: %s",
							      rank->process.rank, name);
}

void stops_add(struct stops *stops, const struct rank *rank)
{
	const struct debugger *debugger = &rank->debugger;
	const char *description = debugger->description;
	struct stop *stop = add(stops);

	if (!description)
		description = stop_reason_name(debugger->reason);
	*stop = (struct stop){
		.rank = rank->process.rank,
		.tid = debugger->tid,
		.reason = debugger->reason,
		.at = debugger->at,
		.value = xstrdup_or_null(debugger->value),
		.description = xstrdup(description),
		.hit_count = debugger->hit_count,
		.held = debugger->held > 0 ? debugger->held : 0,
	};
	memcpy(stop->hits, debugger->hits, sizeof(stop->hits));
	if (!stop->value && debugger->exception)
		stop->value = xstrndup(debugger->exception, strcspn(debugger->exception, "\n"));
	copy_frame(stop, rank);
}

const struct stop *stops_find(const struct stops *stops, uint64_t n)
{
	if (n >= stops->count || stops->count - n > STOPS_KEPT)
		return NULL;
	return &stops->ring[n % STOPS_KEPT];
}

#define PAGES_MAXIMUM 128

/* Identifies a page of the variables of a frame or of an object. The key of a frame stays the same
 * while the frame calls functions, as `height` counts from the outermost frame. */
struct page_key {
	size_t node;
	pid_t pid;
	pid_t tid;
	const struct code *code; /* only compared, never dereferenced; NULL: an object */
	size_t height;		 /* number of frames outside of this frame */
	uint64_t address;	 /* address of the object */
	int64_t start;		 /* index of the page's first variable */
};

struct value {
	uint64_t name;
	uint64_t hash; /* hash of type and value */
};

struct values {
	struct value *items;
	size_t count;
};

struct page {
	struct page_key key;
	uint64_t stops;
	struct values now;    /* values at the stop with the number stops */
	struct values before; /* values at the last earlier stop at which the page was read */
	bool has_before;
};

struct previous {
	struct page pages[PAGES_MAXIMUM];
	size_t written; /* number of pages ever written; the oldest page is replaced */
};

struct previous *previous_new(void)
{
	return xcalloc(1, sizeof(struct previous));
}

static void clear_page(struct page *page)
{
	free(page->now.items);
	free(page->before.items);
	*page = (struct page){ .stops = 0 };
}

void previous_free(struct previous *previous)
{
	if (!previous)
		return;
	for (size_t i = 0; i < PAGES_MAXIMUM; i++)
		clear_page(&previous->pages[i]);
	free(previous);
}

static bool previous_is_same(const struct page_key *a, const struct page_key *b)
{
	return a->node == b->node && a->pid == b->pid && a->tid == b->tid && a->code == b->code &&
	       a->height == b->height && a->address == b->address && a->start == b->start;
}

static struct page *find_page(struct previous *previous, const struct page_key *key)
{
	for (size_t i = 0; i < PAGES_MAXIMUM; i++)
		if (previous->pages[i].stops > 0 && previous_is_same(&previous->pages[i].key, key))
			return &previous->pages[i];
	return NULL;
}

static struct page *previous_add_page(struct previous *previous, const struct page_key *key,
				      uint64_t stops)
{
	struct page *page = &previous->pages[previous->written++ % PAGES_MAXIMUM];

	clear_page(page);
	page->key = *key;
	page->stops = stops;
	return page;
}

static struct values previous_values_of(const struct variable_list *list)
{
	struct values values = {
		.items = xcalloc(list->count + 1, sizeof(struct value)),
		.count = list->count,
	};

	for (size_t i = 0; i < list->count; i++) {
		const struct variable *variable = &list->items[i];
		const char *type = variable->type ? variable->type : "";
		const char *value = variable->value ? variable->value : "";

		values.items[i].name = hash_text(HASH_START, variable->name);
		values.items[i].hash = hash_text(hash_text(HASH_START, type), value);
	}
	return values;
}

static bool previous_has_value(const struct values *values, const struct value *value)
{
	for (size_t i = 0; i < values->count; i++)
		if (values->items[i].name == value->name)
			return values->items[i].hash == value->hash;
	return false;
}

/*
 * Stores the values of a stop. Returns an array of list->count, owned by the caller, that is true
 * for values that differ from the last stop before; NULL: there is no earlier stop.
 */
static bool *previous_note(struct previous *previous, const struct page_key *key, uint64_t stops,
			   const struct variable_list *list)
{
	struct page *page = find_page(previous, key);
	bool *changed;

	if (!page)
		page = previous_add_page(previous, key, stops);
	/* If the values are read again at the same stop, keep the values of the stop before. */
	if (page->stops != stops) {
		free(page->before.items);
		page->before = page->now;
		page->has_before = true;
		page->stops = stops;
	} else {
		free(page->now.items);
	}
	page->now = previous_values_of(list);
	if (!page->has_before)
		return NULL;
	changed = xcalloc(list->count + 1, sizeof(*changed));
	for (size_t i = 0; i < list->count; i++)
		changed[i] = !previous_has_value(&page->before, &page->now.items[i]);
	return changed;
}

static size_t height_of(const struct session *session, const struct variables *variables)
{
	const struct rank *rank = session_find_any_pid(session, variables->node, variables->pid);
	const struct thread *thread = rank ? rank_find_thread(rank, variables->tid) : NULL;
	const struct stack *stack = thread ? thread->sample.stack : NULL;
	size_t count = stack ? stack->frame_count + stack->dropped_count : 0;

	return count > (size_t)variables->depth ? count - (size_t)variables->depth : 0;
}

void previous_compare(struct session *session, struct variables *variables)
{
	struct page_key key = {
		.node = variables->node,
		.pid = variables->pid,
		.tid = variables->tid,
		.code = variables->code,
		.address = variables->address,
		.start = variables->start,
	};

	variables->stops = session_find_stop(session, variables->node, variables->pid,
					     variables->depth < 0 ? 0 : variables->tid);
	if (variables->stops == 0 || variables->list.count == 0)
		return;
	if (variables->depth >= 0)
		key.height = height_of(session, variables);
	variables->is_changed =
		previous_note(session->previous, &key, variables->stops, &variables->list);
}
