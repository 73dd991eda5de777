#include "backends/kernellog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "banned.h"
#include "base/array.h"
#include "base/error.h"

/* The kernel's buffer is rarely more than 1 MB; a record at most 8 KB. */
#define RECORDS_MAXIMUM 65536
#define RECORD_SIZE 8192

/* mm/oom_kill.c: what each of its lines begins with, and where the pid is. */
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

void kernellog_take(const struct kernellog_calls *calls, const char *record,
		    double now)
{
	const char *text = strchr(record, ';');
	const char *stamp = strchr(record, ',');
	char line[1024];

	stamp = stamp ? strchr(stamp + 1, ',') : NULL;
	if (!text || !stamp || stamp > text)
		return;
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(text + 1, "\n"),
		 text + 1);
	for (size_t i = 0; i < ARRAY_LENGTH(marks); i++) {
		pid_t pid;

		if (strncmp(line, marks[i].text, strlen(marks[i].text)) != 0)
			continue;
		pid = find_pid(line, &marks[i]);
		if (calls->is_ours(pid, line, calls->data))
			calls->found(now - strtod(stamp + 1, NULL) / 1e6, line,
				     calls->data);
		return;
	}
}

int kernellog_read(const struct kernellog_calls *calls, struct error *error)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char record[RECORD_SIZE];
	struct timespec now;

	if (fd < 0)
		return error_set_errno(error, errno,
				       "the kernel's log cannot be read here");
	clock_gettime(CLOCK_MONOTONIC, &now);
	for (int i = 0; i < RECORDS_MAXIMUM; i++) {
		ssize_t got = read(fd, record, sizeof(record) - 1);

		/* EPIPE: this one was overwritten meanwhile; the next is not.*/
		if (got < 0 && (errno == EPIPE || errno == EINTR))
			continue;
		if (got <= 0)
			break;
		record[got] = '\0';
		kernellog_take(calls, record,
			       (double)now.tv_sec + (double)now.tv_nsec / 1e9);
	}
	close(fd);
	return 0;
}
