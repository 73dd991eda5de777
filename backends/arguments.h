/*
 * arguments: lists of processes in requests.
 */
#ifndef BACKENDS_ARGUMENTS_H
#define BACKENDS_ARGUMENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct error;

#define PIDS_MAXIMUM 65536

struct pid_list {
	pid_t *pids;
	size_t count;
	size_t capacity;
};

void pid_list_add(struct pid_list *list, pid_t pid);
void pid_list_clear(struct pid_list *list);
/* Drops those for which is_unwanted gives true. */
void pid_list_remove(struct pid_list *list, bool (*is_unwanted)(pid_t pid, void *data), void *data);
/* A list that is absent is empty; what is named twice counts once. */
int pid_list_parse(struct pid_list *list, const json_t *arguments, const char *key,
		   struct error *error);
/* One process; -1 and a sentence when the key is no pid. */
int pid_parse(pid_t *pid, const json_t *arguments, const char *key, struct error *error);

#endif
