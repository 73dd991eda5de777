#include "backends/tracer/perf-breakpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "backends/linux/access-refusal.h"
#include "banned.h"
#include "base/error.h"

/* An address that no program uses; the watch there is never enabled. */
#define NOWHERE 4096
#define PARANOID_FILE "/proc/sys/kernel/perf_event_paranoid"
/* Debian and Ubuntu know levels above 2, which shut users out. */
#define PARANOID_USERS 2
#define FIRST_MAJOR 5
#define FIRST_MINOR 13

void perf_breakpoint_fill(struct perf_event_attr *attributes, uint64_t address, int length,
			  uint32_t type)
{
	*attributes = (struct perf_event_attr){
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(*attributes),
		.sample_period = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.remove_on_exec = 1,
		.sigtrap = 1,
		.bp_type = type,
		.bp_addr = address,
		.bp_len = (uint64_t)length,
	};
}

int perf_breakpoint_open(pid_t tid, const struct perf_event_attr *attributes)
{
	return (int)syscall(SYS_perf_event_open, attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* 0, or the errno value. */
static int try_watch(pid_t pid)
{
	struct perf_event_attr attributes;
	int fd;

	perf_breakpoint_fill(&attributes, NOWHERE, 1, HW_BREAKPOINT_RW);
	attributes.disabled = 1;
	fd = perf_breakpoint_open(pid, &attributes);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static bool is_old_kernel(struct reason *reason)
{
	struct utsname name;
	long major, minor = 0;
	char *end;

	if (uname(&name) < 0)
		return false;
	major = strtol(name.release, &end, 10);
	if (*end == '.')
		minor = strtol(end + 1, NULL, 10);
	if (major > FIRST_MAJOR || (major == FIRST_MAJOR && minor >= FIRST_MINOR))
		return false;
	snprintf(reason->why, sizeof(reason->why),
		 "The kernel is Linux %.32s; watches that a stranger may set came with %d.%d.",
		 name.release, FIRST_MAJOR, FIRST_MINOR);
	return true;
}

/* The value of kernel.perf_event_paranoid; -1: the kernel has no such setting. */
static long paranoid_level(void)
{
	char text[16] = "";
	int fd = open(PARANOID_FILE, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -1;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	return got > 0 ? strtol(text, NULL, 10) : -1;
}

static void perf_breakpoint_explain_denial(pid_t pid, int number, struct reason *reason)
{
	long level = paranoid_level();
	int own = try_watch(0);

	if (own == 0) {
		access_refusal_find(reason, pid, EPERM);
		return;
	}
	if (level > PARANOID_USERS && geteuid() != 0) {
		snprintf(reason->why, sizeof(reason->why),
			 "The kernel keeps users from perf_event_open (kernel.perf_event_paranoid "
			 "= %ld).",
			 level);
		snprintf(reason->fix, sizeof(reason->fix),
			 "sudo sysctl kernel.perf_event_paranoid=%d, or run probetui with "
			 "CAP_PERFMON.",
			 PARANOID_USERS);
		return;
	}
	snprintf(reason->why, sizeof(reason->why),
		 "A seccomp filter (of the container) forbids perf_event_open (%s).",
		 strerror(number));
	snprintf(
		reason->fix, sizeof(reason->fix),
		"Start the container with --cap-add PERFMON or --security-opt seccomp=unconfined.");
}

bool perf_breakpoint_probe(pid_t pid, struct reason *reason)
{
	int number = try_watch(pid);

	*reason = (struct reason){ .fix = "" };
	if (number == 0)
		return true;
	switch (number) {
	case EACCES:
	case EPERM:
	case ENOSYS:
		perf_breakpoint_explain_denial(pid, number, reason);
		return false;
	case ENOSPC:
		snprintf(reason->why, sizeof(reason->why),
			 "All four watches of the thread are in use, by another debugger.");
		snprintf(reason->fix, sizeof(reason->fix), "End it.");
		return false;
	case ESRCH:
		access_refusal_find(reason, pid, number);
		return false;
	}
	if (!is_old_kernel(reason))
		snprintf(reason->why, sizeof(reason->why),
			 "This machine has no hardware watches, or its kernel does not offer them: "
			 "%s.",
			 strerror(number));
	return false;
}
