#include "model/breakpoints.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "model/place.h"
#include "model/session.h"

/* Beginning of the message of a watchpoint that has ended. */
#define OVER "out of scope: "

void breakpoint_forget_refusal(struct session_breakpoint *breakpoint)
{
	free(breakpoint->refusal);
	rankset_clear(&breakpoint->refused_by);
	breakpoint->refusal = NULL;
	breakpoint->is_untold = false;
}

static void clear_item(struct session_breakpoint *item)
{
	breakpoint_forget_refusal(item);
	breakpoint_clear(&item->breakpoint);
	rankset_clear(&item->ranks);
}

void breakpoints_clear(struct breakpoints *breakpoints)
{
	for (size_t i = 0; i < breakpoints->count; i++)
		clear_item(&breakpoints->items[i]);
	free(breakpoints->items);
	rankset_clear(&breakpoints->set_and_hit);
	*breakpoints = (struct breakpoints){ .items = NULL };
}

struct session_breakpoint *breakpoints_add(struct breakpoints *breakpoints, struct error *error)
{
	struct session_breakpoint *added;

	if (breakpoints->count >= BREAKPOINTS_MAXIMUM) {
		error_set(error, "too many breakpoints (%d): use `clear ID` to remove one",
			  BREAKPOINTS_MAXIMUM);
		return NULL;
	}
	ARRAY_GROW(breakpoints->items, breakpoints->count, breakpoints->capacity);
	added = &breakpoints->items[breakpoints->count++];
	*added = (struct session_breakpoint){
		.since = breakpoints->is_last_free ? breakpoints->revision : 0,
	};
	breakpoints->last_id += breakpoints->is_last_free ? 0 : 1;
	breakpoints->is_last_free = false;
	added->breakpoint.id = breakpoints->last_id;
	return added;
}

struct session_breakpoint *breakpoints_find(const struct breakpoints *breakpoints, int id)
{
	for (size_t i = 0; i < breakpoints->count; i++) {
		if (breakpoints->items[i].breakpoint.id == id)
			return &breakpoints->items[i];
	}
	return NULL;
}

void breakpoints_remove(struct breakpoints *breakpoints, int id)
{
	struct session_breakpoint *found = breakpoints_find(breakpoints, id);

	if (!found)
		return;
	clear_item(found);
	breakpoints->count--;
	memmove(found, found + 1,
		(size_t)(breakpoints->items + breakpoints->count - found) * sizeof(*found));
	breakpoints_changed(breakpoints);
}

void breakpoints_give_back(struct breakpoints *breakpoints, int id)
{
	breakpoints_remove(breakpoints, id);
	if (id == breakpoints->last_id)
		breakpoints->is_last_free = true;
	if (id == breakpoints->run_to)
		breakpoints->run_to = 0;
}

void breakpoints_changed(struct breakpoints *breakpoints)
{
	breakpoints->revision++;
}

bool breakpoint_is_for(const struct session_breakpoint *breakpoint, int rank)
{
	return breakpoint->is_everywhere || rankset_contains(&breakpoint->ranks, rank);
}

bool breakpoints_are_for(const struct breakpoints *breakpoints, int rank)
{
	for (size_t i = 0; i < breakpoints->count; i++) {
		if (breakpoint_is_for(&breakpoints->items[i], rank))
			return true;
	}
	return false;
}

json_t *breakpoints_to_json(const struct breakpoints *breakpoints, int rank)
{
	json_t *json = json_array();

	for (size_t i = 0; i < breakpoints->count; i++) {
		const struct session_breakpoint *item = &breakpoints->items[i];

		if (breakpoint_is_for(item, rank))
			json_array_append_new(json, breakpoint_to_json(&item->breakpoint));
	}
	return json;
}

json_t *breakpoints_all_to_json(const struct breakpoints *breakpoints)
{
	json_t *json = json_array();

	for (size_t i = 0; i < breakpoints->count; i++) {
		const struct session_breakpoint *item = &breakpoints->items[i];
		struct buffer ranks = BUFFER_INIT;
		json_t *one;

		/* A watchpoint needs an existing frame or object; a job that starts has neither. */
		if (item->breakpoint.watch)
			continue;
		one = breakpoint_to_json(&item->breakpoint);

		if (!item->is_everywhere) {
			rankset_append(&ranks, &item->ranks);
			json_set_text(one, "ranks", ranks.data);
		}
		json_array_append_new(json, one);
		buffer_clear(&ranks);
	}
	return json;
}

void breakpoints_refused(struct breakpoints *breakpoints, int rank, int id, const char *reason)
{
	struct session_breakpoint *found = breakpoints_find(breakpoints, id);

	if (!found || found->breakpoint.watch)
		return;
	if (!found->refusal) {
		found->refusal = xstrdup(reason);
		found->is_untold = true;
	}
	rankset_add(&found->refused_by, rank);
}

const char *breakpoints_pending(const struct session *session, int id)
{
	static const char word[] = "pending: ";
	const char *found = NULL;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct debugger *debugger = &session->ranks[i]->debugger;

		for (size_t j = 0; j < debugger->binding_count; j++) {
			const char *message = debugger->bindings[j].message;

			if (debugger->bindings[j].id != id)
				continue;
			if (!message || strncmp(message, word, strlen(word)) != 0)
				return NULL;
			found = message + strlen(word);
		}
	}
	return found;
}

/* True if the rank's report is about an earlier breakpoint that had the same id. */
static bool is_of_former(const struct breakpoints *breakpoints, const struct rank *rank, int id)
{
	const struct session_breakpoint *item = breakpoints_find(breakpoints, id);

	return item && item->since > 0 && rank->breakpoints_taken <= item->since;
}

void breakpoints_take_refusals(struct breakpoints *breakpoints, const struct rank *rank)
{
	const struct debugger *debugger = &rank->debugger;

	for (size_t i = 0; i < debugger->binding_count; i++) {
		const struct breakpoint_binding *binding = &debugger->bindings[i];

		if (binding->is_refused && binding->message &&
		    !is_of_former(breakpoints, rank, binding->id))
			breakpoints_refused(breakpoints, rank->process.rank, binding->id,
					    binding->message);
	}
}

static void take_from(struct session *session, int id, int rank)
{
	struct breakpoints *list = &session->choice.breakpoints;
	struct session_breakpoint *found = breakpoints_find(list, id);

	if (!found || !found->breakpoint.is_temporary)
		return;
	if (id == list->setting) {
		rankset_add(&list->set_and_hit, rank);
		return;
	}
	if (found->is_everywhere) {
		found->is_everywhere = false;
		session_add_ranks(session, &found->ranks);
	}
	rankset_remove(&found->ranks, rank);
	if (found->ranks.range_count == 0)
		breakpoints_remove(list, id);
	else
		breakpoints_changed(list);
}

void breakpoints_name_stop(const struct breakpoints *breakpoints, struct debugger *debugger)
{
	if (debugger->reason != STOP_BREAKPOINT || debugger->hit_count != 1 ||
	    debugger->hits[0] != breakpoints->run_to)
		return;
	debugger->reason = STOP_STEP;
	debugger->at = STOP_AT_LINE;
	free(debugger->description);
	debugger->description = xstrdup("reached the line");
}

void breakpoints_stopped(struct session *session, const struct rank *rank)
{
	for (size_t i = 0; i < rank->debugger.hit_count; i++)
		take_from(session, rank->debugger.hits[i], rank->process.rank);
}

void breakpoints_begin_setting(struct breakpoints *breakpoints, int id)
{
	breakpoints->setting = id;
}

void breakpoints_end_setting(struct session *session)
{
	struct breakpoints *list = &session->choice.breakpoints;
	int id = list->setting;
	int rank = -1;

	list->setting = 0;
	while ((rank = rankset_next(&list->set_and_hit, rank)) >= 0)
		take_from(session, id, rank);
	rankset_clear(&list->set_and_hit);
}

void breakpoint_summary_clear(struct breakpoint_summary *summary)
{
	rankset_clear(&summary->ranks);
	rankset_clear(&summary->set);
	for (size_t i = 0; i < BREAKPOINT_BACKEND_COUNT; i++)
		rankset_clear(&summary->by[i]);
	*summary = (struct breakpoint_summary){ .id = 0 };
}

static const char *const backend_names[] = {
	[BREAKPOINT_BY_AGENT] = "http",
	[BREAKPOINT_BY_PTRACE] = "ptrace",
	[BREAKPOINT_BY_PDB] = "pdb",
};

const char *breakpoint_backend_name(enum breakpoint_backend backend)
{
	return backend_names[backend];
}

static void add_backend(struct breakpoint_summary *summary, int rank,
			const struct debugger *debugger)
{
	for (size_t i = 0; i < BREAKPOINT_BACKEND_COUNT; i++) {
		if (debugger_is_of(debugger, backend_names[i]))
			rankset_add(&summary->by[i], rank);
	}
	if (!debugger_is_of(debugger, "ptrace") || debugger->slots == 0)
		return;
	if (summary->slots == 0 || debugger->slots_free < summary->slots_free)
		summary->slots_free = debugger->slots_free;
	summary->slots = debugger->slots;
}

static void add_binding(struct breakpoint_summary *summary, const struct rank *of,
			const struct breakpoint_binding *binding)
{
	int rank = of->process.rank;

	rankset_add(&summary->ranks, rank);
	if (binding->message && !summary->message)
		summary->message = binding->message;
	if (binding->number == 0)
		return;
	/* Show the file and line of the first rank that has set the breakpoint. */
	if (binding->path && !summary->watch && summary->set.range_count == 0) {
		summary->path = binding->path;
		summary->line = binding->line;
	}
	rankset_add(&summary->set, rank);
	add_backend(summary, rank, &of->debugger);
	summary->hits += binding->hits;
	summary->hit_count += binding->hits > 0;
	if (binding->hits > summary->most_hits)
		summary->most_hits = binding->hits;
}

/* Adds what the debuggers of all ranks reported about the breakpoint. */
static void add_bindings(struct breakpoint_summary *summary, const struct session *session)
{
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];
		const struct debugger *debugger = &rank->debugger;

		for (size_t j = 0; j < debugger->binding_count; j++) {
			if (debugger->bindings[j].id == summary->id)
				add_binding(summary, rank, &debugger->bindings[j]);
		}
	}
}

/* Adds the ranks that had set the breakpoint, hit it, and so removed it, during its command. */
static void add_hit(struct breakpoint_summary *summary, const struct session *session)
{
	const struct breakpoints *list = &session->choice.breakpoints;
	int rank = -1;

	while (summary->id == list->setting &&
	       (rank = rankset_next(&list->set_and_hit, rank)) >= 0) {
		const struct rank *found = session_find_rank(session, rank);

		if (!found || rankset_contains(&summary->set, rank))
			continue;
		rankset_add(&summary->set, rank);
		add_backend(summary, rank, &found->debugger);
	}
}

/* Sets the message to the error of the first rank whose setBreakpoints request failed. */
static void add_refusals(struct breakpoint_summary *summary, const struct session *session)
{
	for (size_t i = 0; i < session->rank_count && !summary->message; i++) {
		const struct rank *rank = session->ranks[i];

		if (rankset_contains(&summary->ranks, rank->process.rank) &&
		    !rankset_contains(&summary->set, rank->process.rank))
			summary->message = rank->breakpoints_error;
	}
}

/*
 * Sets is_over. A watchpoint ends with its frame or object; the watchpoint's message then begins
 * with OVER. If no debugger is attached to the watchpoint's ranks any longer, the watchpoint has
 * ended, too.
 */
static void judge_watch(struct breakpoint_summary *summary, const struct session *session)
{
	bool is_left = true;

	for (size_t i = 0; i < session->rank_count && is_left; i++) {
		const struct rank *rank = session->ranks[i];

		is_left = !debugger_is_ours(&rank->debugger) ||
			  !rankset_contains(&summary->ranks, rank->process.rank);
	}
	if (is_left && !summary->message)
		summary->message = OVER "the frame has returned";
	summary->is_over = summary->set.range_count == 0 && summary->message &&
			   strncmp(summary->message, OVER, strlen(OVER)) == 0;
}

static void summarise(struct breakpoint_summary *summary, const struct session *session,
		      const struct session_breakpoint *item)
{
	*summary = (struct breakpoint_summary){
		.id = item->breakpoint.id,
		.own = &item->breakpoint,
		.path = item->breakpoint.path,
		.line = item->breakpoint.line,
		.watch = item->breakpoint.watch,
		.condition = item->breakpoint.condition,
		.log = item->breakpoint.log,
		.is_disabled = item->breakpoint.is_disabled,
		.is_temporary = item->breakpoint.is_temporary,
	};
	add_bindings(summary, session);
	add_hit(summary, session);
	if (item->is_everywhere)
		session_add_ranks(session, &summary->ranks);
	else
		rankset_unite(&summary->ranks, &item->ranks);
	add_refusals(summary, session);
	/* The rank that refused may be detached by now: show the refusal kept in item. */
	if (!summary->message && summary->set.range_count == 0)
		summary->message = item->refusal;
	if (summary->watch)
		judge_watch(summary, session);
}

/*
 * Summarises a breakpoint that is not in the session's list: set in pdb by a user, or set by the
 * probetui that wrote this recording.
 */
static void summarise_binding(struct breakpoint_summary *summary, const struct session *session,
			      const struct rank *rank, const struct breakpoint_binding *binding)
{
	*summary = (struct breakpoint_summary){
		.id = binding->id,
		.number = binding->number,
		.path = binding->path,
		.line = binding->line,
		.watch = binding->watch,
		.condition = binding->condition,
		.is_disabled = binding->is_disabled,
		.is_temporary = binding->is_temporary,
	};
	if (binding->id > 0)
		add_bindings(summary, session);
	else
		add_binding(summary, rank, binding);
}

/* True if the breakpoint is not in the session's list: set in pdb itself, or from a recording. */
static bool is_of_others(const struct session *session, const struct breakpoint_binding *binding)
{
	if (breakpoints_find(&session->choice.breakpoints, binding->id))
		return false;
	return binding->id == 0 || session->is_replay;
}

size_t breakpoint_summary_count(const struct session *session)
{
	const struct rank *rank = session_looked_at(session);
	size_t count = session->choice.breakpoints.count;

	for (size_t i = 0; rank && i < rank->debugger.binding_count; i++)
		count += is_of_others(session, &rank->debugger.bindings[i]);
	return count;
}

bool breakpoint_summary_make(struct breakpoint_summary *summary, const struct session *session,
			     size_t i)
{
	const struct breakpoints *list = &session->choice.breakpoints;
	const struct rank *rank = session_looked_at(session);

	if (i < list->count) {
		summarise(summary, session, &list->items[i]);
		return true;
	}
	i -= list->count;
	for (size_t j = 0; rank && j < rank->debugger.binding_count; j++) {
		const struct breakpoint_binding *binding = &rank->debugger.bindings[j];

		if (!is_of_others(session, binding))
			continue;
		if (i-- > 0)
			continue;
		summarise_binding(summary, session, rank, binding);
		return true;
	}
	return false;
}

bool breakpoint_summary_find(struct breakpoint_summary *summary, const struct session *session,
			     int id)
{
	for (size_t i = 0; breakpoint_summary_make(summary, session, i); i++) {
		if (summary->id == id)
			return true;
		breakpoint_summary_clear(summary);
	}
	return false;
}

bool breakpoint_is_at(const struct breakpoint_summary *summary, const char *path, int line)
{
	/* Until a debugger has resolved the file, path is what the user typed. */
	if (!summary->path || summary->line != line)
		return false;
	if (strcmp(summary->path, path) == 0)
		return true;
	return !strchr(summary->path, '/') && strcmp(summary->path, place_file_name(path)) == 0;
}

bool breakpoint_summary_at(struct breakpoint_summary *summary, const struct session *session,
			   const char *path, int line)
{
	for (size_t i = 0; breakpoint_summary_make(summary, session, i); i++) {
		if (breakpoint_is_at(summary, path, line))
			return true;
		breakpoint_summary_clear(summary);
	}
	return false;
}

static void append_backend(struct buffer *out, const struct breakpoint_summary *summary,
			   enum breakpoint_backend backend)
{
	bool is_one = rankset_count(&summary->by[backend]) == 1;

	switch (backend) {
	case BREAKPOINT_BY_AGENT:
		buffer_append_string(out, is_one ? "by its agent" : "by their agents");
		break;
	case BREAKPOINT_BY_PTRACE:
		buffer_append_string(out, "by hardware breakpoints");
		if (summary->slots > 0 && summary->slots_free == 0)
			buffer_printf(out, " (all %d in use)", summary->slots);
		break;
	case BREAKPOINT_BY_PDB:
		buffer_append_string(out, "by pdb");
		break;
	case BREAKPOINT_BACKEND_COUNT:
		break;
	}
}

void breakpoint_append_backends(struct buffer *out, const struct breakpoint_summary *summary)
{
	size_t all = rankset_count(&summary->set);
	bool is_first = true;

	for (int i = 0; i < BREAKPOINT_BACKEND_COUNT; i++) {
		const struct rankset *ranks = &summary->by[i];
		size_t count = rankset_count(ranks);

		if (count == 0)
			continue;
		if (!is_first)
			buffer_append_string(out, ", ");
		is_first = false;
		if (count < all) {
			rankset_append_named(out, ranks);
			buffer_append_char(out, ' ');
		}
		append_backend(out, summary, (enum breakpoint_backend)i);
	}
}

void breakpoint_append_hits(struct buffer *out, const struct breakpoint_summary *summary)
{
	size_t count = rankset_count(&summary->set);
	bool is_each =
		summary->hit_count == count && summary->hits == (int64_t)count * summary->most_hits;

	buffer_append_string(out, "hit ");
	text_count(out, (uint64_t)(is_each && count > 1 ? summary->most_hits : summary->hits));
	if (count > 1 && is_each)
		buffer_append_string(out, " each");
	else if (summary->hit_count > 1)
		buffer_printf(out, " in %zu ranks", summary->hit_count);
}

void breakpoint_append_place(struct buffer *out, const struct breakpoint_summary *summary)
{
	const char *text = summary->own ? summary->own->function : NULL;

	if (summary->watch) {
		text_escape(out, summary->watch, strlen(summary->watch));
		return;
	}
	if (!text)
		text = summary->path ? place_file_name(summary->path) : "?";
	text_escape(out, text, strlen(text));
	if (summary->path && summary->line > 0) {
		if (summary->own && summary->own->function) {
			const char *name = place_file_name(summary->path);

			buffer_append_string(out, " (");
			text_escape(out, name, strlen(name));
			buffer_printf(out, ":%d)", summary->line);
			return;
		}
		buffer_printf(out, ":%d", summary->line);
	}
}
