#include "engine/breaking.h"

#include "banned.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/engine.h"
#include "engine/pending.h"
#include "model/breakpoints.h"

/* One that has not answered yet is told when it has. */
static bool is_reachable(const struct rank *rank)
{
	return !rank_is_gone(rank) && debugger_is_ours(&rank->debugger) &&
	       rank->debugger.state != DEBUGGER_CONNECTING;
}

void breaking_ask(struct engine *engine, struct pending *pending)
{
	const struct session *session = &engine->session;
	const struct breakpoints *list = &session->choice.breakpoints;

	for (size_t i = 0; i < session->rank_count; i++) {
		struct rank *rank = session->ranks[i];
		json_t *arguments;

		if (!is_reachable(rank) ||
		    rank->breakpoints_sent == list->revision)
			continue;
		rank->breakpoints_sent = list->revision;
		arguments = json_object();
		json_object_set_new(arguments, "pid",
				    json_integer(rank->process.pid));
		json_object_set_new(
			arguments, "breakpoints",
			breakpoints_to_json(list, rank->process.rank));
		pending_add(pending, engine, rank->process.rank,
			    "setBreakpoints", arguments);
	}
}

void breaking_tell(struct engine *engine)
{
	struct pending *pending;

	if (engine->session.choice.breakpoints.revision == 0)
		return;
	pending = pending_new("break");
	breaking_ask(engine, pending);
	if (pending->count > 0)
		pending_leave(engine, pending);
	else
		pending_free(pending);
}

void breaking_check(const struct engine *engine,
		    const struct pending_answer *answer,
		    struct failures *failures)
{
	const json_t *bindings = json_object_get(answer->body, "breakpoints");
	int newest = engine->session.choice.breakpoints.last_id;
	const struct rank *rank =
		session_find_rank(&engine->session, answer->rank);

	/* One that runs has it where it stops next: nothing is wrong. */
	if (!rank || rank->debugger.state != DEBUGGER_STOPPED)
		return;
	for (size_t i = 0; i < json_array_size(bindings); i++) {
		const json_t *binding = json_array_get(bindings, i);
		const char *message = json_get_string(binding, "message", NULL);

		/* It stopped since, and has it, or had it for once. */
		if (json_get_boolean(binding, "pending", false))
			continue;
		if (message && json_get_integer(binding, "id", 0) == newest)
			failures_add(failures, answer->rank, message);
	}
}
