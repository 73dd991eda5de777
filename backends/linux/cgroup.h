/*
 * cgroup: the memory limit and usage of a process's control group, and the number
 * of kills by the kernel for lack of memory. Versions 1 and 2, as this machine's
 * /sys/fs/cgroup shows them. Documentation/admin-guide/cgroup-v2.rst
 */
#ifndef BACKENDS_LINUX_CGROUP_H
#define BACKENDS_LINUX_CGROUP_H

#include <stdint.h>
#include <sys/types.h>

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

#endif
