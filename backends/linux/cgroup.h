/*
 * cgroup: how much memory the control group of a process may use, uses, and
 * how often the kernel killed in it. Versions 1 and 2, as this machine's
 * /sys/fs/cgroup shows them. Documentation/admin-guide/cgroup-v2.rst
 */
#ifndef BACKENDS_LINUX_CGROUP_H
#define BACKENDS_LINUX_CGROUP_H

#include <stdint.h>
#include <sys/types.h>

struct procfs;

struct cgroup_memory {
	int64_t limit; /* bytes; -1 none or unknown, as below */
	int64_t usage;
	int64_t oom_kills;
};

/* The path in the hierarchy that has memory; free() it. NULL: not known. */
char *cgroup_path(struct procfs *procfs, pid_t pid);
/*
 * Of the group from path upwards that has the least limit, whose path *at
 * becomes (free() it); of path itself where none has one.
 */
void cgroup_memory_read(const char *path, struct cgroup_memory *memory, char **at);

#endif
