/* pid-list: lists of processes, for example those in requests. */
#ifndef BACKENDS_LINUX_PID_LIST_H
#define BACKENDS_LINUX_PID_LIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct pid_list;
struct procfs;

struct pid_list {
	pid_t *pids;
	size_t count;
	size_t capacity;
};

void pid_list_add(struct pid_list *list, pid_t pid);
void pid_list_clear(struct pid_list *list);
/* Removes the pids for which is_unwanted() returns true. */
void pid_list_remove(struct pid_list *list, bool (*is_unwanted)(pid_t pid, void *data), void *data);
/* Reads the array "pids" of a request's arguments, which was checked before; drops duplicates. */
void pid_list_read(struct pid_list *list, const json_t *arguments);
/* Reads "pid" of a request's arguments, which was checked before. */
pid_t pid_read(const json_t *arguments);

/* process_tree: the descendants of a process. */

/*
 * Adds all descendants of root, but not root, parents before their children. If the kernel cannot
 * list children (no CONFIG_PROC_CHILDREN), reads the parent pid of every process.
 */
void process_tree_list(struct procfs *procfs, pid_t root, struct pid_list *list);

#endif
