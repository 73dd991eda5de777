#include "engine/remote.h"

#include <stdbool.h>
#include <sys/resource.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/loop.h"
#include "engine/engine.h"
#include "engine/link.h"
#include "engine/request.h"
#include "engine/transport.h"

#define RENEW_SECONDS 2.0
/* A node that has answered before is silent after so many seconds without a message. */
#define SILENT_SECONDS 6.0
/* A node must have answered for the first time after FIRST_SECONDS and EACH_SECONDS per node. */
#define FIRST_SECONDS 3.0
#define EACH_SECONDS 0.02

/* Each machine takes three descriptors; the limit is often 1,024. */
static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int remote_start(struct engine *engine, struct error *error)
{
	const struct settings *settings = &engine->settings;
	const struct transport_flags flags = { settings->ssh_args, settings->srun_args };
	struct machines machines = MACHINES_INIT;
	int result = 0;

	for (size_t i = 0; result == 0 && i < settings->machine_count; i++)
		result = machines_add(&machines, settings->machines[i], &flags, error);
	raise_file_limit();
	engine->links = xcalloc(machines.count + 1, sizeof(struct link *));
	for (size_t i = 0; result == 0 && i < machines.count; i++) {
		const struct machine *machine = &machines.items[i];
		struct link *link = link_start_client(machine, error);

		if (!link) {
			result = -1;
			break;
		}
		link_set_number(link, session_add_node(&engine->session, machine->name));
		engine->session.nodes[i].is_named = true;
		engine->links[engine->link_count++] = link;
	}
	machines_clear(&machines);
	return result == 0 ? 0 : error_prefix(error, "--on");
}

static void mark_silent(struct engine *engine, size_t node)
{
	const struct session_node *silent = &engine->session.nodes[node];
	struct error why = ERROR_INIT;

	if (silent->is_silent || !link_is_open(engine->links[node]))
		return;
	session_set_silent(&engine->session, node, true);
	error_set(&why, "%s has not answered", silent->name);
	requests_lose(engine, node, why.message);
	requests_complete(engine);
	engine_settle(engine);
}

static void on_first_due(void *data)
{
	struct engine *engine = data;

	loop_timer_stop(engine->remote.first);
	engine->remote.first = NULL;
	for (size_t i = 0; i < engine->link_count; i++) {
		if (engine->session.nodes[i].output_at < 0)
			mark_silent(engine, i);
	}
}

static void on_renew(void *data)
{
	struct engine *engine = data;
	struct remote *remote = &engine->remote;
	double now = engine_now(engine);
	bool is_late = now - remote->renewed_at > 2 * RENEW_SECONDS;

	remote->renewed_at = now;
	request_post_all(engine, "renew", json_object());
	/* This program did not run (SIGSTOP): answers may wait in the pipes. */
	if (is_late)
		return;
	for (size_t i = 0; i < engine->link_count; i++) {
		double output_at = engine->session.nodes[i].output_at;

		if (output_at >= 0 && now - output_at > SILENT_SECONDS)
			mark_silent(engine, i);
	}
}

void remote_watch(struct engine *engine)
{
	struct remote *remote = &engine->remote;
	const struct settings *settings = &engine->settings;
	double seconds = (settings->has_timeout ? settings->timeout : FIRST_SECONDS) +
			 EACH_SECONDS * (double)engine->link_count;

	remote->renewed_at = engine_now(engine);
	remote->timer = loop_timer(engine->loop, RENEW_SECONDS, RENEW_SECONDS, on_renew, engine);
	remote->first = loop_timer(engine->loop, seconds, 0, on_first_due, engine);
}

void remote_note_output(struct engine *engine, size_t node)
{
	struct session_node *writer = &engine->session.nodes[node];

	writer->output_at = engine_now(engine);
	if (!writer->is_silent)
		return;
	session_set_silent(&engine->session, node, false);
	/* What was not sent meanwhile. */
	if (engine->sampling_period > 0)
		engine_sample_every(engine, engine->sampling_period);
}

void remote_clear(struct engine *engine)
{
	struct remote *remote = &engine->remote;

	if (remote->timer)
		loop_timer_stop(remote->timer);
	if (remote->first)
		loop_timer_stop(remote->first);
	*remote = (struct remote){ .timer = NULL };
}
