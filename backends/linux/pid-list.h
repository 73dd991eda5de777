/*
 * pid-list: lists of processes in requests.
 */
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
/* Reads the array "pids" of a request's arguments, already checked; duplicates count once. */
void pid_list_read(struct pid_list *list, const json_t *arguments);
/* Reads "pid" of a request's arguments, already checked. */
pid_t pid_read(const json_t *arguments);

/*
 * The descendants of a process.
 */

/*
 * Adds all descendants of root, but not root, parents before their children. If
 * the kernel does not list children (CONFIG_PROC_CHILDREN), the parent of every
 * process is read.
 */
void process_tree_list(struct procfs *procfs, pid_t root, struct pid_list *list);

#endif
