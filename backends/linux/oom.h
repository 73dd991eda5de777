/*
 * oom: the memory limit and usage of a process's control group, and the number of kills by the
 * kernel for lack of memory. Handles versions 1 and 2 of control groups, as they appear in this
 * machine's /sys/fs/cgroup. Documentation/admin-guide/cgroup-v2.rst
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

/* Returns the path of the process's group in the memory controller's hierarchy, to free(); NULL:
 * unknown. */
char *cgroup_path(struct procfs *procfs, pid_t pid);
/*
 * Reads, of the group `path` and its ancestors, the group with the smallest limit; if none has a
 * limit, reads `path` itself. Sets *at to the path of the group that was read, to free().
 */
void cgroup_memory_read(const char *path, struct cgroup_memory *memory, char **at);

/*
 * kernel_log: the kernel's log of processes that it killed for lack of memory. Reads the part of
 * the log that the kernel still keeps, without waiting for new lines; reports only the lines that
 * is_ours() accepts. The format is that of Documentation/ABI/testing/dev-kmsg.
 */

/* A line of the log. */
struct kernel_line {
	pid_t pid;  /* pid of the killed process; 0: unknown */
	double ago; /* age of the line, in seconds */
	const char *text;
};

/* A process that may be the subject of lines. */
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
 * Whether a line is about the suspect or its control group. A line that is older than the suspect
 * is about an earlier process with the same pid, so it does not count.
 */
bool kernel_line_is_about(const struct kernel_line *line, const struct kernel_suspect *suspect);
/*
 * Returns 0, or -1 and sets error if the log cannot be read. The log has pids of the initial pid
 * namespace: if this process is in another namespace, kernel_line.pid is 0.
 */
int kernel_log_read(const struct kernel_log_calls *calls, struct error *error);
/* For tests: handles one record of the log. */
void kernel_log_take(const struct kernel_log_calls *calls, const char *record, double now,
		     bool has_pids);

#endif
