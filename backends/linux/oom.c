#include "backends/linux/oom.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/linux/procfs.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/loop.h"

#define DEPTH_MAXIMUM 64
/* Version 1 of cgroups reports "no limit" as the greatest number of whole pages. */
#define NO_LIMIT (INT64_C(1) << 60)

struct version {
	const char *root;
	const char *limit;
	const char *usage;
	const char *events;
};

static const struct version versions[] = {
	{ "/sys/fs/cgroup", "memory.max", "memory.current", "memory.events" },
	{ "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
	  "memory.oom_control" },
};

/*
 * Returns the path in a line "4:memory:/a" (version 1) or "0::/a" (version 2); NULL: the line is
 * for another controller.
 */
static const char *path_of_line(const char *line)
{
	const char *controllers = strchr(line, ':');
	const char *path = controllers ? strchr(controllers + 1, ':') : NULL;
	size_t length;

	if (!path || path[1] != '/')
		return NULL;
	controllers++;
	length = (size_t)(path - controllers);
	if (length == 0)
		return path + 1;
	for (const char *at = controllers; at < path;) {
		size_t size = strcspn(at, ",:");

		if (size == 6 && strncmp(at, "memory", 6) == 0)
			return path + 1;
		at += size + 1;
	}
	return NULL;
}

char *cgroup_path(struct procfs *procfs, pid_t pid)
{
	char *bytes;
	char *rest = NULL;
	char *found = NULL;

	if (procfs_read(procfs, pid, "cgroup", &bytes, NULL) < 0)
		return NULL;
	for (char *line = strtok_r(bytes, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		const char *path = path_of_line(line);

		/* The line of version 1's memory controller takes precedence over "0::". */
		if (!path || (found && line[0] == '0'))
			continue;
		free(found);
		found = xstrdup(path);
	}
	/*
	 * A path that begins with "/..": the group is outside of this process's cgroup namespace,
	 * so its path is unknown.
	 */
	if (found && strncmp(found, "/..", 3) == 0) {
		free(found);
		found = NULL;
	}
	return found;
}

static ssize_t cgroup_read_file(const struct version *version, const char *path, const char *name,
				char *out, size_t size)
{
	char *full = xasprintf("%s%s/%s", version->root, path, name);
	int fd = open(full, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	ssize_t got = -1;

	free(full);
	if (fd < 0)
		return -1;
	got = read(fd, out, size - 1);
	out[got > 0 ? got : 0] = '\0';
	close(fd);
	return got;
}

static int64_t cgroup_read_number(const struct version *version, const char *path, const char *name)
{
	char text[64];
	char *end;
	int64_t number;

	if (cgroup_read_file(version, path, name, text, sizeof(text)) <= 0)
		return -1;
	errno = 0;
	number = strtoll(text, &end, 10);
	if (end == text || errno || number < 0 || number >= NO_LIMIT)
		return -1;
	return number;
}

static int64_t read_kills(const struct version *version, const char *path)
{
	char text[1024];
	const char *found;

	if (cgroup_read_file(version, path, version->events, text, sizeof(text)) <= 0)
		return -1;
	found = strstr(text, "oom_kill ");
	return found ? strtoll(found + 9, NULL, 10) : -1;
}

static void read_group(const struct version *version, const char *path,
		       struct cgroup_memory *memory)
{
	memory->limit = cgroup_read_number(version, path, version->limit);
	memory->usage = cgroup_read_number(version, path, version->usage);
	memory->oom_kills = read_kills(version, path);
}

void cgroup_memory_read(const char *path, struct cgroup_memory *memory, char **at)
{
	const struct version *version = &versions[0];
	char text[8];
	char *group = xstrdup(path);

	if (cgroup_read_file(&versions[1], "", "memory.usage_in_bytes", text, sizeof(text)) > 0)
		version = &versions[1];
	read_group(version, path, memory);
	*at = xstrdup(path);
	for (int i = 0; i < DEPTH_MAXIMUM; i++) {
		struct cgroup_memory above;
		char *slash = strrchr(group, '/');

		read_group(version, group, &above);
		if (above.limit >= 0 && (memory->limit < 0 || above.limit < memory->limit)) {
			*memory = above;
			free(*at);
			*at = xstrdup(group);
		}
		if (!slash || slash == group)
			break;
		*slash = '\0';
	}
	free(group);
}

#define RECORD_SIZE 8192
/*
 * Maximum number of seconds for reading the log, which takes some ms unless others write to the log
 * meanwhile.
 */
#define SECONDS_MAXIMUM 0.5
/* Allowed difference in seconds, because the log's clock is not adjusted like the other clocks. */
#define LEEWAY 60.0
/* Link of the first pid namespace (PROC_PID_INIT_INO in include/linux/proc_ns.h). */
#define FIRST_NAMESPACE "pid:[4026531836]"

/* Lines of mm/oom_kill.c: their first words, and the text before the pid. */
static const struct mark {
	const char *text;
	const char *before_pid;
} marks[] = {
	{ "oom-kill:", ",pid=" },
	{ "Out of memory", "illed process " },
	{ "Memory cgroup out of memory", "illed process " },
	{ "oom_reaper: reaped process", "reaped process " },
};

static pid_t find_pid(const char *text, const struct mark *mark)
{
	const char *found = strstr(text, mark->before_pid);

	if (!found)
		return 0;
	return (pid_t)strtol(found + strlen(mark->before_pid), NULL, 10);
}

/* True if the text has "task_memcg=PATH," with exactly this path. */
static bool names_group(const char *text, const char *cgroup)
{
	const char *found = strstr(text, "task_memcg=");
	size_t length = strlen(cgroup);

	/* Every process is in the root group "/": it identifies no process. */
	if (!found || length < 2)
		return false;
	found += strlen("task_memcg=");
	return strncmp(found, cgroup, length) == 0 && found[length] == ',';
}

bool kernel_line_is_about(const struct kernel_line *line, const struct kernel_suspect *suspect)
{
	if (line->ago > suspect->age + LEEWAY)
		return false;
	return (line->pid > 0 && line->pid == suspect->pid) ||
	       (suspect->cgroup && names_group(line->text, suspect->cgroup));
}

void kernel_log_take(const struct kernel_log_calls *calls, const char *record, double now,
		     bool has_pids)
{
	const char *text = strchr(record, ';');
	const char *stamp = strchr(record, ',');
	char bytes[1024];
	struct kernel_line line = { .text = bytes };

	stamp = stamp ? strchr(stamp + 1, ',') : NULL;
	if (!text || !stamp || stamp > text)
		return;
	snprintf(bytes, sizeof(bytes), "%.*s", (int)strcspn(text + 1, "\n"), text + 1);
	line.ago = now - strtod(stamp + 1, NULL) / 1e6;
	for (size_t i = 0; i < ARRAY_LENGTH(marks); i++) {
		if (strncmp(bytes, marks[i].text, strlen(marks[i].text)) != 0)
			continue;
		line.pid = has_pids ? find_pid(bytes, &marks[i]) : 0;
		if (calls->is_ours(&line, calls->data))
			calls->found(&line, calls->data);
		return;
	}
}

static bool is_first_namespace(void)
{
	char link[64];
	ssize_t length = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);

	link[length > 0 ? length : 0] = '\0';
	return strcmp(link, FIRST_NAMESPACE) == 0;
}

int kernel_log_read(const struct kernel_log_calls *calls, struct error *error)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool has_pids = is_first_namespace();
	char record[RECORD_SIZE];
	double now = loop_now();

	if (fd < 0)
		return error_set_errno(error, errno, "the kernel log cannot be read");
	while (loop_now() < now + SECONDS_MAXIMUM) {
		ssize_t got = read(fd, record, sizeof(record) - 1);

		/*
		 * EPIPE: the record was overwritten before it was read; the next record can be
		 * read.
		 */
		if (got < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (got <= 0)
			break;
		record[got] = '\0';
		kernel_log_take(calls, record, now, has_pids);
	}
	close(fd);
	return 0;
}
