/*
 * process-tree: the descendants of a process.
 */
#ifndef BACKENDS_LINUX_PROCESS_TREE_H
#define BACKENDS_LINUX_PROCESS_TREE_H

#include <sys/types.h>

struct pid_list;
struct procfs;

/*
 * Adds all descendants of root, but not root, parents before their children. If
 * the kernel does not list children (CONFIG_PROC_CHILDREN), the parent of every
 * process is read.
 */
void process_tree_list(struct procfs *procfs, pid_t root, struct pid_list *list);

#endif
