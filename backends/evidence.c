#include "backends/evidence.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/discover/error-file.h"
#include "backends/discover/origin.h"
#include "backends/discover/torch.h"
#include "backends/last-line.h"
#include "backends/linux/disk.h"
#include "backends/linux/oom.h"
#include "backends/linux/pid-list.h"
#include "backends/linux/procfs.h"
#include "backends/node.h"
#include "backends/output.h"
#include "backends/process-table.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/map.h"
#include "base/secret.h"
#include "protocol/process.h"

/* Maximum number of lines of the kernel's log in an answer. */
#define KERNEL_LINES 100
/* Maximum number of bytes of a process's standard error; an answer has up to 16 processes. */
#define STDERR_MAXIMUM (16u << 10)
/* Maximum number of exited processes that are remembered; older ones are forgotten. */
#define ENDED_MAXIMUM 512

struct remembered {
	int rank;
	uint64_t start_time; /* identifies the process: a later process may have the same pid */
	int64_t memory;	     /* resident bytes at the last request; -1: unknown */
	pid_t launcher_pid;  /* 0: unknown */
	uint64_t launcher_start_time;
	char *torch;	/* version of torch; NULL: unknown */
	char *cgroup;	/* path of the control group; NULL: unknown */
	json_t *origin; /* origin_read() at the first request */
	struct error_file error_file;
};

struct evidence {
	struct node *node;
	struct map *processes; /* by pid */
};

static void free_remembered(void *value)
{
	struct remembered *remembered = value;

	free(remembered->torch);
	free(remembered->cgroup);
	json_decref(remembered->origin);
	error_file_clear(&remembered->error_file);
	free(remembered);
}

struct evidence *evidence_new(struct node *node)
{
	struct evidence *evidence = xcalloc(1, sizeof(*evidence));

	evidence->node = node;
	evidence->processes = map_new(free_remembered);
	return evidence;
}

void evidence_free(struct evidence *evidence)
{
	if (!evidence)
		return;
	map_free(evidence->processes);
	free(evidence);
}

/*
 * Reads the memory size each time, and constant values once; torch's version is read when torch has
 * been imported.
 */
static void evidence_refresh(struct evidence *evidence, struct remembered *remembered,
			     const struct process *process)
{
	struct procfs *procfs = node_procfs(evidence->node);
	int64_t kilobytes = procfs_status(procfs, process->pid, "VmRSS", -1);
	struct procfs_stat launcher;

	remembered->rank = process->rank;
	remembered->memory = kilobytes < 0 ? -1 : kilobytes * 1024;
	if (remembered->launcher_pid == 0 && process->launcher_pid > 0 &&
	    procfs_stat(procfs, process->launcher_pid, &launcher) == 0) {
		remembered->launcher_pid = process->launcher_pid;
		remembered->launcher_start_time = launcher.start_time;
	}
	if (!remembered->torch)
		remembered->torch = torch_version(procfs, process);
	if (!remembered->cgroup)
		remembered->cgroup = cgroup_path(procfs, process->pid);
	if (!remembered->origin)
		remembered->origin = origin_read(procfs, process);
	error_file_find(&remembered->error_file, procfs, process);
	outputs_remember(node_outputs(evidence->node), process);
}

/* Returns NULL for a process that has exited. */
static const struct process *find_live(const struct evidence *evidence, pid_t pid)
{
	const struct process *process = process_table_find(node_process_table(evidence->node), pid);

	if (!process || process->state == PROCESS_EXITED || process->start_time == 0)
		return NULL;
	return process;
}

/*
 * Returns what is remembered of the process, read again if the process is alive. Returns NULL if
 * the process has exited and no request named it before its exit.
 */
static struct remembered *find(struct evidence *evidence, pid_t pid)
{
	const struct process *process = find_live(evidence, pid);
	struct remembered *remembered = map_find(evidence->processes, (uint64_t)pid);

	if (!process)
		return remembered;
	if (!remembered || remembered->start_time != process->start_time) {
		remembered = xcalloc(1, sizeof(*remembered));
		remembered->start_time = process->start_time;
		error_file_init(&remembered->error_file);
		map_put(evidence->processes, (uint64_t)pid, remembered);
	}
	evidence_refresh(evidence, remembered, process);
	return remembered;
}

/* The end of a process's standard error, masked; null: that is no file. */
static json_t *stderr_to_json(const struct evidence *evidence, pid_t pid)
{
	struct buffer text = BUFFER_INIT;
	struct buffer masked = BUFFER_INIT;
	json_t *json = json_null();
	const char *path;

	path = outputs_read_last(node_outputs(evidence->node), pid, STDERR_FILENO, STDERR_MAXIMUM,
				 &text);
	if (path) {
		secret_mask_traceback(&masked, text.data ? text.data : "");
		json = json_object();
		json_set_text(json, "path", path);
		json_set_text(json, "tail", masked.data ? masked.data : "");
	}
	buffer_clear(&masked);
	buffer_clear(&text);
	return json;
}

static bool has_launcher_ended(const struct evidence *evidence, const struct remembered *remembered)
{
	struct procfs_stat stat;

	return procfs_stat(node_procfs(evidence->node), remembered->launcher_pid, &stat) < 0 ||
	       procfs_has_ended(&stat) || stat.start_time != remembered->launcher_start_time;
}

static json_t *to_json(const struct evidence *evidence, const struct remembered *remembered,
		       pid_t pid, bool has_output)
{
	json_t *json = json_object();

	json_object_set_new(json, "rank", json_integer(remembered->rank));
	json_object_set_new(json, "pid", json_integer(pid));
	json_set_text(json, "torch", remembered->torch);
	json_object_set_new(json, "memory",
			    remembered->memory < 0 ? json_null()
						   : json_integer(remembered->memory));
	json_set_text(json, "cgroup", remembered->cgroup);
	json_object_set(json, "origin", remembered->origin);
	json_object_set_new(json, "error_file", error_file_read(&remembered->error_file));
	if (has_output || !find_live(evidence, pid)) {
		json_object_set_new(json, "stderr", stderr_to_json(evidence, pid));
		json_object_set_new(json, "printed",
				    last_line_to_json(node_outputs(evidence->node), pid));
	}
	if (remembered->launcher_pid > 0)
		json_object_set_new(json, "launcher_ended",
				    json_boolean(has_launcher_ended(evidence, remembered)));
	return json;
}

static json_t *number_or_null(int64_t number)
{
	return number < 0 ? json_null() : json_integer(number);
}

/*
 * Adds a control group unless its path is in `seen`: limit, usage and OOM kills, and the path of
 * the ancestor whose limit applies.
 */
static void add_cgroup(json_t *cgroups, struct strmap *seen, const char *path)
{
	struct cgroup_memory memory;
	json_t *json;
	char *at = NULL;

	if (!path || strmap_find(seen, path))
		return;
	strmap_put(seen, path, seen);
	cgroup_memory_read(path, &memory, &at);
	json = json_object();
	json_set_text(json, "path", at);
	json_object_set_new(json, "limit", number_or_null(memory.limit));
	json_object_set_new(json, "usage", number_or_null(memory.usage));
	json_object_set_new(json, "oom_kills", number_or_null(memory.oom_kills));
	json_array_append_new(cgroups, json);
	free(at);
}

/* A search of the kernel's log for lines about remembered processes. */
struct search {
	struct evidence *evidence;
	json_t *lines;
	const struct kernel_line *line;
	bool is_found;
};

static void evidence_compare(uint64_t pid, void *value, void *data)
{
	const struct remembered *remembered = value;
	struct search *search = data;
	const struct kernel_suspect suspect = {
		.pid = (pid_t)pid,
		.age = procfs_age(remembered->start_time),
		.cgroup = remembered->cgroup,
	};

	if (kernel_line_is_about(search->line, &suspect))
		search->is_found = true;
}

static bool evidence_is_ours(const struct kernel_line *line, void *data)
{
	struct search *search = data;

	search->line = line;
	search->is_found = false;
	map_each(search->evidence->processes, evidence_compare, search);
	return search->is_found;
}

static void evidence_add_line(const struct kernel_line *line, void *data)
{
	struct search *search = data;
	json_t *json = json_object();

	json_object_set_new(json, "ago", json_real(line->ago > 0 ? line->ago : 0));
	json_set_text(json, "text", line->text);
	json_array_append_new(search->lines, json);
	/* Only the newest KERNEL_LINES lines are kept. */
	if (json_array_size(search->lines) > KERNEL_LINES)
		json_array_remove(search->lines, 0);
}

static void add_kernel(struct evidence *evidence, json_t *body)
{
	struct search search = {
		.evidence = evidence,
		.lines = json_array(),
	};
	const struct kernel_log_calls calls = {
		.is_ours = evidence_is_ours,
		.found = evidence_add_line,
		.data = &search,
	};
	struct error error = ERROR_INIT;

	kernel_log_read(&calls, &error);
	json_object_set_new(body, "kernel", search.lines);
	if (error_is_set(&error))
		json_set_text(body, "kernel_error", error.message);
}

struct ended {
	const struct evidence *evidence;
	uint64_t *pids; /* oldest first */
	size_t count;
	size_t capacity;
};

static void evidence_settle(uint64_t pid, void *value, void *data)
{
	struct remembered *remembered = value;
	struct ended *ended = data;
	const struct process *process = find_live(ended->evidence, (pid_t)pid);

	if (process && process->start_time == remembered->start_time)
		return;
	error_file_settle(&remembered->error_file);
	ARRAY_GROW(ended->pids, ended->count, ended->capacity);
	ended->pids[ended->count++] = pid;
}

/*
 * Forgets the oldest exited processes, so that the number of open descriptors and the memory stay
 * bounded.
 */
static void tidy(struct evidence *evidence)
{
	struct ended ended = { .evidence = evidence };

	map_each(evidence->processes, evidence_settle, &ended);
	for (size_t i = 0; i + ENDED_MAXIMUM < ended.count; i++)
		map_remove(evidence->processes, ended.pids[i]);
	free(ended.pids);
}

json_t *evidence_make(struct evidence *evidence, const struct pid_list *pids, bool has_output,
		      bool has_kernel)
{
	struct strmap *seen = strmap_new(NULL);
	struct map *mounts = map_new(NULL);
	json_t *cgroups = json_array();
	json_t *disks = json_array();
	json_t *ranks = json_array();
	json_t *body = json_object();

	for (size_t i = 0; i < pids->count; i++) {
		pid_t pid = pids->pids[i];
		const struct remembered *remembered = find(evidence, pid);

		if (!remembered)
			continue;
		json_array_append_new(ranks, to_json(evidence, remembered, pid, has_output));
		add_cgroup(cgroups, seen, remembered->cgroup);
		if (has_output && find_live(evidence, pid))
			disk_add(disks, mounts, node_procfs(evidence->node), pid);
	}
	strmap_free(seen);
	map_free(mounts);
	json_object_set_new(body, "ranks", ranks);
	json_object_set_new(body, "cgroups", cgroups);
	json_object_set_new(body, "disks", disks);
	if (has_kernel)
		add_kernel(evidence, body);
	tidy(evidence);
	return body;
}
