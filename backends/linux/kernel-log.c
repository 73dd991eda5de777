#include "backends/linux/kernel-log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "banned.h"
#include "base/array.h"
#include "base/error.h"
#include "base/loop.h"

#define RECORD_SIZE 8192
/* Limit of a read, which takes some ms; others may write to the log meanwhile. */
#define SECONDS_MAXIMUM 0.5
/* In seconds: the log's clock is not adjusted like the other clocks. */
#define LEEWAY 60.0
/* include/linux/proc_ns.h: PROC_PID_INIT_INO */
#define FIRST_NAMESPACE "pid:[4026531836]"

/* mm/oom_kill.c: the first words of each line, and the text before the pid. */
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

/* Whether "task_memcg=/a/b," in the text has exactly this path. */
static bool names_group(const char *text, const char *cgroup)
{
	const char *found = strstr(text, "task_memcg=");
	size_t length = strlen(cgroup);

	/* Every process is in the root group. */
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
		return error_set_errno(error, errno, "the kernel's log cannot be read here");
	while (loop_now() < now + SECONDS_MAXIMUM) {
		ssize_t got = read(fd, record, sizeof(record) - 1);

		/* EPIPE: this record was overwritten meanwhile; the next one can be read. */
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
