#include "engine/replay.h"
#include "engine/report.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "config.h"
#include "engine/cause.h"
#include "engine/engine.h"
#include "engine/format-collectives.h"
#include "engine/format.h"
#include "model/stacktree.h"
#include "model/wait-graph.h"
#include "protocol/stack.h"

void report_init(struct report *report, const struct engine *engine)
{
	struct timespec now;

	*report = (struct report){
		.verdict = BUFFER_INIT,
		.waits = BUFFER_INIT,
		.merged = BUFFER_INIT,
		.clock = -1,
	};
	if (engine->replay) {
		report->clock = replay_wall(engine->replay);
		return;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	report->clock = (double)now.tv_sec + (double)now.tv_nsec / 1e9 - engine_now(engine);
}

void report_clear(struct report *report)
{
	free(report->headline);
	rankset_clear(&report->ranks);
	buffer_clear(&report->verdict);
	buffer_clear(&report->waits);
	buffer_clear(&report->merged);
	json_decref(report->verdict_json);
	json_decref(report->merged_json);
}

/* Maximum number of outliers with native frames on the page. */
#define NATIVE_OUTLIERS 3

void report_ask_native(const struct report *report, struct engine *engine)
{
	struct request_group *group = request_group_new(engine, NULL, NULL, NULL);
	size_t outliers = 0;
	size_t others = 0;
	const struct rank *rank;
	size_t i = 0;

	while ((rank = report_next(report, engine, &i))) {
		size_t *count = rank->is_outlier ? &outliers : &others;
		size_t maximum = rank->is_outlier ? NATIVE_OUTLIERS : 1;

		if (rank->process.pid > 0 && rank->process.state == PROCESS_LIVE &&
		    (*count)++ < maximum)
			request_group_add(group, rank->node, rank->process.rank, "sample",
					  json_pack("{s:[i], s:b}", "pids", (int)rank->process.pid,
						    "native", true),
					  NULL);
	}
	request_group_wait(group, engine->settings.timeout);
	request_group_free(group);
}

const struct stack *report_native(const struct rank *rank)
{
	const struct thread *thread = rank_main_thread(rank);

	return thread ? thread->sample.native : NULL;
}

void report_look(struct report *report, const struct engine *engine)
{
	const struct session *session = &engine->session;
	bool is_all = rankset_count(&report->ranks) == 0;
	struct stacktree_node *root =
		stacktree_new_last(session, STACKTREE_LINE, is_all ? NULL : &report->ranks);
	struct wait_graph graph;

	buffer_reset(&report->verdict);
	buffer_reset(&report->waits);
	buffer_reset(&report->merged);
	json_decref(report->verdict_json);
	json_decref(report->merged_json);
	report->sampled_at = engine_now(engine);
	format_text_verdict(&report->verdict, session);
	wait_graph_make(&graph, session);
	format_text_waits(&report->waits, &graph);
	wait_graph_clear(&graph);
	format_text_tree(&report->merged, root, engine->settings.is_ascii);
	report->verdict_json = format_json_verdict(session);
	report->merged_json = format_json_tree(session, root);
	stacktree_free(root);
}

const struct rank *report_next(const struct report *report, const struct engine *engine, size_t *i)
{
	const struct session *session = &engine->session;

	while (*i < session->rank_count) {
		const struct rank *rank = session->ranks[(*i)++];

		if (format_is_chosen(&report->ranks, rank))
			return rank;
	}
	return NULL;
}

static json_t *time_to_json(const struct report *report, double at)
{
	return report->clock < 0 || at < 0 ? json_null() : json_real(report->clock + at);
}

static json_t *end_to_json(const struct report *report, const struct rank *rank)
{
	const struct process *process = &rank->process;
	json_t *json = json_object();

	if (process->state != PROCESS_EXITED) {
		json_decref(json);
		return json_null();
	}
	json_object_set_new(json, "code",
			    process->exit_code >= 0 ? json_integer(process->exit_code)
						    : json_null());
	json_object_set_new(json, "signal",
			    process->exit_signal > 0 ? json_integer(process->exit_signal)
						     : json_null());
	json_object_set_new(json, "time", time_to_json(report, rank->ended_at));
	return json;
}

/* Adds a node's evidence; null for each key without data. */
static void set_evidence(json_t *json, const json_t *evidence)
{
	static const char *const keys[] = { "torch",	  "memory", "cgroup",  "origin",
					    "error_file", "stderr", "printed", "launcher_ended" };

	for (size_t i = 0; i < ARRAY_LENGTH(keys); i++) {
		json_t *value = json_object_get(evidence, keys[i]);

		json_object_set(json, keys[i], value ? value : json_null());
	}
}

static json_t *native_to_json(const struct rank *rank)
{
	const struct stack *stack = report_native(rank);
	json_t *frames = json_array();

	if (!stack) {
		json_decref(frames);
		return json_null();
	}
	for (size_t i = 0; i < stack->frame_count; i++)
		json_array_append_new(frames,
				      format_json_frame(&rank->process, &stack->frames[i], i));
	return frames;
}

static json_t *exception_to_json(const struct engine *engine, const struct rank *rank)
{
	struct cause cause;
	json_t *json;

	cause_find(&cause, engine, rank);
	json = cause_to_json(&cause);
	cause_clear(&cause);
	return json;
}

static json_t *report_rank_to_json(const struct report *report, const struct engine *engine,
				   const struct rank *rank)
{
	json_t *json = format_json_rank(&engine->session, rank);
	const char *python = rank->process.python;
	json_t *ways = json_object_get(evidence_ways(&engine->evidence, rank), "ways");

	json_object_set_new(json, "end", end_to_json(report, rank));
	json_object_set_new(json, "exception", exception_to_json(engine, rank));
	json_object_set_new(json, "python", python[0] != '\0' ? json_text(python) : json_null());
	set_evidence(json, evidence_find(&engine->evidence, rank));
	json_object_set_new(json, "native", native_to_json(rank));
	json_object_set(json, "ways", ways ? ways : json_null());
	return json;
}

static json_t *ranks_to_json(const struct report *report, const struct engine *engine)
{
	json_t *ranks = json_array();
	const struct rank *rank;
	size_t i = 0;

	while ((rank = report_next(report, engine, &i)))
		json_array_append_new(ranks, report_rank_to_json(report, engine, rank));
	return ranks;
}

/* An array with the values of an object. */
static json_t *values_to_json(json_t *object)
{
	json_t *list = json_array();
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		json_array_append(list, value);
	}
	return list;
}

json_t *report_to_json(const struct report *report, const struct engine *engine)
{
	const struct rank *first = cause_first_failed(engine);
	json_t *json = json_object();

	json_object_set_new(json, "version", json_string(PACKAGE_VERSION));
	json_object_set_new(json, "time", time_to_json(report, engine_now(engine)));
	json_object_set_new(json, "event", json_text(report->event));
	json_object_set_new(json, "headline", json_text(report->headline));
	json_object_set_new(json, "before", json_text(report->before));
	json_object_set_new(json, "first_failed",
			    first ? json_integer(first->process.rank) : json_null());
	json_object_set(json, "verdict", report->verdict_json);
	json_object_set(json, "merged", report->merged_json);
	json_object_set_new(json, "ranks", ranks_to_json(report, engine));
	json_object_set_new(json, "cgroups", values_to_json(engine->evidence.cgroups));
	json_object_set_new(json, "disks", values_to_json(engine->evidence.disks));
	json_object_set_new(json, "kernel", evidence_kernel(&engine->evidence));
	json_object_set_new(json, "kernel_error", json_text(engine->evidence.kernel_error));
	return json;
}

#define NAMES_MAXIMUM 1000
#define WORD_MAXIMUM 64

static int check_about(const char *path, const struct stat *about, struct error *error)
{
	if (S_ISLNK(about->st_mode))
		return error_set(error, "%s is a symbolic link: give the target folder", path);
	if (!S_ISDIR(about->st_mode))
		return error_set(error, "%s is not a folder: give another path", path);
	if (about->st_uid != geteuid() && about->st_uid != 0)
		return error_set(
			error, "the folder %s belongs to another user: give one of your own", path);
	/* In a folder with the sticky bit, such as /tmp, other users cannot replace the files. */
	if (about->st_mode & S_IWOTH && !(about->st_mode & S_ISVTX))
		return error_set(error,
				 "the folder %s is writable by all users: give one of your own",
				 path);
	if (faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) < 0)
		return error_set_errno(error, errno, "cannot write into the folder %s", path);
	return 0;
}

int folder_check(const char *path, struct error *error)
{
	struct buffer plain = BUFFER_INIT;
	struct stat about;
	int result;

	buffer_append_string(&plain, path);
	/* lstat() of a path that ends with a slash would follow a symbolic link. */
	while (plain.length > 1 && plain.data[plain.length - 1] == '/')
		buffer_truncate(&plain, plain.length - 1);
	if (mkdir(plain.data, 0700) < 0 && errno != EEXIST)
		result = error_set_errno(error, errno, "cannot create the folder %s", path);
	else if (lstat(plain.data, &about) < 0)
		result = error_set_errno(error, errno, "cannot stat the folder %s", path);
	else
		result = check_about(plain.data, &about, error);
	buffer_clear(&plain);
	return result;
}

/* Appends word; characters that are not safe in file names and shells are replaced by "_". */
static void folder_append_word(struct buffer *out, const char *word)
{
	size_t length = strnlen(word, WORD_MAXIMUM);

	for (size_t i = 0; i < length; i++) {
		char character = word[i];
		bool is_plain = (character >= '0' && character <= '9') ||
				(character >= 'A' && character <= 'Z') ||
				(character >= 'a' && character <= 'z') || character == '.' ||
				character == '-';

		buffer_append_char(out, is_plain ? character : '_');
	}
}

static bool folder_is_free(const char *base, const char *const *suffixes)
{
	bool is_taken = false;

	for (; *suffixes && !is_taken; suffixes++) {
		char *path = xasprintf("%s%s", base, *suffixes);
		struct stat about;

		is_taken = lstat(path, &about) == 0;
		free(path);
	}
	return !is_taken;
}

char *folder_name(const char *path, const char *job, const char *host, double when,
		  const char *const *suffixes)
{
	struct buffer name = BUFFER_INIT;
	time_t seconds = (time_t)when;
	struct tm parts;
	char stamp[32] = "";
	size_t length;

	gmtime_r(&seconds, &parts);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &parts);
	buffer_printf(&name, "%s/probetui-", path);
	folder_append_word(&name, job[0] != '\0' ? job : "job");
	buffer_append_char(&name, '-');
	folder_append_word(&name, host[0] != '\0' ? host : "host");
	buffer_printf(&name, "-%s", stamp);
	length = name.length;
	for (int i = 2; i < NAMES_MAXIMUM && !folder_is_free(name.data, suffixes); i++) {
		buffer_truncate(&name, length);
		buffer_printf(&name, "-%d", i);
	}
	return buffer_take(&name);
}

int folder_write(const char *path, const char *bytes, size_t length, struct error *error)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int result;
	int number;

	if (fd < 0)
		return error_set_errno(error, errno, "cannot create %s", path);
	result = file_write(fd, bytes, length);
	number = errno;
	if (close(fd) < 0 && result == 0) {
		number = errno;
		result = -1;
	}
	if (result < 0)
		error_set_errno(error, number, "cannot write %s", path);
	return result;
}
