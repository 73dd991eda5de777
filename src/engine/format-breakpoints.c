/* format-breakpoints: the state of a breakpoint over all ranks, as JSON and text. */
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/json.h"
#include "engine/format.h"
#include "model/breakpoints.h"

/* The backends that stop the ranks, with the ranks of each. */
static json_t *backends_to_json(const struct breakpoint_summary *summary)
{
	json_t *backends = json_array();

	for (int i = 0; i < BREAKPOINT_BACKEND_COUNT; i++) {
		bool has_slots = i == BREAKPOINT_BY_PTRACE && summary->slots > 0;
		json_t *one;

		if (summary->by[i].range_count == 0)
			continue;
		one = json_object();
		json_set_text(one, "backend", breakpoint_backend_name((enum breakpoint_backend)i));
		json_object_set_new(one, "ranks", format_json_set(&summary->by[i]));
		json_object_set_new(one, "slots",
				    has_slots ? json_integer(summary->slots) : json_null());
		json_object_set_new(one, "slots_free",
				    has_slots ? json_integer(summary->slots_free) : json_null());
		json_array_append_new(backends, one);
	}
	return backends;
}

json_t *format_json_breakpoint(const struct breakpoint_summary *summary)
{
	const struct breakpoint *own = summary->own;
	json_t *json = json_object();

	json_object_set_new(json, "id", json_integer(summary->id));
	json_set_text(json, "path", summary->path);
	json_object_set_new(json, "line",
			    summary->line > 0 ? json_integer(summary->line) : json_null());
	json_set_text(json, "function", own ? own->function : NULL);
	json_set_text(json, "watch", summary->watch);
	json_set_text(json, "condition", summary->condition);
	json_set_text(json, "log", summary->log);
	json_object_set_new(json, "ignore", json_integer(own ? own->ignore : 0));
	json_object_set_new(json, "enabled", json_boolean(!summary->is_disabled));
	json_object_set_new(json, "temporary", json_boolean(summary->is_temporary));
	json_object_set_new(json, "ranks", format_json_set(&summary->ranks));
	json_object_set_new(json, "set", format_json_set(&summary->set));
	json_object_set_new(json, "backends", backends_to_json(summary));
	json_object_set_new(json, "hits", json_integer(summary->hits));
	json_set_text(json, "message", summary->message);
	return json;
}

static void format_breakpoints_append_number(struct buffer *out,
					     const struct breakpoint_summary *summary)
{
	if (summary->id > 0)
		buffer_printf(out, "%s %d: ", summary->watch ? "watch" : "breakpoint", summary->id);
	else
		buffer_printf(out, "pdb's own %d: ", summary->number);
}

/* ", not set in ranks 2-3: it runs …", ", pending: not loaded yet" */
static void format_breakpoints_append_missing(struct buffer *out,
					      const struct breakpoint_summary *summary)
{
	static const char pending[] = "pending: ";
	const char *message = summary->message;
	struct rankset missing = RANKSET_INIT;

	if (summary->is_over) {
		buffer_append_string(out, ", over: ");
		format_text(out, message);
		return;
	}
	rankset_copy(&missing, &summary->ranks);
	rankset_subtract(&missing, &summary->set);
	if (missing.range_count > 0) {
		if (message && strncmp(message, pending, strlen(pending)) == 0) {
			message += strlen(pending);
			buffer_append_string(out, ", pending");
		} else {
			buffer_append_string(out, ", not set");
		}
		if (summary->set.range_count > 0) {
			buffer_append_string(out, " in ");
			rankset_append_named(out, &missing);
		}
	}
	/* A breakpoint that is set may have a message, too: it lacks a part of the request. */
	if (message) {
		buffer_append_string(out, ": ");
		format_text(out, message);
	}
	rankset_clear(&missing);
}

void format_text_breakpoint(struct buffer *out, const struct breakpoint_summary *summary,
			    bool is_told)
{
	format_breakpoints_append_number(out, summary);
	breakpoint_append_place(out, summary);
	if (summary->condition) {
		buffer_append_string(out, " if ");
		format_text(out, summary->condition);
	}
	if (summary->log) {
		buffer_append_string(out, " log ");
		format_text(out, summary->log);
	}
	if (summary->is_temporary)
		buffer_append_string(out, ", once");
	if (summary->is_disabled)
		buffer_append_string(out, ", disabled");
	if (summary->own && summary->own->ignore > 0)
		buffer_printf(out, ", not the next %d times", summary->own->ignore);
	if (summary->ranks.range_count > 0) {
		buffer_append_string(out, ", ranks ");
		rankset_append_counted(out, &summary->ranks);
	}
	if (summary->hits > 0) {
		buffer_append_string(out, ", ");
		breakpoint_append_hits(out, summary);
	}
	if (is_told && summary->set.range_count > 0) {
		buffer_append_string(out, ", ");
		breakpoint_append_backends(out, summary);
	}
	if (is_told || summary->message)
		format_breakpoints_append_missing(out, summary);
}
