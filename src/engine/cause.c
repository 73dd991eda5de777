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

/* True if a line of the kernel's log says that it killed the process for lack of memory. */
static bool has_kernel_killed(const struct engine *engine, const struct rank *rank)
{
	static const char word[] = "illed process ";
	json_t *lines = evidence_kernel(&engine->evidence);
	bool has_killed = false;
	const json_t *line;
	size_t i;

	json_array_foreach(lines, i, line)
	{
		const char *at = strstr(json_get_string(line, "text", ""), word);

		has_killed |= at && strtol(at + strlen(word), NULL, 10) == rank->process.pid;
	}
	json_decref(lines);
	return has_killed;
}

/* The rank's control group, borrowed; NULL: it is not known. */
static const json_t *cgroup_of(const struct engine *engine, const struct rank *rank)
{
	const char *path = json_get_string(evidence_find(&engine->evidence, rank), "cgroup", NULL);
	const char *key;
	json_t *cgroup;

	json_object_foreach(engine->evidence.cgroups, key, cgroup)
	{
		/* The key begins with the node's number: a path is one on each machine. */
		if (path && (size_t)strtoul(key, NULL, 10) == rank->node &&
		    strcmp(strchr(key, ':') + 1, path) == 0)
			return cgroup;
	}
	return NULL;
}

static void explain_kill(struct cause *cause, const struct engine *engine, const struct rank *rank)
{
	const json_t *cgroup = cgroup_of(engine, rank);
	int64_t kills = json_get_integer(cgroup, "oom_kills", 0);
	int64_t limit = json_get_integer(cgroup, "limit", -1);
	struct buffer out = BUFFER_INIT;

	if (has_kernel_killed(engine, rank))
		buffer_append_string(&out, "by the kernel, for lack of memory");
	else if (kills > 0)
		buffer_printf(&out,
			      "the kernel has killed %lld process%s of its control group for lack "
			      "of memory",
			      (long long)kills, kills == 1 ? "" : "es");
	if (out.length > 0 && limit >= 0)
		buffer_printf(&out, " (limit %lld MB)", (long long)(limit >> 20));
	if (out.length > 0)
		cause->kill = buffer_take(&out);
	buffer_clear(&out);
}

/*
 * Adds the other ranks that print to the file to *sharers; returns true if one of them failed, too,
 * and may have printed what names no rank.
 */
static bool find_sharers(const struct engine *engine, const struct rank *rank, const char *path,
			 struct rankset *sharers)
{
	bool has_failed = false;

	for (size_t i = 0; i < engine->session.rank_count; i++) {
		const struct rank *other = engine->session.ranks[i];
		const json_t *stream =
			json_object_get(evidence_find(&engine->evidence, other), "stderr");

		if (other == rank || other->node != rank->node ||
		    strcmp(json_get_string(stream, "path", ""), path) != 0)
			continue;
		rankset_add(sharers, other->process.rank);
		has_failed |= cause_has_failed(other) && other->process.exit_signal != SIGTERM;
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

/* True if a signal that asks to end has ended it. */
static bool is_ended(const struct rank *rank)
{
	return rank->process.exit_signal == SIGTERM || rank->process.exit_signal == SIGINT;
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
	       (is_ended(rank) && cause->tracebacks.items[cause->last].rank >= 0);
}

static void take_thread(struct cause *cause, const struct rank *rank, bool has_unnamed)
{
	cause->last = traceback_last_of_thread(&cause->tracebacks, rank->process.rank);
	if (cause->last < 0 && has_unnamed)
		cause->last = traceback_last_of_thread(&cause->tracebacks, -1);
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
		take_thread(cause, rank, has_unnamed);
		return;
	}
	if (signals_itself(rank->process.exit_signal))
		cause->last = has_unnamed ? traceback_last_abort(&cause->tracebacks) : -1;
	if (cause->last >= 0 && is_of_end(cause, rank))
		cause->source = CAUSE_STDERR;
}

/* True if the traceback's last line is the exception that was seen otherwise. */
static bool is_said(const struct traceback *traceback, const char *said)
{
	const char *dot = strrchr(traceback->type, '.');
	const char *type = dot ? dot + 1 : traceback->type;
	size_t length = strlen(type);

	if (strncmp(said, type, length) == 0)
		return true;
	length = strlen(traceback->type);
	return strncmp(said, traceback->type, length) == 0;
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

	cause->source = CAUSE_PROCESS;
	if (cause->last >= 0 && is_said(&cause->tracebacks.items[cause->last], rank->raised))
		return;
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

/* Appends ", caused by KeyError: 'x' (data.py:3)": the first of the chain, or of the group. */
static void append_origin(struct buffer *out, const struct cause *cause)
{
	const struct traceback *items = cause->tracebacks.items;
	int first = cause->last;
	bool is_caused = true;

	if (first < 0)
		return;
	while (first > 0 && items[first].relation != TRACEBACK_ALONE) {
		is_caused = is_caused && items[first].relation == TRACEBACK_CAUSED;
		first--;
	}
	if (first < cause->last) {
		buffer_append_string(out, is_caused ? ", caused by " : ", raised while handling ");
		traceback_append(out, &items[first], COLUMNS);
	}
	for (size_t i = (size_t)cause->last + 1; i < cause->tracebacks.count; i++) {
		if (items[i].group != cause->last)
			continue;
		buffer_append_string(out, ", of which ");
		traceback_append(out, &items[i], COLUMNS);
		return;
	}
}

void cause_append_exception(struct buffer *out, const struct cause *cause)
{
	traceback_append(out, traceback_of(cause), COLUMNS);
	append_origin(out, cause);
}

/* Appends ", of thread saver". */
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

void cause_append(struct buffer *out, const struct cause *cause, const struct rank *rank)
{
	const struct traceback *traceback = traceback_of(cause);

	switch (cause->source) {
	case CAUSE_UNKNOWN:
		buffer_append_string(out, cause_end(rank));
		if (cause->kill)
			buffer_printf(out, ": %s", cause->kill);
		break;
	case CAUSE_ERROR_FILE:
	case CAUSE_PROCESS:
		if (!traceback) {
			buffer_append_string(out, cause_end(rank));
			break;
		}
		buffer_append_string(out, "raised ");
		cause_append_exception(out, cause);
		buffer_printf(out, ", and %s", cause_end(rank));
		break;
	case CAUSE_STDERR:
		buffer_printf(out, "%s; ", cause_end(rank));
		append_source(out, cause, traceback, rank->process.rank);
		append_thread(out, ", of thread ", traceback);
		buffer_append_string(out, ": ");
		cause_append_exception(out, cause);
		break;
	case CAUSE_THREAD:
		append_thread(out, "has lost its thread ", traceback);
		buffer_append_string(out, ": ");
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

/* The exceptions that led to it, the first one last. */
static json_t *chain_to_json(const struct cause *cause)
{
	const struct traceback *items = cause->tracebacks.items;
	json_t *chain = json_array();

	for (int i = cause->last; i > 0 && items[i].relation != TRACEBACK_ALONE; i--) {
		json_t *one = traceback_to_json(&items[i - 1]);

		json_set_text(one, "relation", relation_names[items[i].relation]);
		json_array_append_new(chain, one);
	}
	for (size_t i = 0; cause->last >= 0 && i < cause->tracebacks.count; i++) {
		json_t *one;

		if (items[i].group != cause->last)
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

enum cause_kind cause_kind_of(const struct engine *engine, const struct rank *rank)
{
	enum traceback_blame blame = TRACEBACK_OWN;
	struct cause cause;

	cause_find(&cause, engine, rank);
	if (cause.source != CAUSE_UNKNOWN)
		blame = traceback_blame(traceback_of(&cause));
	cause_clear(&cause);
	if (blame != TRACEBACK_OWN)
		return blame == TRACEBACK_LOSS ? CAUSE_LOSS : CAUSE_TIMEOUT;
	return is_ended(rank) ? CAUSE_ENDED : CAUSE_OWN;
}

bool cause_has_launcher_ended(const struct engine *engine, const struct rank *rank)
{
	return json_get_boolean(evidence_find(&engine->evidence, rank), "launcher_ended", false);
}

/* Failures that are their own come first, ends by a launcher last. */
static int order_of(enum cause_kind kind)
{
	return kind == CAUSE_OWN ? 0 : kind == CAUSE_ENDED ? 2 : 1;
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
		order = order_of(cause_kind_of(engine, rank));
		if (first && (order > first_order ||
			      (order == first_order && rank->ended_at >= first->ended_at)))
			continue;
		first = rank;
		first_order = order;
	}
	return first;
}

const struct rank *cause_first_left(const struct engine *engine, const struct rank *failed)
{
	const struct session *session = &engine->session;
	const struct rank *first = NULL;

	if (cause_kind_of(engine, failed) == CAUSE_OWN)
		return NULL;
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		bool has_left =
			rank->process.exit_code == 0 || cause_kind_of(engine, rank) == CAUSE_ENDED;

		if (rank->process.state == PROCESS_EXITED && has_left &&
		    rank->ended_at < failed->ended_at &&
		    (!first || rank->ended_at < first->ended_at))
			first = rank;
	}
	return first;
}
