/*
 * oom: the memory limit and usage of a process's control group, and the number
 * of kills by the kernel for lack of memory. Versions 1 and 2, as this machine's
 * /sys/fs/cgroup shows them. Documentation/admin-guide/cgroup-v2.rst
 */
#ifndef BACKENDS_LINUX_OOM_H
#define BACKENDS_LINUX_OOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct procfs;

struct cgroup_memory {
	int64_t limit;	   /* bytes; -1: none or unknown */
	int64_t usage;	   /* bytes; -1: unknown */
	int64_t oom_kills; /* -1: unknown */
};

/* The group's path in the memory controller's hierarchy; free() it. NULL: unknown. */
char *cgroup_path(struct procfs *procfs, pid_t pid);
/*
 * Reads the group with the least limit among path and its ancestors, or path itself
 * if none has a limit. *at: the path of that group; free() it.
 */
void cgroup_memory_read(const char *path, struct cgroup_memory *memory, char **at);

/*
 * The kernel's log of processes that it killed for lack of memory. The
 * part that is still kept is read, without waiting; only lines about the processes
 * or control groups that are asked for are reported. The format is that of
 * Documentation/ABI/testing/dev-kmsg.
 */

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
