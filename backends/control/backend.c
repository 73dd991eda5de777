/*
 * The backend `ptrace` as a debugger: what can be asked of a process that is
 * stopped from outside, by its state.
 */
#include "backends/backend.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "backends/control/control.h"
#include "backends/control/tracee.h"
#include "backends/http/way.h"
#include "backends/node.h"
#include "backends/ptrace/memory.h"
#include "backends/ptrace/pyobject.h"
#include "backends/ptrace/pywalk.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/breakpoint.h"
#include "protocol/message.h"
#include "protocol/process.h"
#include "protocol/sample.h"
#include "protocol/stack.h"

static struct control *to_control(struct connection *connection)
{
	return (struct control *)connection;
}

static const struct control *lend_control(const struct connection *connection)
{
	return (const struct control *)connection;
}

static struct connection *control_open(struct node *node, const struct process *process,
				       const struct target *target, struct error *error)
{
	struct control *control;

	if (process->pid >= PROCESS_FIRST_STANDIN) {
		error_set(error,
			  "Only its debugger can be asked: the process is on another machine.");
		return NULL;
	}
	control = control_new(node, process, target != NULL, error);
	if (!control)
		return NULL;
	control->base.backend = &control_backend;
	return &control->base;
}

static bool control_opens_for(const struct process *process, enum request_kind kind,
			      const struct message *request)
{
	const json_t *list = json_object_get(request->body, "breakpoints");

	/* An agent in it has breakpoints without a limit, and runs code. */
	if (way_exists(process->pid, process->uid))
		return false;
	return kind == REQUEST_PAUSE ||
	       (kind == REQUEST_SET_BREAKPOINTS && json_array_size(list) > 0);
}

static void control_close(struct connection *connection)
{
	control_free(to_control(connection));
}

enum needs {
	NEEDS_NEVER, /* nothing helps: why and fix */
	NEEDS_CONNECTION,
	NEEDS_CODE, /* whose steps can be followed */
	NEEDS_STOP,
	NEEDS_BOTH,
};

struct row {
	enum needs needs;
	int (*send)(struct control *control, enum request_kind kind, const struct message *request,
		    struct error *error);
	const char *why;
	const char *fix;
};

static bool explain(struct reason *reason, const char *why, const char *fix)
{
	snprintf(reason->why, sizeof(reason->why), "%s", why);
	snprintf(reason->fix, sizeof(reason->fix), "%s", fix);
	return false;
}

static int send_pause(struct control *control, enum request_kind kind,
		      const struct message *request, struct error *error)
{
	int64_t tid = json_get_integer(request->body, "tid", 0);

	(void)kind;
	if (control_take_setting(control, request, error) < 0)
		return -1;
	if (tid < 0 || tid > INT_MAX)
		return error_set(error, "pause: \"tid\" is no thread.");
	if (control_pause(control, (pid_t)tid, error) < 0)
		return -1;
	node_respond(control->base.node, request, NULL, NULL);
	return 0;
}

static int send_evaluate(struct control *control, enum request_kind kind,
			 const struct message *request, struct error *error)
{
	(void)kind;
	return control_evaluate(control, request, error);
}

static int send_breakpoints(struct control *control, enum request_kind kind,
			    const struct message *request, struct error *error)
{
	(void)kind;
	return control_set_breakpoints(control, request, error);
}

#define READS "Stacks and variables are read beside the debugger."
#define NO_PROMPT                                                                                  \
	"It is stopped from outside: there is no debugger in it, and no "                          \
	"prompt."
#define NO_CODE "From outside no code is run in it."
#define NEEDS_INJECT "An agent in it does: probetui inject, or PROBETUI=1 at its start."
#define NEEDS_FREE "Detach: an agent that is in it leaves where the process runs."
#define NO_CHANGE "It is stopped from outside, which changes nothing in the process: "

static const struct row rows[REQUEST_KIND_COUNT] = {
	[REQUEST_SAMPLE] = { .why = READS },
	[REQUEST_SAMPLE_EXACT] = { .why = READS },
	[REQUEST_VARIABLES] = { .why = READS },
	[REQUEST_TENSOR] = { .why = READS },
	[REQUEST_PARAMETERS] = { .why = READS },
	[REQUEST_SOURCE] = { .why = "Source files are not asked of it." },
	[REQUEST_EVALUATE] = { NEEDS_STOP, .send = send_evaluate },
	[REQUEST_COMPLETIONS] = { .why = NO_CODE, .fix = NEEDS_INJECT },
	[REQUEST_SET_VARIABLE] = { .why = NO_CODE, .fix = NEEDS_INJECT },
	[REQUEST_EXECUTE] = { .why = NO_CODE, .fix = NEEDS_INJECT },
	[REQUEST_CATCH] = { .why = NO_CODE, .fix = NEEDS_INJECT },
	[REQUEST_EJECT] = { .why = NO_CODE, .fix = NEEDS_FREE },
	[REQUEST_WATCHDOG] = { .why = NO_CODE, .fix = NEEDS_INJECT },
	[REQUEST_SET_EXCEPTIONS] = { .why = NO_CODE, .fix = NEEDS_INJECT },
	[REQUEST_CONTINUE] = { NEEDS_STOP, .send = control_go },
	[REQUEST_NEXT] = { NEEDS_BOTH, .send = control_go },
	[REQUEST_STEP_IN] = { NEEDS_BOTH, .send = control_go },
	[REQUEST_STEP_OUT] = { NEEDS_BOTH, .send = control_go },
	[REQUEST_UNTIL] = { NEEDS_BOTH, .send = control_go },
	[REQUEST_JUMP] = { .why = NO_CHANGE "it continues where it is stopped.",
			   .fix = "A pdb in the process can jump." },
	[REQUEST_PAUSE] = { NEEDS_CONNECTION, .send = send_pause },
	[REQUEST_TERMINATE] = { .why = NO_CHANGE "nothing is raised in it.",
				.fix = "kill ends it." },
	[REQUEST_SET_BREAKPOINTS] = { NEEDS_CODE, .send = send_breakpoints },
	[REQUEST_TERMINAL] = { .why = NO_PROMPT },
	[REQUEST_TERMINAL_INPUT] = { .why = NO_PROMPT },
};

static bool has_stopped(const struct control *control, struct reason *reason)
{
	if (control->phase == CONTROL_STOPPED)
		return true;
	if (control->phase == CONTROL_STOPPING)
		return explain(reason, "It is just being stopped.", "");
	return explain(reason, "It runs: nothing has stopped it yet.",
		       "Pause it, or wait for a breakpoint.");
}

static bool control_can(const struct connection *connection, enum request_kind kind,
			const struct message *request, struct reason *reason)
{
	const struct control *control = lend_control(connection);
	const struct row *row = &rows[kind];
	struct reason unused;

	if (!reason)
		reason = &unused;
	*reason = (struct reason){ .fix = "" };
	if (control->is_gone)
		return explain(reason, "The process has ended.", "");
	/* Else cleared breakpoints would stop it again. */
	if (kind == REQUEST_SET_BREAKPOINTS && request &&
	    control_only_clears(control, json_object_get(request->body, "breakpoints")))
		return true;
	if (row->needs == NEEDS_NEVER)
		return explain(reason, row->why, row->fix ? row->fix : "");
	/* A pause is withdrawn before it is told. */
	if (kind == REQUEST_CONTINUE && control_is_pausing(control))
		return true;
	if (row->needs >= NEEDS_STOP && !has_stopped(control, reason))
		return false;
	if (row->needs == NEEDS_CODE || row->needs == NEEDS_BOTH)
		return control_can_step(control, reason);
	return true;
}

static int control_send(struct connection *connection, enum request_kind kind,
			const struct message *request, struct error *error)
{
	return rows[kind].send(to_control(connection), kind, request, error);
}

/* Whether the newest frame of the thread, as it has it, is its stop's. */
static bool is_newest(struct control *control, const struct control_thread *thread)
{
	struct pywalk walk = { .frames = NULL };
	bool result;

	memory_begin(control->memory, false);
	pywalk_read(&walk, control->memory, &control->python, thread->tstate);
	result = walk.count > 0 && walk.frames[0].address == thread->place->frame;
	pywalk_clear(&walk);
	return result;
}

/* Its row, though who read the process did not see it. */
static struct thread_sample *find_shown(const struct control *control,
					struct process_sample *sample)
{
	struct thread_sample *added;

	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].tid == control->shown)
			return &sample->threads[i];
	added = process_sample_add(sample);
	added->tid = control->shown;
	added->is_main = added->tid == sample->pid;
	return added;
}

/* Of one that did not come to stand the stack is what was read, if it was. */
static void amend_shown(struct control *control, struct thread_sample *sample, bool stands)
{
	const struct control_thread *thread = control_find(control, control->shown);
	bool has_frames = sample->stack && sample->stack->frame_count > 0;

	if (!thread || !thread->place || !thread->place->frame || (!stands && has_frames))
		return;
	sample->stack = place_amend(thread->place, has_frames && is_newest(control, thread),
				    sample->stack, node_stacks(control->base.node));
	sample->native = NULL;
}

static bool amend_thread(struct control *control, struct thread_sample *sample)
{
	const struct control_thread *thread = control_find(control, sample->tid);

	if (!thread || !thread->is_wanted || !tracee_is_stopped(control->tracee, thread->tid))
		return false;
	sample->state = THREAD_STOPPED;
	if (sample->stack || thread->tid == control->shown)
		sample->exactness = EXACT;
	return true;
}

static void control_amend(struct connection *connection, struct process_sample *sample)
{
	struct control *control = to_control(connection);
	struct thread_sample *shown;

	if (control->phase != CONTROL_STOPPED)
		return;
	shown = find_shown(control, sample);
	amend_shown(control, shown, amend_thread(control, shown));
	for (size_t i = 0; i < sample->thread_count; i++)
		amend_thread(control, &sample->threads[i]);
}

static const struct debugger *control_debugger(const struct connection *connection)
{
	return &lend_control(connection)->debugger;
}

const struct backend control_backend = {
	.name = "ptrace",
	.help = "stops and steps the process from outside",
	.open = control_open,
	.opens_for = control_opens_for,
	.can = control_can,
	.send = control_send,
	.amend = control_amend,
	.debugger = control_debugger,
	.close = control_close,
};
