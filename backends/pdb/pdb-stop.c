#include "backends/pdb/pdb-stop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/pdb/pdb-bindings.h"
#include "backends/pdb/pdb-requests.h"
#include "backends/pdb/pdb-session-private.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "protocol/debugger.h"
#include "protocol/sample.h"
#include "protocol/stack.h"

struct place {
	struct code code;
	int line;
};

struct pdb_stop {
	struct place *places; /* innermost first */
	size_t count;
	int index;
	int nesting;
	pid_t tid;
	enum stop_event at;
	bool is_post_mortem;
	double lease;
	char *prompt;
	char *python;
	char *dialect;
	char *value;
	char *exception;
};

void pdb_stop_free(struct pdb_stop *stop)
{
	if (!stop)
		return;
	for (size_t i = 0; i < stop->count; i++) {
		free(stop->places[i].code.func);
		free(stop->places[i].code.qualname);
		free(stop->places[i].code.file);
	}
	free(stop->places);
	free(stop->prompt);
	free(stop->python);
	free(stop->dialect);
	free(stop->value);
	free(stop->exception);
	free(stop);
}

static void pdb_stop_read_frame(struct place *place, const json_t *frame)
{
	place->code = (struct code){
		.func = xstrdup(json_get_string(frame, "func", "?")),
		.qualname = xstrdup_or_null(json_get_string(frame, "qualname", NULL)),
		.file = xstrdup(json_get_string(frame, "file", "?")),
		.first_lineno = json_get_count(frame, "first"),
		.type = FRAME_PYTHON,
	};
	place->line = json_get_count(frame, "line");
}

static void read_frames(struct pdb_stop *stop, const json_t *frames)
{
	size_t count = json_array_size(frames);

	if (count > STACK_FRAMES_MAXIMUM)
		count = STACK_FRAMES_MAXIMUM;
	stop->places = xcalloc(count + 1, sizeof(*stop->places));
	for (size_t i = 0; i < count; i++)
		pdb_stop_read_frame(&stop->places[i], json_array_get(frames, i));
	stop->count = count;
}

static void pdb_stop_append_exception(struct buffer *out, const char *relation,
				      const json_t *exception)
{
	debugger_append_exception(out, relation, json_get_string(exception, "type", "an exception"),
				  json_get_string(exception, "message", ""));
}

/* Returns the exception as text, with a line for each earlier exception of its chain. */
static char *read_exception(const json_t *exception)
{
	const json_t *chain = json_object_get(exception, "chain");
	struct buffer out = BUFFER_INIT;

	if (!json_get_string(exception, "type", NULL))
		return NULL;
	pdb_stop_append_exception(&out, NULL, exception);
	for (size_t i = 0; i < json_array_size(chain); i++) {
		const json_t *before = json_array_get(chain, i);

		pdb_stop_append_exception(&out, json_get_string(before, "relation", ""), before);
	}
	return buffer_take(&out);
}

/*
 * Returns the thread's tid on the node; 0: unknown. In a container the process sees other numbers:
 * then only the tid of the main thread is known.
 */
static pid_t pdb_stop_find_thread(const json_t *answer, pid_t pid)
{
	pid_t inner = (pid_t)json_get_count(answer, "pid");
	pid_t tid = (pid_t)json_get_count(answer, "tid");

	if (tid == inner)
		return pid;
	return inner == pid || inner == 0 ? tid : 0;
}

struct pdb_stop *pdb_stop_new(const json_t *answer, pid_t pid, struct error *error)
{
	const json_t *frames = json_object_get(answer, "frames");
	struct pdb_stop *stop;

	if (!json_is_array(frames) || !json_get_string(answer, "prompt", NULL)) {
		error_set(error, "the debugger's report of its state is invalid");
		return NULL;
	}
	stop = xcalloc(1, sizeof(*stop));
	read_frames(stop, frames);
	stop->index = json_get_count(answer, "index");
	stop->nesting = json_get_count(answer, "nesting");
	stop->tid = pdb_stop_find_thread(answer, pid);
	stop->at = stop_event_parse(json_get_string(answer, "event", ""));
	stop->is_post_mortem = json_get_boolean(answer, "post_mortem", false);
	stop->lease = json_get_real(answer, "lease", -1);
	stop->prompt = xstrdup(json_get_string(answer, "prompt", ""));
	stop->python = xstrdup(json_get_string(answer, "python", ""));
	stop->dialect = xstrdup(json_get_string(answer, "dialect", "pdb"));
	stop->value = xstrdup_or_null(json_get_string(answer, "value", NULL));
	stop->exception = read_exception(json_object_get(answer, "exception"));
	return stop;
}

bool pdb_stop_is_same(const struct pdb_stop *stop, const struct pdb_stop *other)
{
	if (!stop || !other || stop->count != other->count || stop->tid != other->tid ||
	    stop->at != other->at || stop->is_post_mortem != other->is_post_mortem)
		return false;
	for (size_t i = 0; i < stop->count; i++) {
		const struct place *a = &stop->places[i];
		const struct place *b = &other->places[i];

		if (a->line != b->line || a->code.first_lineno != b->code.first_lineno ||
		    strcmp(a->code.func, b->code.func) != 0 ||
		    strcmp(a->code.file, b->code.file) != 0)
			return false;
	}
	return true;
}

int pdb_stop_index(const struct pdb_stop *stop)
{
	return stop->index;
}

int pdb_stop_frame_count(const struct pdb_stop *stop)
{
	return (int)stop->count;
}

int pdb_stop_line(const struct pdb_stop *stop, int depth)
{
	return stop->places[depth].line;
}

int pdb_stop_nesting(const struct pdb_stop *stop)
{
	return stop->nesting;
}

const char *pdb_stop_python(const struct pdb_stop *stop)
{
	return stop->python;
}

const char *pdb_stop_prompt(const struct pdb_stop *stop)
{
	return stop->prompt;
}

static void pdb_stop_replace(char **text, const char *with)
{
	free(*text);
	*text = xstrdup_or_null(with);
}

void pdb_stop_describe(const struct pdb_stop *stop, struct debugger *debugger)
{
	debugger->tid = stop->tid;
	debugger->at = stop->at;
	debugger->is_post_mortem = stop->is_post_mortem;
	debugger->lease = stop->lease;
	pdb_stop_replace(&debugger->dialect, stop->dialect);
	pdb_stop_replace(&debugger->value, stop->value);
	pdb_stop_replace(&debugger->exception, stop->exception);
}

static const struct stack *intern(const struct pdb_stop *stop, struct stack_table *stacks)
{
	struct frame *frames = xcalloc(stop->count + 1, sizeof(*frames));
	const struct stack *stack;

	for (size_t i = 0; i < stop->count; i++) {
		frames[i].code = stack_table_code(stacks, &stop->places[i].code);
		frames[i].lineno = stop->places[i].line;
	}
	stack = stack_table_stack(stacks, frames, stop->count, 0);
	free(frames);
	return stack;
}

static struct thread_sample *pdb_stop_find_sample(struct process_sample *sample, pid_t tid)
{
	struct thread_sample *thread;

	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].tid == tid)
			return &sample->threads[i];
	if (sample->thread_count >= SAMPLE_THREADS_MAXIMUM)
		return NULL;
	thread = process_sample_add(sample);
	thread->tid = tid;
	thread->is_main = tid == sample->pid;
	return thread;
}

void pdb_stop_amend(const struct pdb_stop *stop, struct stack_table *stacks,
		    struct process_sample *sample)
{
	struct thread_sample *thread;

	if (stop->tid == 0 && sample->thread_count > 0)
		thread = &sample->threads[0];
	else
		thread = pdb_stop_find_sample(sample, stop->tid ? stop->tid : sample->pid);
	if (!thread)
		return;
	thread->stack = intern(stop, stacks);
	thread->native = NULL;
	thread->state = THREAD_STOPPED;
	thread->exactness = EXACT;
	/* The sampled system call is that of the debugger, which reads a line. */
	thread->syscall = -1;
	free(thread->error);
	thread->error = NULL;
}

/*
 * True if this is still the stop before: questions and lines typed at the prompt do not resume the
 * program.
 */
static bool is_same_stop(const struct pdb_session *session, const struct pdb_stop *before)
{
	return (session->resumed_by == RESUMED_BY_NOBODY || session_was_typed(session)) &&
	       pdb_stop_is_same(before, session->stop);
}

/*
 * Decides whether the held output was the debugger's, which is dropped, or the program's, which is
 * passed on.
 */
static void settle_held(struct pdb_session *session, bool is_same)
{
	if (is_same || session->typing)
		session_drop_held(session);
	else
		session_release_program(session);
}

static const char *const at_descriptions[] = {
	[STOP_AT_UNKNOWN] = NULL,	   [STOP_AT_LINE] = NULL,
	[STOP_AT_CALL] = "call",	   [STOP_AT_RETURN] = "return",
	[STOP_AT_EXCEPTION] = "exception",
};

static void pdb_stop_requests_find_reason(struct pdb_session *session, const json_t *answer)
{
	struct debugger *debugger = &session->debugger;
	const char *description = at_descriptions[debugger->at];
	const char *failure = json_get_string(answer, "condition_error", NULL);
	size_t numbers = json_array_size(json_object_get(answer, "hit"));
	char text[64];

	debugger->reason = session->resumed_by == RESUMED_BY_STEP || session_was_typed(session)
				   ? STOP_STEP
				   : STOP_ENTRY;
	if (debugger->is_post_mortem || debugger->at == STOP_AT_EXCEPTION)
		debugger->reason = STOP_EXCEPTION;
	if (numbers > 0) {
		debugger->reason = STOP_BREAKPOINT;
		description = "breakpoint";
	}
	if (debugger->hit_count > 0) {
		snprintf(text, sizeof(text), "breakpoint %d", debugger->hits[0]);
		description = text;
	}
	free(debugger->description);
	debugger->description = description && failure ? xasprintf("%s: condition failed: %.200s",
								   description, failure)
						       : xstrdup_or_null(description);
}

/* Learns the prompt without its colours. */
static void learn_prompt(struct pdb_session *session, const char *text)
{
	struct buffer lines = BUFFER_INIT;
	struct pdbprompt plain;

	pdbprompt_init(&plain);
	pdbprompt_feed(&plain, text, strlen(text), &lines);
	if (plain.line.length > 0)
		pdbprompt_learn(&session->prompt, plain.line.data);
	pdbprompt_clear(&plain);
	buffer_clear(&lines);
}

static void finish_typing(struct pdb_session *session, const char *said)
{
	struct order *order = session->typing;

	session->typing = NULL;
	if (order)
		order_typed(session, order, said);
	order_free(order);
}

/*
 * Called for pdb's `debug`, which runs a debugger inside the debugger. The reported stop is that of
 * the outer debugger.
 */
static void enter_debug(struct pdb_session *session, struct pdb_stop *owned_stop)
{
	if (session->stop)
		pdb_stop_free(owned_stop);
	else
		session->stop = owned_stop;
	session_drop_held(session);
	session->resumed_by = RESUMED_BY_NOBODY;
	pdb_session_tell_state(
		session, DEBUGGER_NESTED,
		"the program is in a nested debugger (pdb's command debug; q quits it)");
}

static void enter_stop(struct pdb_session *session, const json_t *answer,
		       struct pdb_stop *owned_stop)
{
	struct debugger *debugger = &session->debugger;
	struct pdb_stop *before = session->stop;
	bool was_stopped = debugger->state == DEBUGGER_STOPPED;
	bool is_same;

	session->stop = owned_stop;
	is_same = is_same_stop(session, before);
	settle_held(session, is_same);
	pdb_stop_free(before);
	pdb_stop_describe(owned_stop, debugger);
	pdb_bindings_refresh(debugger, answer);
	if (!is_same) {
		debugger->stops++;
		pdb_bindings_count_stop(debugger);
		session->stopped_at = loop_now();
		pdb_stop_requests_find_reason(session, answer);
	}
	snprintf(session->base.version, sizeof(session->base.version), "%s",
		 pdb_stop_python(owned_stop));
	debugger->state = DEBUGGER_STOPPED;
	pdb_session_set_why(session, NULL);
	session->resumed_by = RESUMED_BY_NOBODY;
	if (session->breakpoints) {
		session_put_first(session, order_new_breakpoints(session->breakpoints));
		session->breakpoints = NULL;
	} else if (is_same && was_stopped) {
		pdb_session_tell_again(session);
	} else {
		pdb_session_tell(session);
	}
}

void session_take_stop(struct pdb_session *session, const json_t *answer,
		       struct pdb_stop *owned_stop)
{
	char *said = xstrdup(session->held.data);

	session->is_guarded = json_get_boolean(answer, "guarded", false);
	learn_prompt(session, pdb_stop_prompt(owned_stop));
	if (pdb_stop_nesting(owned_stop) > 0)
		enter_debug(session, owned_stop);
	else
		enter_stop(session, answer, owned_stop);
	finish_typing(session, said);
	free(said);
}
