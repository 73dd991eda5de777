/*
 * breakpoint-report: describes the state of breakpoints for `debugger` events and the
 * answer to `setBreakpoints`.
 */
#include <stdlib.h>
#include <string.h>

#include "backends/ptrace/breakpoint-table-private.h"
#include "backends/tracer/hardware-watch.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/json.h"

/* Numbers of a breakpoint's places: all, and those that have a watch. */
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

/* Appends the breakpoints that have a watch, "breakpoints 1, 2"; returns their number. */
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

/* Appends "no free watch: a thread has 4, which breakpoints 1, 2 and the step use. …" */
static void breakpoint_report_append_reason(struct buffer *out, const struct breaks *breaks)
{
	bool has_step = breaks->watch_request_count - breaks->missing < HARDWARE_WATCH_SLOTS;
	size_t count;

	if (breaks->failure) {
		buffer_printf(out, "%s.", breaks->failure);
		return;
	}
	buffer_printf(out, "no free watch: a thread has %d, which ", HARDWARE_WATCH_SLOTS);
	count = append_users(out, breaks);
	if (!count) {
		buffer_append_string(out, "the step uses. It is set again when that is over.");
		return;
	}
	buffer_printf(out, "%s %s. Disable one of them, or use the agent.",
		      has_step ? " and the step" : "", count + has_step > 1 ? "use" : "uses");
}

/* Returns why some or all places of a breakpoint have no watch; NULL: all have one. */
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
		buffer_printf(&text, "watched: %zu of its %zu places; ", share.watched,
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

/* Marks a breakpoint that is set as soon as its code is loaded. */
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
