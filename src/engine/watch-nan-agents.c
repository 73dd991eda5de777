/*
 * watch-nan-agents: ranks whose agents report a NaN when it is assigned. The agent's data
 * breakpoint stops the rank for a moment even if the user does not want ranks to stop; the rank is
 * resumed once the step is known.
 */
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/log.h"
#include "engine/breakpoint-sync.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/request.h"
#include "engine/watch-nan.h"
#include "model/breakpoints.h"
#include "model/place.h"

/* True if the rank's agent answers, and no other debugger is connected. */
static bool watch_nan_agents_has_agent(const struct session *session, const json_t *row)
{
	const json_t *ways = json_object_get(row, "ways");
	const struct rank *rank =
		session_find_rank(session, (int)json_get_integer(row, "rank", -1));

	if (!rank ||
	    (debugger_is_ours(&rank->debugger) && !debugger_is_of(&rank->debugger, "http")))
		return false;
	for (size_t i = 0; i < json_array_size(ways); i++) {
		const json_t *way = json_array_get(ways, i);

		if (strcmp(json_get_string(way, "way", ""), "agent") == 0)
			return json_get_boolean(way, "ok", false);
	}
	return false;
}

static void add_breakpoint(struct engine *engine, const struct rankset *ranks)
{
	struct watch_nan *watch = &engine->watch_nan;
	struct breakpoints *list = &engine->session.choice.breakpoints;
	struct error error = ERROR_INIT;
	struct session_breakpoint *added = breakpoints_add(list, &error);

	if (!added) {
		log_write(LOG_WARNING, "watch-nan: %s", error.message);
		return;
	}
	added->breakpoint.watch = xstrdup(watch->expression);
	added->breakpoint.is_nan = true;
	rankset_copy(&added->ranks, ranks);
	watch->breakpoint = added->breakpoint.id;
	breakpoints_changed(list);
	breakpoint_sync_tell(engine, 0);
}

static void take_ways(struct engine *engine, void *data)
{
	struct request_group *ways = engine->watch_nan.ways;
	struct rankset ranks = RANKSET_INIT;
	struct group_answer answer;

	(void)data;
	while (request_group_take(ways, &answer)) {
		const json_t *rows = json_object_get(answer.body, "ranks");

		for (size_t i = 0; !answer.error && i < json_array_size(rows); i++) {
			const json_t *row = json_array_get(rows, i);

			if (watch_nan_agents_has_agent(&engine->session, row))
				rankset_add(&ranks, (int)json_get_integer(row, "rank", -1));
		}
	}
	request_group_free(ways);
	engine->watch_nan.ways = NULL;
	if (rankset_count(&ranks) > 0)
		add_breakpoint(engine, &ranks);
	rankset_clear(&ranks);
}

void watch_nan_ask_agents(struct engine *engine)
{
	struct watch_nan *watch = &engine->watch_nan;
	struct request_group *ways = request_group_new(engine, NULL, take_ways, NULL);
	int rank = -1;

	while ((rank = rankset_next(&watch->ranks, rank)) >= 0) {
		const struct rank *found = session_find_rank(&engine->session, rank);

		if (found && found->process.pid > 0 && !rank_is_gone(found))
			request_group_add(ways, found->node, rank, "diagnose",
					  json_pack("{s:[i]}", "pids", (int)found->process.pid),
					  NULL);
	}
	if (request_group_count(ways) > 0)
		watch->ways = ways;
	else
		request_group_free(ways);
}

static bool is_set_in(const struct rank *rank, int id)
{
	for (size_t i = 0; i < rank->debugger.binding_count; i++)
		if (rank->debugger.bindings[i].id == id)
			return rank->debugger.bindings[i].number != 0;
	return false;
}

void watch_nan_note_armed(struct engine *engine)
{
	struct watch_nan *watch = &engine->watch_nan;
	int rank = -1;

	if (watch->breakpoint == 0)
		return;
	rankset_clear(&watch->exact);
	while ((rank = rankset_next(&watch->ranks, rank)) >= 0) {
		const struct rank *found = session_find_rank(&engine->session, rank);

		if (found && is_set_in(found, watch->breakpoint))
			rankset_add(&watch->exact, rank);
	}
	rankset_intersect(&watch->settled, &watch->exact);
}

bool watch_nan_is_armed(const struct engine *engine)
{
	const struct watch_nan *watch = &engine->watch_nan;
	const struct session_breakpoint *item =
		breakpoints_find(&engine->session.choice.breakpoints, watch->breakpoint);
	int rank = -1;

	if (watch->state != WATCH_NAN_LOOKING)
		return true;
	if (watch->ways)
		return false;
	while (item && (rank = rankset_next(&item->ranks, rank)) >= 0)
		if (!rankset_contains(&watch->exact, rank) &&
		    !rankset_contains(&item->refused_by, rank))
			return false;
	return true;
}

void watch_nan_disarm(struct engine *engine)
{
	struct watch_nan *watch = &engine->watch_nan;
	struct breakpoints *list = &engine->session.choice.breakpoints;

	if (watch->breakpoint == 0 || !breakpoints_find(list, watch->breakpoint))
		return;
	breakpoints_remove(list, watch->breakpoint);
	breakpoints_changed(list);
	breakpoint_sync_tell(engine, 0);
}

static bool watch_nan_agents_is_for(const struct stop *stop, int id)
{
	for (size_t i = 0; i < stop->hit_count && !stop->said; i++)
		if (stop->hits[i] == id)
			return true;
	return false;
}

/*
 * Returns the name of the tensor, "b.weight" for "b.weight of model"; NULL for the watched value
 * itself.
 */
static char *tensor_of(const struct watch_nan *watch, const char *said, size_t length)
{
	char *end = xasprintf(" of %s", watch->expression);
	size_t behind = strlen(end);
	char *name = NULL;

	if (length > behind && strncmp(said + length - behind, end, behind) == 0)
		name = xasprintf("%.*s", (int)(length - behind), said);
	free(end);
	return name;
}

/*
 * Returns the position of " is nan" in "b.weight of model is nan"; NULL if not found. The last
 * match is taken, as dict keys come first and may contain these words.
 */
static const char *find_verb(const struct watch_nan *watch, const char *said)
{
	char *subject = xasprintf("%s is ", watch->expression);
	const char *found = NULL;

	for (const char *at = said; (at = strstr(at, subject)) != NULL; at++)
		found = at + strlen(watch->expression);
	free(subject);
	return found;
}

static void watch_nan_agents_take(struct watch_nan *watch, const struct stop *stop)
{
	struct nan_find *find = &watch->found;
	const char *said = stop->value ? stop->value : stop->description;
	const char *is = find_verb(watch, said);

	find->rank = stop->rank;
	find->is_exact = true;
	find->nan_count = find->infinity_count = -1;
	find->value = xstrdup(is ? is + strlen(" is ") : said);
	find->tensor = is ? tensor_of(watch, said, (size_t)(is - said)) : NULL;
	if (!stop->func)
		return;
	find->func = xstrdup(stop->func);
	find->file = xstrdup(stop->file);
	find->line = stop->line;
}

void watch_nan_release(struct engine *engine, int rank)
{
	const struct rank *found = session_find_rank(&engine->session, rank);

	if (!engine->watch_nan.found.is_exact || engine->watch_nan.stops || !found ||
	    found->debugger.state != DEBUGGER_STOPPED)
		return;
	request_post(engine, found->node, "continue",
		     json_pack("{s:i}", "pid", (int)found->process.pid));
}

bool watch_nan_take_stop(struct engine *engine)
{
	struct watch_nan *watch = &engine->watch_nan;
	const struct stops *stops = &engine->session.stops;
	bool is_new = false;

	while (watch->breakpoint != 0 && watch->stops_seen < stops->count) {
		const struct stop *stop = stops_find(stops, watch->stops_seen++);

		if (!stop || !watch_nan_agents_is_for(stop, watch->breakpoint))
			continue;
		if (watch->state == WATCH_NAN_LOOKING && !is_new) {
			is_new = true;
			watch_nan_agents_take(watch, stop);
		} else {
			/* This rank stopped for the same NaN, which has spread. */
			watch_nan_release(engine, stop->rank);
		}
	}
	return is_new;
}

/* Appends a sentence about the found NaN. */

void watch_nan_append(struct buffer *out, const struct watch_nan *watch)
{
	const struct nan_find *find = &watch->found;

	buffer_printf(out, "Rank %d: ", find->rank);
	if (watch->is_of_gradients)
		buffer_append_string(out, "the gradient of ");
	if (find->tensor) {
		format_text(out, find->tensor);
		buffer_append_string(out, " of ");
	}
	buffer_printf(out, "%s is ", watch->expression);
	format_text(out, find->value);
	if (find->func) {
		buffer_append_string(out, ", in ");
		format_text(out, find->func);
		buffer_append_string(out, " (");
		format_text(out, place_file_name(find->file));
		buffer_printf(out, ":%d)", find->line);
	}
	if (find->step_name) {
		buffer_printf(out, ", %s ", find->step_name);
		format_text(out, find->step_value);
	}
	buffer_append_string(
		out, find->is_exact ? "." : "; found by a sample, so the value may be older.");
}

static json_t *watch_nan_tell_frame_to_json(const struct nan_find *find)
{
	json_t *json;

	if (!find->func)
		return json_null();
	json = json_object();
	json_object_set_new(json, "func", json_text(find->func));
	json_object_set_new(json, "file", json_text(find->file));
	json_object_set_new(json, "lineno", json_integer(find->line));
	json_object_set_new(json, "depth", json_integer(find->depth));
	return json;
}

static json_t *count_to_json(int64_t count)
{
	return count < 0 ? json_null() : json_integer(count);
}

json_t *watch_nan_to_json(const struct watch_nan *watch)
{
	const struct nan_find *find = &watch->found;
	json_t *json = json_object();
	json_t *step = json_null();

	if (find->step_name) {
		step = json_object();
		json_object_set_new(step, "name", json_text(find->step_name));
		json_object_set_new(step, "value", json_text(find->step_value));
	}
	json_object_set_new(json, "event", json_string("nan"));
	json_object_set_new(json, "expr", json_text(watch->expression));
	json_object_set_new(json, "rank", json_integer(find->rank));
	json_set_text(json, "tensor", find->tensor);
	json_object_set_new(json, "value", json_text(find->value));
	json_object_set_new(json, "nan", count_to_json(find->nan_count));
	json_object_set_new(json, "inf", count_to_json(find->infinity_count));
	json_object_set_new(json, "frame", watch_nan_tell_frame_to_json(find));
	json_object_set_new(json, "step", step);
	json_object_set_new(json, "exact", json_boolean(find->is_exact));
	return json;
}

void watch_nan_append_way(struct buffer *out, const struct watch_nan *watch)
{
	struct rankset others = RANKSET_INIT;

	buffer_printf(out, "watch-nan %s%s: ", watch->is_of_gradients ? "--gradients " : "",
		      watch->expression);
	rankset_copy(&others, &watch->ranks);
	rankset_subtract(&others, &watch->exact);
	if (rankset_count(&watch->exact) > 0) {
		rankset_append_named(out, &watch->exact);
		buffer_append_string(out, " checked at each line by agents");
	}
	if (rankset_count(&others) > 0) {
		if (rankset_count(&watch->exact) > 0)
			buffer_append_string(out, "; ");
		rankset_append_named(out, &others);
		buffer_append_string(out, " checked by samples: a NaN may be reported late");
	}
	rankset_clear(&others);
}

void watch_nan_append_event(struct command_context *context)
{
	struct watch_nan *watch = &context->engine->watch_nan;

	if (watch->state != WATCH_NAN_FOUND || watch->is_told)
		return;
	watch->is_told = true;
	context->status = STATUS_FINDING;
	if (context->is_json) {
		format_document(context->out, watch_nan_to_json(watch));
		return;
	}
	watch_nan_append(context->out, watch);
	buffer_append_char(context->out, '\n');
}
