/*
 * kernel-log: the kernel's log of processes that it killed for lack of memory. The
 * part that is still kept is read, without waiting; only lines about the processes
 * or control groups that are asked for are reported. The format is that of
 * Documentation/ABI/testing/dev-kmsg.
 */
#ifndef BACKENDS_LINUX_KERNEL_LOG_H
#define BACKENDS_LINUX_KERNEL_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct error;

/* A line of the log. */
struct kernel_line {
	pid_t pid;  /* of the killed process; 0: unknown */
	double ago; /* seconds */
	const char *text;
};

/* A process that is asked about. */
struct kernel_suspect {
	pid_t pid;
	double age;	    /* seconds since its start */
	const char *cgroup; /* NULL: unknown */
};

struct kernel_log_calls {
	bool (*is_ours)(const struct kernel_line *line, void *data);
	void (*found)(const struct kernel_line *line, void *data);
	void *data;
};

/*
 * Whether a line is about the process or its control group. A line that is older
 * than the process is about an earlier process with the same pid.
 */
bool kernel_line_is_about(const struct kernel_line *line, const struct kernel_suspect *suspect);
/*
 * -1: error says why the log cannot be read. The log has the pids of the initial
 * pid namespace: in another namespace the lines have pid 0.
 */
int kernel_log_read(const struct kernel_log_calls *calls, struct error *error);
/* For tests: one record. */
void kernel_log_take(const struct kernel_log_calls *calls, const char *record, double now,
		     bool has_pids);

#endif
