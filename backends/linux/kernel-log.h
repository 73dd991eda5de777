/*
 * kernel-log: what the kernel's log says of processes it killed because there
 * was no memory. Read without waiting, as far as it is kept; only lines about
 * the processes or the control groups that are asked for. The format is that
 * of Documentation/ABI/testing/dev-kmsg.
 */
#ifndef BACKENDS_LINUX_KERNEL_LOG_H
#define BACKENDS_LINUX_KERNEL_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct error;

/* A line of it. */
struct kernel_line {
	pid_t pid;  /* who was killed; 0: not known */
	double ago; /* seconds */
	const char *text;
};

/* One that is asked about. */
struct kernel_suspect {
	pid_t pid;
	double age;	    /* seconds since its start */
	const char *cgroup; /* NULL unknown */
};

struct kernel_log_calls {
	bool (*is_ours)(const struct kernel_line *line, void *data);
	void (*found)(const struct kernel_line *line, void *data);
	void *data;
};

/*
 * Whether a line tells of the process or of its control group. What is older
 * than the process tells of another that had its pid.
 */
bool kernel_line_is_about(const struct kernel_line *line, const struct kernel_suspect *suspect);
/*
 * -1 and a sentence when the log cannot be read. It names processes by their
 * pids in the first pid namespace: elsewhere lines come without.
 */
int kernel_log_read(const struct kernel_log_calls *calls, struct error *error);
/* For tests: one record. */
void kernel_log_take(const struct kernel_log_calls *calls, const char *record, double now,
		     bool has_pids);

#endif
