/*
 * pid-list: lists of processes in requests.
 */
#ifndef BACKENDS_LINUX_PID_LIST_H
#define BACKENDS_LINUX_PID_LIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct pid_list {
	pid_t *pids;
	size_t count;
	size_t capacity;
};

void pid_list_add(struct pid_list *list, pid_t pid);
void pid_list_clear(struct pid_list *list);
/* Drops those for which is_unwanted gives true. */
void pid_list_remove(struct pid_list *list, bool (*is_unwanted)(pid_t pid, void *data), void *data);
/* "pids" of arguments that were checked; what is named twice counts once. */
void pid_list_read(struct pid_list *list, const json_t *arguments);
/* "pid" of arguments that were checked. */
pid_t pid_read(const json_t *arguments);

#endif
