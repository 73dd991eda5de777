#include "engine/cause.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/text.h"
#include "engine/engine.h"
#include "engine/evidence.h"

#define COLUMNS 160 /* of an exception in a sentence */
/* A rank whose connection to another one was lost ends at most so many seconds after that one. */
#define LOSS_SECONDS 60.0
/* A rank that has closed its connections exits within so many seconds. */
#define EXIT_SECONDS 10.0

bool cause_has_failed(const struct rank *rank)
{
	return rank->process.state == PROCESS_EXITED &&
	       (rank->process.exit_code > 0 || rank->process.exit_signal > 0);
}

const char *cause_end(const struct rank *rank)
{
	return rank->error && rank->error[0] != '\0' ? rank->error : "has exited";
}

void cause_clear(struct cause *cause)
{
	traceback_list_clear(&cause->tracebacks);
	rankset_clear(&cause->sharers);
	free(cause->kill);
	*cause = (struct cause){ .last = -1 };
}

/* The line in which the kernel's log says that it killed the process; NULL: there is none. */
static const char *find_kill(const struct engine *engine, const struct rank *rank)
{
	static const char word[] = "illed process ";
	const json_t *line;
	size_t i;

	json_array_foreach(evidence_kernel_of(&engine->evidence, rank), i, line)
	{
		const char *text = json_get_string(line, "text", "");
		const char *at = strstr(text, word);

		if (at && strtol(at + strlen(word), NULL, 10) == rank->process.pid)
			return text;
	}
	return NULL;
}

/*
 * Says how many processes of the control group that limits the rank the kernel has killed since the
 * first answer about the rank: the kernel's log has no pids of another pid namespace, or cannot be
 * read.
 */
static void explain_group(struct cause *cause, const struct engine *engine, const struct rank *rank)
{
	const json_t *cgroup = evidence_cgroup(&engine->evidence, rank);
	long long limit = json_get_integer(cgroup, "limit", -1);
	long long kills = evidence_kills(&engine->evidence, rank);
	const char *path = json_get_string(cgroup, "path", "?");
	struct buffer name = BUFFER_INIT;
	struct buffer text = BUFFER_INIT;

	if (kills <= 0)
		return;
	buffer_append_string(&text, "; since it was first looked at, the kernel has killed ");
	if (kills == 1)
		buffer_append_string(&text, "a process");
	else
		buffer_printf(&text, "%lld processes", kills);
	buffer_append_string(&text, " of control group ");
	text_escape(&name, path, strlen(path));
	text_cut(&text, name.length > 0 ? name.data : "?", COLUMNS);
	buffer_clear(&name);
	buffer_append_string(&text, " for lack of memory");
	if (limit >= 0)
		buffer_printf(&text, " (limit %lld MB)", limit >> 20);
	cause->kill = buffer_take(&text);
}

static void explain_kill(struct cause *cause, const struct engine *engine, const struct rank *rank)
{
	const json_t *cgroup = evidence_cgroup(&engine->evidence, rank);
	int64_t limit = json_get_integer(cgroup, "limit", -1);
	const char *line = find_kill(engine, rank);

	if (!line)
		explain_group(cause, engine, rank);
	else if (limit >= 0 && strstr(line, "Memory cgroup"))
		cause->kill = xasprintf(": by the kernel, for lack of memory (limit %lld MB)",
					(long long)(limit >> 20));
	else
		cause->kill = xstrdup(": by the kernel, for lack of memory");
}

/*
 * Sets the other ranks that print to the file; returns true if one of them failed by itself, too,
 * and may have printed what names no rank.
 */
static bool find_sharers(const struct engine *engine, const struct rank *rank, const char *path,
			 struct rankset *sharers)
{
	bool has_failed = false;
	int number = -1;

	evidence_add_printers(&engine->evidence, rank, path, sharers);
	rankset_remove(sharers, rank->process.rank);
	while (!has_failed && (number = rankset_next(sharers, number)) >= 0) {
		const struct rank *other = session_find_rank(&engine->session, number);

		has_failed = other && cause_has_failed(other) && !rank_has_end_signal(other);
	}
	return has_failed;
}

/* Reads the tracebacks of a text; those without a rank count if only this rank can have made them.
 */
static void cause_read(struct cause *cause, const struct rank *rank, const char *text,
		       bool has_unnamed)
{
	traceback_list_clear(&cause->tracebacks);
	traceback_read(&cause->tracebacks, text);
	cause->text = text;
	cause->last = traceback_last(&cause->tracebacks, rank->process.rank);
	if (cause->last < 0 && has_unnamed)
		cause->last = traceback_last(&cause->tracebacks, -1);
}

/* True for signals that a process sends itself, or gets for what it does. */
static bool signals_itself(int number)
{
	return number == SIGABRT || number == SIGSEGV || number == SIGBUS || number == SIGFPE ||
	       number == SIGILL;
}

/*
 * True if what was printed last belongs to the rank's end. An exception that leaves the program
 * makes CPython exit with 1; that of a rank which was still shutting down when it was asked to end
 * has the prefix that torch.distributed gives only to these.
 */
static bool is_of_end(const struct cause *cause, const struct rank *rank)
{
	const struct process *process = &rank->process;

	return process->exit_code == 1 || signals_itself(process->exit_signal) ||
	       (rank_has_end_signal(rank) && cause->tracebacks.items[cause->last].rank >= 0);
}

/* A thread's traceback names no rank: it counts if no other rank prints to the file. */
static void take_thread(struct cause *cause)
{
	cause->last = rankset_count(&cause->sharers) > 0
			      ? -1
			      : traceback_last_of_thread(&cause->tracebacks, -1);
	if (cause->last >= 0)
		cause->source = CAUSE_THREAD;
}

static void take_stderr(struct cause *cause, const struct engine *engine, const struct rank *rank)
{
	const json_t *stream = json_object_get(evidence_find(&engine->evidence, rank), "stderr");
	const char *path = json_get_string(stream, "path", NULL);
	bool has_unnamed;

	if (!path)
		return;
	has_unnamed = !find_sharers(engine, rank, path, &cause->sharers);
	cause_read(cause, rank, json_get_string(stream, "tail", ""), has_unnamed);
	cause->path = path;
	if (!rank_is_gone(rank)) {
		take_thread(cause);
		return;
	}
	if (signals_itself(rank->process.exit_signal))
		cause->last = has_unnamed ? traceback_last_abort(&cause->tracebacks) : -1;
	if (cause->last >= 0 && is_of_end(cause, rank))
		cause->source = CAUSE_STDERR;
	else
		cause->last = -1;
}

/* True if both are one exception: said is "ValueError: bad batch", the class without its module. */
static bool is_equal(const struct traceback *traceback, const char *said)
{
	const char *dot = strrchr(traceback->type, '.');
	const char *type = dot ? dot + 1 : traceback->type;
	size_t length = strlen(type);

	if (strncmp(said, type, length) != 0)
		return false;
	if (said[length] == '(')
		return true;
	return said[length] == '\0' ||
	       (strncmp(said + length, ": ", 2) == 0 &&
		strncmp(said + length + 2, traceback->message, strlen(traceback->message)) == 0);
}

/* Adds an exception of which no traceback was printed; returns it. */
static struct traceback *add_said(struct cause *cause, const char *said)
{
	cause->last = (int)cause->tracebacks.count;
	return traceback_add(&cause->tracebacks, said);
}

/* Takes sys.last_value; its traceback as printed, too, if that was found. */
static void take_process(struct cause *cause, const struct rank *rank)
{
	struct traceback *item;

	if (cause->last >= 0 && is_equal(&cause->tracebacks.items[cause->last], rank->raised)) {
		if (cause->source == CAUSE_UNKNOWN)
			cause->source = CAUSE_PROCESS;
		return;
	}
	cause->source = CAUSE_PROCESS;
	cause->path = cause->text = NULL;
	item = add_said(cause, rank->raised);
	item->file = xstrdup_or_null(rank->raised_file);
	item->func = xstrdup_or_null(rank->raised_func);
	item->line = rank->raised_line;
}

static bool take_error_file(struct cause *cause, const struct engine *engine,
			    const struct rank *rank)
{
	const json_t *file = json_object_get(evidence_find(&engine->evidence, rank), "error_file");
	const char *message = json_get_string(file, "message", NULL);
	const char *stack = json_get_string(file, "callstack", NULL);

	if (!message && !stack)
		return false;
	cause->source = CAUSE_ERROR_FILE;
	cause->path = json_get_string(file, "path", NULL);
	if (stack)
		cause_read(cause, rank, stack, true);
	if (cause->last < 0 && message)
		add_said(cause, message);
	return true;
}

void cause_find(struct cause *cause, const struct engine *engine, const struct rank *rank)
{
	*cause = (struct cause){ .last = -1 };
	if (take_error_file(cause, engine, rank))
		return;
	take_stderr(cause, engine, rank);
	if (rank->process.exit_signal == SIGKILL)
		explain_kill(cause, engine, rank);
	if (rank->raised)
		take_process(cause, rank);
}

static const struct traceback *traceback_of(const struct cause *cause)
{
	return cause->last >= 0 ? &cause->tracebacks.items[cause->last] : NULL;
}

/* True for an exception in the group that led to no other one there. */
static bool is_member(const struct cause *cause, size_t at, int group)
{
	const struct traceback_list *list = &cause->tracebacks;

	for (size_t i = at + 1; i < list->count; i++) {
		if (list->items[i].before == (int)at && list->items[i].group == group)
			return false;
	}
	return list->items[at].group == group;
}

/* Appends ", caused by KeyError: 'x' (data.py:3)": the first of the chain; a group's first. */
static void append_origin(struct buffer *out, const struct cause *cause)
{
	const struct traceback *items = cause->tracebacks.items;
	int first = cause->last;
	bool is_caused = true;

	for (; items[first].before >= 0; first = items[first].before)
		is_caused = is_caused && items[first].relation == TRACEBACK_CAUSED;
	if (first != cause->last) {
		buffer_append_string(out, is_caused ? ", caused by " : ", raised while handling ");
		traceback_append(out, &items[first], COLUMNS);
	}
	for (size_t i = (size_t)cause->last + 1; i < cause->tracebacks.count; i++) {
		if (!is_member(cause, i, cause->last))
			continue;
		buffer_append_string(out, ", of which ");
		traceback_append(out, &items[i], COLUMNS);
		return;
	}
}

/* Appends before and the thread's name; nothing if there is none. */
static void append_thread(struct buffer *out, const char *before, const struct traceback *traceback)
{
	struct buffer text = BUFFER_INIT;

	if (!traceback->thread)
		return;
	text_escape(&text, traceback->thread, strlen(traceback->thread));
	buffer_append_string(out, before);
	text_cut(out, text.data, COLUMNS);
	buffer_clear(&text);
}

void cause_append_exception(struct buffer *out, const struct cause *cause)
{
	if (cause->source == CAUSE_THREAD) {
		append_thread(out, "thread ", traceback_of(cause));
		buffer_append_string(out, ": ");
	}
	traceback_append(out, traceback_of(cause), COLUMNS);
	append_origin(out, cause);
}

/*
 * Appends "its last traceback", or, if it names no rank and others print to the file, "the last
 * traceback in the standard error of ranks 0-2".
 */
static void append_source(struct buffer *out, const struct cause *cause,
			  const struct traceback *traceback, int rank)
{
	bool is_common = traceback->rank < 0 && rankset_count(&cause->sharers) > 0;
	const char *what = traceback->kind == TRACEBACK_EXCEPTION ? "last traceback" : "last error";
	struct rankset ranks = RANKSET_INIT;

	buffer_printf(out, "%s %s", is_common ? "the" : "its", what);
	if (is_common || traceback->kind != TRACEBACK_EXCEPTION)
		buffer_append_string(out, is_common ? " in the standard error of "
						    : " in standard error");
	if (is_common) {
		rankset_copy(&ranks, &cause->sharers);
		rankset_add(&ranks, rank);
		rankset_append_named(out, &ranks);
	}
	rankset_clear(&ranks);
}

/*
 * True if the exception has certainly left the program: an error file says so, or torch.distributed
 * has printed it, which it does for no other exceptions.
 */
static bool is_uncaught(const struct cause *cause)
{
	const struct traceback *traceback = traceback_of(cause);

	if (!traceback || cause->source == CAUSE_UNKNOWN)
		return false;
	return cause->source == CAUSE_ERROR_FILE ||
	       (cause->source == CAUSE_STDERR && traceback->kind == TRACEBACK_EXCEPTION &&
		traceback->rank >= 0);
}

static void append_raised(struct buffer *out, const struct cause *cause, const struct rank *rank)
{
	buffer_append_string(out, "raised ");
	cause_append_exception(out, cause);
	buffer_printf(out, ", and %s", cause_end(rank));
}

static void learn(struct rank *rank, const struct traceback *traceback)
{
	char *raised = xasprintf("%s%s%s", traceback->type,
				 traceback->message[0] != '\0' ? ": " : "", traceback->message);

	rank_note_raised(rank, raised, traceback->file, traceback->func, traceback->line);
	free(raised);
}

void cause_learn(struct engine *engine, size_t node, const json_t *body)
{
	const json_t *item;
	size_t i;

	json_array_foreach(json_object_get(body, "ranks"), i, item)
	{
		struct rank *rank = session_find_rank(&engine->session,
						      (int)json_get_integer(item, "rank", -1));
		struct cause cause;

		if (!rank || rank->node != node || rank->raised ||
		    rank->process.pid != json_get_integer(item, "pid", 0) ||
		    rank->process.state != PROCESS_EXITED)
			continue;
		cause_find(&cause, engine, rank);
		if (is_uncaught(&cause)) {
			learn(rank, traceback_of(&cause));
			engine->session.revision++;
		}
		cause_clear(&cause);
	}
}

void cause_append(struct buffer *out, const struct cause *cause, const struct rank *rank)
{
	const struct traceback *traceback = traceback_of(cause);

	switch (cause->source) {
	case CAUSE_UNKNOWN:
		buffer_append_string(out, cause_end(rank));
		if (cause->kill)
			buffer_append_string(out, cause->kill);
		break;
	case CAUSE_ERROR_FILE:
	case CAUSE_PROCESS:
		if (!traceback) {
			buffer_append_string(out, cause_end(rank));
			break;
		}
		append_raised(out, cause, rank);
		break;
	case CAUSE_STDERR:
		if (is_uncaught(cause)) {
			append_raised(out, cause, rank);
			break;
		}
		buffer_printf(out, "%s; ", cause_end(rank));
		append_source(out, cause, traceback, rank->process.rank);
		append_thread(out, ", of thread ", traceback);
		buffer_append_string(out, ": ");
		cause_append_exception(out, cause);
		break;
	case CAUSE_LAUNCHER:
		cause_append_exception(out, cause);
		break;
	case CAUSE_THREAD:
		buffer_append_string(out, "has lost its ");
		cause_append_exception(out, cause);
		break;
	}
}

static const char *const source_names[] = {
	[CAUSE_UNKNOWN] = NULL,
	[CAUSE_ERROR_FILE] = "error file",
	[CAUSE_PROCESS] = "process",
	[CAUSE_STDERR] = "standard error",
	[CAUSE_THREAD] = "standard error",
	[CAUSE_LAUNCHER] = "launcher",
};

static const char *const relation_names[] = {
	[TRACEBACK_ALONE] = NULL,
	[TRACEBACK_CAUSED] = "cause",
	[TRACEBACK_DURING] = "context",
};

static json_t *traceback_to_json(const struct traceback *traceback)
{
	json_t *json = json_object();

	json_set_text(json, "type", traceback->type);
	json_set_text(json, "message", traceback->message);
	json_set_text(json, "file", traceback->file);
	json_object_set_new(json, "line",
			    traceback->file ? json_integer(traceback->line) : json_null());
	json_set_text(json, "func", traceback->func);
	return json;
}

/* The exceptions that led to it, the first one last; then the members of a group. */
static json_t *chain_to_json(const struct cause *cause)
{
	const struct traceback *items = cause->tracebacks.items;
	json_t *chain = json_array();

	for (int i = cause->last; items[i].before >= 0; i = items[i].before) {
		json_t *one = traceback_to_json(&items[items[i].before]);

		json_set_text(one, "relation", relation_names[items[i].relation]);
		json_array_append_new(chain, one);
	}
	for (size_t i = 0; i < cause->tracebacks.count; i++) {
		json_t *one;

		if (!is_member(cause, i, cause->last))
			continue;
		one = traceback_to_json(&items[i]);
		json_set_text(one, "relation", "member");
		json_array_append_new(chain, one);
	}
	return chain;
}

json_t *cause_to_json(const struct cause *cause)
{
	const struct traceback *traceback = traceback_of(cause);
	json_t *json;

	if (cause->source == CAUSE_UNKNOWN || !traceback)
		return json_null();
	json = traceback_to_json(traceback);
	json_set_text(json, "source", source_names[cause->source]);
	json_set_text(json, "path", cause->path);
	json_object_set_new(json, "chain", chain_to_json(cause));
	return json;
}

bool cause_was_ended(const struct engine *engine, const struct rank *rank)
{
	return rank_has_end_signal(rank) && cause_blame(engine, rank) == TRACEBACK_OWN;
}

enum traceback_blame cause_blame(const struct engine *engine, const struct rank *rank)
{
	enum traceback_blame blame = TRACEBACK_OWN;
	struct cause cause;

	cause_find(&cause, engine, rank);
	if (cause.source != CAUSE_UNKNOWN)
		blame = traceback_blame(traceback_of(&cause));
	cause_clear(&cause);
	return blame;
}

bool cause_has_launcher_ended(const struct engine *engine, const struct rank *rank)
{
	return json_get_boolean(evidence_find(&engine->evidence, rank), "launcher_ended", false);
}

/* Failures that are their own come first, ends by a launcher last. */
static int order_of(const struct engine *engine, const struct rank *rank)
{
	if (cause_blame(engine, rank) != TRACEBACK_OWN)
		return 1;
	return rank_has_end_signal(rank) ? 2 : 0;
}

/*
 * A rank that waited too long closes its connections, and may exit a moment after the ranks that
 * have lost it. Returns the first that did so; NULL: there is none.
 */
static const struct rank *find_late(const struct engine *engine, const struct rank *lost)
{
	const struct session *session = &engine->session;
	const struct rank *found = NULL;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (cause_has_failed(rank) && rank->ended_at - lost->ended_at <= EXIT_SECONDS &&
		    cause_blame(engine, rank) == TRACEBACK_TIMEOUT &&
		    (!found || rank->ended_at < found->ended_at))
			found = rank;
	}
	return found;
}

const struct rank *cause_first_failed(const struct engine *engine)
{
	const struct session *session = &engine->session;
	const struct rank *first = NULL;
	int first_order = 0;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];
		int order;

		if (!cause_has_failed(rank))
			continue;
		order = order_of(engine, rank);
		if (first && (order > first_order ||
			      (order == first_order && rank->ended_at >= first->ended_at)))
			continue;
		first = rank;
		first_order = order;
	}
	if (first && cause_blame(engine, first) == TRACEBACK_LOSS) {
		const struct rank *late = find_late(engine, first);

		return late ? late : first;
	}
	return first;
}

const struct rank *cause_first_gone(const struct engine *engine, const struct rank *failed)
{
	const struct session *session = &engine->session;
	enum traceback_blame blame = cause_blame(engine, failed);
	const struct rank *first = NULL;

	for (size_t i = 0; i < session->rank_count && blame != TRACEBACK_OWN; i++) {
		const struct rank *rank = session->ranks[i];
		double before = failed->ended_at - rank->ended_at;

		if (rank->process.state != PROCESS_EXITED || before <= 0 ||
		    (blame == TRACEBACK_LOSS && before > LOSS_SECONDS) ||
		    (first && rank->ended_at >= first->ended_at))
			continue;
		if (rank->process.exit_code == 0 || cause_was_ended(engine, rank))
			first = rank;
	}
	return first;
}
