#include "backends/ptrace/watchpoints.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/linux/memory.h"
#include "backends/ptrace/stepper.h"
#include "backends/ptrace/watchpoints-private.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/debugger.h"

struct watched *watchpoints_new(struct memory *memory, const struct cpython *python)
{
	struct watched *watched = xcalloc(1, sizeof(*watched));

	watched->memory = memory_new(memory_pid(memory));
	watched->python = python;
	return watched;
}

static void watchpoints_clear_entry(struct watched_entry *entry)
{
	watched_value_clear(&entry->value);
	pyexpression_free(entry->condition);
	pyexpression_free(entry->expression);
	free(entry->message);
	free(entry->failure);
	breakpoint_clear(&entry->wanted);
}

static void watchpoints_free_entries(struct watched_entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		watchpoints_clear_entry(&entries[i]);
	free(entries);
}

void watchpoints_free(struct watched *watched)
{
	if (!watched)
		return;
	watchpoints_free_entries(watched->entries, watched->count);
	memory_free(watched->memory);
	free(watched);
}

bool watchpoints_entry_is_on(const struct watched_entry *entry)
{
	return entry->state == WATCHED_SET && !entry->wanted.is_disabled;
}

/* Parses condition and expression; an error becomes the entry's message. */
static void watchpoints_compile(struct watched_entry *entry)
{
	struct error error = ERROR_INIT;

	if (entry->wanted.is_nan)
		error_set(&error,
			  "What becomes NaN is seen at once by an agent in the process alone.");
	else if (entry->wanted.condition)
		entry->condition = pyexpression_parse_condition(entry->wanted.condition, &error);
	if (!error_is_set(&error))
		entry->expression = pyexpression_parse(entry->wanted.watch, &error);
	if (!error_is_set(&error) && entry->wanted.log)
		error_set(&error, "What is watched stops; it cannot print a text instead.");
	if (error_is_set(&error))
		entry->message = xstrdup(error.message);
}

static struct watched_entry *watchpoints_find_entry(const struct watched *watched, int id)
{
	for (size_t i = 0; i < watched->count; i++)
		if (watched->entries[i].wanted.id == id)
			return &watched->entries[i];
	return NULL;
}

static void watchpoints_read_entry(struct watched *into, const json_t *json)
{
	struct watched_entry entry = { .state = WATCHED_UNSET };
	struct error error = ERROR_INIT;

	if (breakpoint_from_json(&entry.wanted, json, &error) < 0 || !entry.wanted.watch ||
	    watchpoints_find_entry(into, entry.wanted.id)) {
		breakpoint_clear(&entry.wanted);
		return;
	}
	entry.ignore_left = entry.wanted.ignore;
	ARRAY_GROW(into->entries, into->count, into->capacity);
	into->entries[into->count++] = entry;
}

static int watchpoints_read_entries(struct watched *into, const json_t *list, struct error *error)
{
	if (breakpoints_check(list, error) < 0)
		return -1;
	for (size_t i = 0; i < json_array_size(list); i++)
		watchpoints_read_entry(into, json_array_get(list, i));
	return 0;
}

static bool watchpoints_is_same(const struct breakpoint *a, const struct breakpoint *b)
{
	return !strcmp(a->watch, b->watch) && a->depth == b->depth;
}

/* Takes over the place, value and counts of the old entry with the same id. */
static void watchpoints_inherit(struct watched_entry *entry, struct watched_entry *before)
{
	bool is_off = before->wanted.is_disabled;

	entry->state = before->state;
	if (entry->state == WATCHED_SPENT && !entry->wanted.is_temporary)
		entry->state = WATCHED_SET;
	entry->frame = before->frame;
	entry->code = before->code;
	entry->is_generator = before->is_generator;
	entry->is_local = before->is_local;
	entry->place = before->place;
	entry->owner_type = before->owner_type;
	entry->keys = before->keys;
	entry->is_lent = before->is_lent;
	entry->hits = before->hits;
	if (entry->wanted.ignore == before->wanted.ignore)
		entry->ignore_left = before->ignore_left;
	if (is_off)
		return;
	entry->value = before->value;
	before->value = (struct watched_value){ .word = 0 };
	entry->has_failed = before->has_failed;
	if ((entry->state == WATCHED_ENDED || entry->has_failed) && !entry->message) {
		entry->message = before->message;
		before->message = NULL;
	}
}

static void settle_entry(struct watched *watched, struct watched_entry *entry,
			 const struct watchpoints_frames *frames)
{
	struct watched_entry *before = watchpoints_find_entry(watched, entry->wanted.id);

	watchpoints_compile(entry);
	/* Without an expression the place could not be looked up again. */
	if (entry->message)
		return;
	if (before && watchpoints_is_same(&before->wanted, &entry->wanted))
		watchpoints_inherit(entry, before);
	if (entry->state == WATCHED_UNSET)
		watched_entry_find(watched, entry, frames);
	if (watchpoints_entry_is_on(entry) && !entry->value.text)
		watched_entry_refresh(watched, entry);
}

int watchpoints_set(struct watched *watched, const json_t *list,
		    const struct watchpoints_frames *frames, struct error *error)
{
	struct watched read = { .entries = NULL };

	if (watchpoints_read_entries(&read, list, error) < 0) {
		watchpoints_free_entries(read.entries, read.count);
		return -1;
	}
	for (size_t i = 0; i < read.count; i++)
		settle_entry(watched, &read.entries[i], frames);
	watchpoints_free_entries(watched->entries, watched->count);
	watched->entries = read.entries;
	watched->count = read.count;
	watched->capacity = read.capacity;
	watched->revision++;
	return 0;
}

bool watchpoints_are_any(const struct watched *watched)
{
	return watchpoints_watch_requests(watched, NULL, 0) > 0;
}

uint64_t watchpoints_revision(const struct watched *watched)
{
	return watched->revision;
}

static struct planned make_watch_request(const struct watched_entry *entry, uint64_t address,
					 int length)
{
	return (struct planned){
		.watch = { .address = address, .length = length, .access = HARDWARE_WATCH_WRITE },
		.kind = PLAN_DATA,
		.id = entry->wanted.id,
	};
}

/* For a value that is gone, watches the guard, which is written when the value comes back. */
size_t watchpoints_watch_requests(const struct watched *watched, struct planned *watch_requests,
				  size_t maximum)
{
	size_t count = 0;

	for (size_t i = 0; i < watched->count; i++) {
		const struct watched_entry *entry = &watched->entries[i];
		const struct pyexpression_place *place = &entry->place;

		if (!watchpoints_entry_is_on(entry))
			continue;
		if (count < maximum)
			watch_requests[count] =
				place->address
					? make_watch_request(entry, place->address, place->length)
					: make_watch_request(entry, place->guard, 8);
		count++;
	}
	return count;
}

size_t watchpoints_guards(const struct watched *watched, struct planned *watch_requests,
			  size_t maximum)
{
	size_t count = 0;

	for (size_t i = 0; i < watched->count; i++) {
		const struct watched_entry *entry = &watched->entries[i];

		if (!watchpoints_entry_is_on(entry) || !entry->place.address || !entry->place.guard)
			continue;
		if (count < maximum)
			watch_requests[count] = make_watch_request(entry, entry->place.guard, 8);
		count++;
	}
	return count;
}

void watchpoints_short(struct watched *watched, size_t missing)
{
	watched->missing = missing;
}

/* Whether watch request i got no slot. */
static bool is_missing(const struct watched *watched, size_t i)
{
	return i + watched->missing >= watchpoints_watch_requests(watched, NULL, 0);
}

static void describe(const struct watched_entry *entry, bool is_short,
		     struct breakpoint_binding *binding)
{
	binding->id = entry->wanted.id;
	binding->watch = xstrdup(entry->wanted.watch);
	binding->hits = entry->hits;
	binding->is_disabled = entry->wanted.is_disabled;
	binding->is_temporary = entry->wanted.is_temporary;
	binding->condition = xstrdup_or_null(entry->wanted.condition);
	binding->is_refused = entry->state == WATCHED_UNSET && entry->message;
	if (entry->state == WATCHED_SET && !is_short)
		binding->number = entry->wanted.id;
	binding->message = xstrdup_or_null(entry->message);
	if (is_short && !binding->message)
		binding->message = xasprintf("no free watch: a thread has %d, and a step needs "
					     "some of them. Disable another breakpoint.",
					     HARDWARE_WATCH_SLOTS);
}

void watchpoints_describe(const struct watched *watched, struct debugger *debugger)
{
	size_t number = 0;

	for (size_t i = 0; i < watched->count; i++) {
		const struct watched_entry *entry = &watched->entries[i];
		bool is_short = watchpoints_entry_is_on(entry) && is_missing(watched, number++);

		if (entry->state != WATCHED_SPENT)
			describe(entry, is_short, debugger_add_binding(debugger));
	}
}

void watchpoints_add_json(const struct watched *watched, json_t *breakpoints)
{
	struct debugger debugger;
	json_t *all;

	debugger_init(&debugger);
	watchpoints_describe(watched, &debugger);
	all = debugger_to_json(&debugger);
	json_array_extend(breakpoints, json_object_get(all, "breakpoints"));
	json_decref(all);
	debugger_clear(&debugger);
}
