/*
 * process-tree: the processes below one, by who started whom.
 */
#ifndef BACKENDS_LINUX_PROCESS_TREE_H
#define BACKENDS_LINUX_PROCESS_TREE_H

#include <sys/types.h>

struct pid_list;
struct procfs;

/*
 * Adds all that are below root, parents before their children. Where the
 * kernel does not list children (CONFIG_PROC_CHILDREN), all processes there
 * are have to be looked at.
 */
void process_tree_list(struct procfs *procfs, pid_t root, struct pid_list *list);

#endif
