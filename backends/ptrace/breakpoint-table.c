#include "backends/ptrace/breakpoint-table.h"

#include <stdlib.h>
#include <string.h>

#include "backends/cpython/bytecode.h"
#include "backends/cpython/code-search.h"
#include "backends/cpython/object-search.h"
#include "backends/expression/logpoint.h"
#include "backends/expression/pyexpression.h"
#include "backends/linux/memory.h"
#include "backends/ptrace/breakpoint-table-private.h"
#include "backends/ptrace/stepper.h"
#include "backends/tracer/debug-registers.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/map.h"

struct breaks *breakpoint_table_new(struct memory *memory, const struct cpython *python,
				    struct bytecode_cache *bytecodes, struct codes *codes)
{
	struct breaks *breaks = xcalloc(1, sizeof(*breaks));

	breaks->memory = memory_new(memory_pid(memory));
	breaks->trapped = memory;
	breaks->python = python;
	breaks->bytecodes = bytecodes;
	breaks->codes = codes;
	return breaks;
}

static void breakpoint_table_clear_entry(struct break_entry *entry)
{
	break_places_clear(entry);
	free(entry->message);
	free(entry->failure);
	logpoint_free(entry->log);
	pyexpression_free(entry->condition);
	breakpoint_clear(&entry->wanted);
}

static void breakpoint_table_free_entries(struct break_entry *entries, size_t count)
{
	for (size_t i = 0; i < count; i++)
		breakpoint_table_clear_entry(&entries[i]);
	free(entries);
}

void breakpoint_table_free(struct breaks *breaks)
{
	if (!breaks)
		return;
	free(breaks->failure);
	free(breaks->watch_requests);
	breakpoint_table_free_entries(breaks->entries, breaks->count);
	memory_free(breaks->memory);
	free(breaks);
}

bool break_entry_is_on(const struct break_entry *entry)
{
	return !entry->wanted.is_disabled &&
	       (entry->state == ENTRY_BOUND || entry->state == ENTRY_PENDING ||
		entry->state == ENTRY_ABSENT);
}

static bool breakpoint_table_is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool breakpoint_table_is_same_place(const struct breakpoint *a, const struct breakpoint *b)
{
	return breakpoint_table_is_same_text(a->path, b->path) && a->line == b->line &&
	       breakpoint_table_is_same_text(a->function, b->function);
}

static struct break_entry *breakpoint_table_find_entry(const struct breaks *breaks, int id)
{
	for (size_t i = 0; i < breaks->count; i++)
		if (breaks->entries[i].wanted.id == id)
			return &breaks->entries[i];
	return NULL;
}

/* Takes over the places and counts of the old breakpoint with the same id. */
static void breakpoint_table_inherit(struct break_entry *entry, struct break_entry *before)
{
	bool is_new_condition =
		!breakpoint_table_is_same_text(entry->wanted.condition, before->wanted.condition);

	entry->places = before->places;
	entry->count = before->count;
	entry->capacity = before->capacity;
	entry->file = before->file;
	entry->line = before->line;
	before->places = NULL;
	before->count = before->capacity = 0;
	before->file = NULL;
	entry->was_far = before->was_far;
	entry->hits = before->hits;
	if (!is_new_condition) {
		entry->failure = before->failure;
		before->failure = NULL;
	}
	entry->speaks_since = before->speaks_since;
	entry->said = before->said;
	entry->left_out = before->left_out;
	if (entry->wanted.ignore == before->wanted.ignore)
		entry->ignore_left = before->ignore_left;
	if (before->state == ENTRY_SPENT && entry->wanted.is_temporary)
		entry->state = ENTRY_SPENT;
}

/* Parses the condition and the log text; an error becomes the entry's message. */
static void breakpoint_table_compile(struct break_entry *entry)
{
	struct error error = ERROR_INIT;

	if (entry->wanted.condition)
		entry->condition = pyexpression_parse_condition(entry->wanted.condition, &error);
	if (entry->wanted.log && !error_is_set(&error))
		entry->log = logpoint_parse(entry->wanted.log, &error);
	if (!error_is_set(&error))
		return;
	entry->state = ENTRY_WRONG;
	entry->message = xstrdup(error.message);
}

/*
 * Appends an entry for an item of the list, unless the item is invalid, is a `watch`, or has the id
 * of another entry.
 */
static void breakpoint_table_read_entry(struct breaks *into, const json_t *json)
{
	struct break_entry entry = { .state = ENTRY_PENDING };
	struct error error = ERROR_INIT;

	if (breakpoint_from_json(&entry.wanted, json, &error) < 0 || entry.wanted.watch ||
	    breakpoint_table_find_entry(into, entry.wanted.id)) {
		breakpoint_clear(&entry.wanted);
		return;
	}
	entry.ignore_left = entry.wanted.ignore;
	ARRAY_GROW(into->entries, into->count, into->capacity);
	into->entries[into->count++] = entry;
}

static int breakpoint_table_read_entries(struct breaks *into, const json_t *list,
					 struct error *error)
{
	if (breakpoints_check(list, error) < 0)
		return -1;
	for (size_t i = 0; i < json_array_size(list); i++)
		breakpoint_table_read_entry(into, json_array_get(list, i));
	return 0;
}

int breakpoint_table_check(const json_t *list, struct error *error)
{
	struct breaks read = { .entries = NULL };
	int result = breakpoint_table_read_entries(&read, list, error);

	for (size_t i = 0; i < read.count && result == 0; i++) {
		breakpoint_table_compile(&read.entries[i]);
		if (read.entries[i].state == ENTRY_WRONG)
			result = error_set(error, "breakpoint %d: %s", read.entries[i].wanted.id,
					   read.entries[i].message);
	}
	breakpoint_table_free_entries(read.entries, read.count);
	return result;
}

static void bind_all(struct breaks *breaks, bool is_far)
{
	struct break_search search = { .breaks = breaks, .is_far = is_far };

	/* The process has run: a cached code object may have been freed and its address reused. */
	bytecode_cache_age(breaks->bytecodes);
	for (size_t i = 0; i < breaks->count; i++) {
		struct break_entry *entry = &breaks->entries[i];

		if (entry->state != ENTRY_WRONG && entry->state != ENTRY_SPENT)
			break_bind(entry, &search);
	}
	break_search_clear(&search);
}

/* Refuses conditions that contain undefined names, because they would fail at each hit. */
static void judge_all(struct breaks *breaks)
{
	for (size_t i = 0; i < breaks->count; i++) {
		struct break_entry *entry = &breaks->entries[i];
		char *name = entry->state == ENTRY_BOUND ? break_unknown_name(breaks, entry) : NULL;

		if (!name)
			continue;
		break_places_clear(entry);
		free(entry->message);
		entry->state = ENTRY_WRONG;
		entry->message = xasprintf("condition failed: name '%s' is not defined", name);
		free(name);
	}
}

int breakpoint_table_set(struct breaks *breaks, const json_t *list, struct error *error)
{
	struct breaks read = { .entries = NULL };

	if (breakpoint_table_read_entries(&read, list, error) < 0) {
		breakpoint_table_free_entries(read.entries, read.count);
		return -1;
	}
	for (size_t i = 0; i < read.count; i++) {
		struct break_entry *entry = &read.entries[i];
		struct break_entry *before = breakpoint_table_find_entry(breaks, entry->wanted.id);

		if (before && breakpoint_table_is_same_place(&before->wanted, &entry->wanted))
			breakpoint_table_inherit(entry, before);
		breakpoint_table_compile(entry);
	}
	breakpoint_table_free_entries(breaks->entries, breaks->count);
	breaks->entries = read.entries;
	breaks->count = read.count;
	breaks->capacity = read.capacity;
	/*
	 * The revision is read before the search, so that code that is loaded during the search is
	 * searched again.
	 */
	breaks->looked = breaks->count ? code_search_revision(breaks->codes) : 0;
	/*
	 * Not all objects are searched yet (is_far), because that is slow: the request is answered
	 * first.
	 */
	bind_all(breaks, false);
	judge_all(breaks);
	breakpoint_table_request_again(breaks);
	return 0;
}

bool breakpoint_table_are_pending(const struct breaks *breaks)
{
	for (size_t i = 0; i < breaks->count; i++)
		if (breaks->entries[i].state == ENTRY_PENDING &&
		    break_entry_is_on(&breaks->entries[i]))
			return true;
	return false;
}

bool breakpoint_table_are_far(const struct breaks *breaks)
{
	for (size_t i = 0; i < breaks->count; i++)
		if (breaks->entries[i].state == ENTRY_ABSENT && !breaks->entries[i].was_far)
			return true;
	return false;
}

bool breakpoint_table_are_any(const struct breaks *breaks)
{
	for (size_t i = 0; i < breaks->count; i++)
		if (break_entry_is_on(&breaks->entries[i]))
			return true;
	return false;
}

bool breakpoint_table_look(struct breaks *breaks)
{
	uint64_t before = breaks->revision;
	uint64_t now;
	bool is_far;

	if (!breaks->count)
		return false;
	now = code_search_revision(breaks->codes);
	is_far = breakpoint_table_are_far(breaks);
	if (now == breaks->looked && !is_far)
		return false;
	breaks->looked = now;
	bind_all(breaks, is_far);
	breakpoint_table_request_again(breaks);
	return breaks->revision != before;
}

bool breakpoint_table_starts(struct breaks *breaks, uint64_t code)
{
	struct code_list list = { .items = NULL };
	uint64_t before = breaks->revision;

	if (!breakpoint_table_are_any(breaks))
		return false;
	code_search_nested(breaks->codes, code, &list);
	for (size_t i = 0; i < breaks->count; i++) {
		struct break_entry *entry = &breaks->entries[i];

		if (entry->state != ENTRY_WRONG && entry->state != ENTRY_SPENT)
			break_bind_starting(entry, breaks, code, &list);
	}
	code_list_clear(&list);
	breakpoint_table_request_again(breaks);
	return breaks->revision != before;
}

uint64_t breakpoint_table_revision(const struct breaks *breaks)
{
	return breaks->revision;
}

static void breakpoint_table_collect(const struct breaks *breaks, struct breaks *into)
{
	struct address_set seen = { .slots = NULL };

	for (size_t i = 0; i < breaks->count; i++) {
		const struct break_entry *entry = &breaks->entries[i];

		for (size_t j = 0; j < entry->count && break_entry_is_on(entry); j++) {
			const struct break_place *place = &entry->places[j];

			for (size_t k = 0; k < place->count; k++) {
				if (!address_set_add(&seen, place->watched[k]))
					continue;
				ARRAY_GROW(into->watch_requests, into->watch_request_count,
					   into->watch_request_capacity);
				into->watch_requests[into->watch_request_count++] =
					(struct break_watch_request){
						.address = place->watched[k],
						.code = place->code,
					};
			}
		}
	}
	address_set_clear(&seen);
}

/*
 * Increments the revision if the state or message of an entry has changed, even if its watch
 * requests are the same.
 */
static void look_at_states(struct breaks *breaks)
{
	uint64_t told = HASH_START;

	for (size_t i = 0; i < breaks->count; i++) {
		const struct break_entry *entry = &breaks->entries[i];

		told = hash_number(told, (uint64_t)entry->state);
		told = hash_text(told, entry->message ? entry->message : "");
	}
	breaks->revision += told != breaks->told;
	breaks->told = told;
}

void breakpoint_table_request_again(struct breaks *breaks)
{
	struct breaks now = { .watch_requests = NULL };

	look_at_states(breaks);
	breakpoint_table_collect(breaks, &now);
	if (now.watch_request_count == breaks->watch_request_count &&
	    (!now.watch_request_count ||
	     !memcmp(now.watch_requests, breaks->watch_requests,
		     now.watch_request_count * sizeof(*now.watch_requests)))) {
		free(now.watch_requests);
		return;
	}
	free(breaks->watch_requests);
	breaks->watch_requests = now.watch_requests;
	breaks->watch_request_count = now.watch_request_count;
	breaks->watch_request_capacity = now.watch_request_capacity;
	breaks->missing = 0;
	breaks->revision++;
}

size_t breakpoint_table_watch_requests(const struct breaks *breaks, struct planned *watch_requests,
				       size_t maximum)
{
	for (size_t i = 0; i < breaks->watch_request_count && i < maximum; i++)
		watch_requests[i] = (struct planned){
			.watch = { .address = breaks->watch_requests[i].address,
				   .length = 1,
				   .access = HARDWARE_WATCH_ACCESS },
			.kind = PLAN_BREAKPOINT,
			.code = breaks->watch_requests[i].code,
		};
	return breaks->watch_request_count;
}

void breakpoint_table_short(struct breaks *breaks, size_t missing, const char *why)
{
	free(breaks->failure);
	breaks->failure = xstrdup_or_null(why);
	breaks->missing =
		missing < breaks->watch_request_count ? missing : breaks->watch_request_count;
}

/* The state of the breakpoints, for `debugger` events and the answer to `setBreakpoints` */

/* Number of a breakpoint's places, and number of its places that have a watch. */
struct share {
	size_t wanted;
	size_t watched;
};

static bool is_watched(const struct breaks *breaks, uint64_t address)
{
	for (size_t i = 0; i + breaks->missing < breaks->watch_request_count; i++)
		if (breaks->watch_requests[i].address == address)
			return true;
	return false;
}

static struct share share_of(const struct breaks *breaks, const struct break_entry *entry)
{
	struct share share = { 0 };

	for (size_t i = 0; i < entry->count; i++) {
		const struct break_place *place = &entry->places[i];

		for (size_t j = 0; j < place->count; j++) {
			share.wanted++;
			share.watched += is_watched(breaks, place->watched[j]);
		}
	}
	return share;
}

/* Appends the breakpoints that have a watch, as "breakpoints 1, 2". Returns their number. */
static size_t append_users(struct buffer *out, const struct breaks *breaks)
{
	struct buffer ids = BUFFER_INIT;
	size_t count = 0;

	for (size_t i = 0; i < breaks->count; i++) {
		const struct break_entry *entry = &breaks->entries[i];

		if (!break_entry_is_on(entry) || !share_of(breaks, entry).watched)
			continue;
		buffer_printf(&ids, "%s%d", count++ ? ", " : " ", entry->wanted.id);
	}
	if (count)
		buffer_printf(out, "breakpoint%s%s", count > 1 ? "s" : "", ids.data);
	buffer_clear(&ids);
	return count;
}

/*
 * Appends the reason, for example "no free debug register: a thread has 4, used by breakpoints 1, 2
 * and the step; …"
 */
static void breakpoint_report_append_reason(struct buffer *out, const struct breaks *breaks)
{
	bool has_step = breaks->watch_request_count - breaks->missing < HARDWARE_WATCH_SLOTS;

	if (breaks->failure) {
		buffer_append_string(out, breaks->failure);
		return;
	}
	buffer_printf(out, "no free debug register: a thread has %d, used by ",
		      HARDWARE_WATCH_SLOTS);
	if (!append_users(out, breaks)) {
		buffer_append_string(out,
				     "the step; the breakpoint is set again when the step ends");
		return;
	}
	buffer_printf(out, "%s; disable a breakpoint, or inject an agent",
		      has_step ? " and the step" : "");
}

/* Returns why some or all places of a breakpoint have no watch, or NULL if all have one. */
static char *breakpoint_report_explain(const struct breaks *breaks, const struct break_entry *entry,
				       bool *is_unset)
{
	struct share share = { 0 };
	struct buffer text = BUFFER_INIT;

	*is_unset = false;
	if (breaks->missing && break_entry_is_on(entry))
		share = share_of(breaks, entry);
	if (share.watched == share.wanted)
		return NULL;
	*is_unset = share.watched == 0;
	if (share.watched)
		buffer_printf(&text, "the breakpoint is set at %zu of %zu places: ", share.watched,
			      share.wanted);
	breakpoint_report_append_reason(&text, breaks);
	return buffer_take(&text);
}

static void breakpoint_report_describe(const struct breaks *breaks, const struct break_entry *entry,
				       struct breakpoint_binding *binding)
{
	bool is_unset;
	char *message = breakpoint_report_explain(breaks, entry, &is_unset);

	binding->id = entry->wanted.id;
	binding->hits = entry->hits;
	binding->is_disabled = entry->wanted.is_disabled;
	binding->is_temporary = entry->wanted.is_temporary;
	binding->is_refused = entry->state == ENTRY_REFUSED || entry->state == ENTRY_WRONG;
	binding->condition = xstrdup_or_null(entry->wanted.condition);
	if (!message)
		message = xstrdup_or_null(entry->message);
	if (!message)
		message = xstrdup_or_null(entry->failure);
	binding->message = message;
	if (entry->state != ENTRY_BOUND)
		return;
	binding->number = is_unset ? 0 : entry->wanted.id;
	binding->path = xstrdup_or_null(entry->file);
	binding->line = entry->line;
}

void breakpoint_table_describe(const struct breaks *breaks, struct debugger *debugger)
{
	for (size_t i = 0; i < breaks->count; i++)
		if (breaks->entries[i].state != ENTRY_SPENT)
			breakpoint_report_describe(breaks, &breaks->entries[i],
						   debugger_add_binding(debugger));
}

/* Marks a breakpoint as "pending" if it is set as soon as its code is loaded. */
static void breakpoint_report_mark(json_t *binding, enum entry_state state)
{
	if (state == ENTRY_PENDING || state == ENTRY_ABSENT)
		json_object_set_new(binding, "pending", json_true());
}

json_t *breakpoint_table_to_json(const struct breaks *breaks)
{
	struct debugger debugger;
	json_t *body = json_object();
	json_t *all, *bindings;
	size_t at = 0;

	debugger_init(&debugger);
	breakpoint_table_describe(breaks, &debugger);
	all = debugger_to_json(&debugger);
	bindings = json_object_get(all, "breakpoints");
	for (size_t i = 0; i < breaks->count; i++) {
		if (breaks->entries[i].state == ENTRY_SPENT)
			continue;
		breakpoint_report_mark(json_array_get(bindings, at++), breaks->entries[i].state);
	}
	json_object_set(body, "breakpoints", bindings);
	json_decref(all);
	debugger_clear(&debugger);
	return body;
}
