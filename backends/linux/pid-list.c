#include "backends/linux/pid-list.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "backends/linux/procfs.h"
#include "banned.h"
#include "base/array.h"
#include "base/json.h"
#include "base/map.h"

void pid_list_add(struct pid_list *list, pid_t pid)
{
	ARRAY_GROW(list->pids, list->count, list->capacity);
	list->pids[list->count++] = pid;
}

void pid_list_clear(struct pid_list *list)
{
	free(list->pids);
	*list = (struct pid_list){ .pids = NULL };
}

void pid_list_remove(struct pid_list *list, bool (*is_unwanted)(pid_t pid, void *data), void *data)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++)
		if (!is_unwanted(list->pids[i], data))
			list->pids[kept++] = list->pids[i];
	list->count = kept;
}

pid_t pid_read(const json_t *arguments)
{
	return (pid_t)json_get_integer(arguments, "pid", 0);
}

void pid_list_read(struct pid_list *list, const json_t *arguments)
{
	const json_t *array = json_object_get(arguments, "pids");
	struct map *seen = map_new(NULL);
	const json_t *value;
	size_t i;

	*list = (struct pid_list){ .pids = NULL };
	json_array_foreach(array, i, value)
	{
		pid_t pid = (pid_t)json_integer_value(value);

		if (map_find(seen, (uint64_t)pid))
			continue;
		map_put(seen, (uint64_t)pid, list);
		pid_list_add(list, pid);
	}
	map_free(seen);
}

/* Maximum number of processes in a tree: a job that has more is out of control. */
#define TREE_MAXIMUM 65536

static void add_numbers(struct pid_list *list, const char *bytes)
{
	char *end;

	for (;;) {
		long pid = strtol(bytes, &end, 10);

		if (end == bytes || pid <= 0)
			return;
		if (list->count < TREE_MAXIMUM)
			pid_list_add(list, (pid_t)pid);
		bytes = end;
	}
}

/* Adds the children of a process. Returns false if the kernel does not list children. */
static bool process_tree_add_children(struct procfs *procfs, pid_t pid, struct pid_list *list)
{
	char file[48];
	pid_t *tids;
	size_t count;
	char *bytes;
	bool is_told = true;

	procfs_threads(procfs, pid, &tids, &count);
	for (size_t i = 0; i < count && is_told; i++) {
		snprintf(file, sizeof(file), "task/%d/children", (int)tids[i]);
		if (procfs_read(procfs, pid, file, &bytes, NULL) >= 0)
			add_numbers(list, bytes);
		else
			is_told = tids[i] != pid || errno != ENOENT;
	}
	free(tids);
	return is_told;
}

static bool has(const struct pid_list *list, size_t from, pid_t pid)
{
	for (size_t i = from; i < list->count; i++)
		if (list->pids[i] == pid)
			return true;
	return false;
}

/*
 * For kernels that do not list children: searches all processes repeatedly, until no further
 * process has a parent among those found.
 */
static void search_all(struct procfs *procfs, pid_t root, size_t first, struct pid_list *list)
{
	struct procfs_stat stat;
	size_t before;
	pid_t *pids;
	size_t count;

	procfs_list(procfs, &pids, &count);
	do {
		before = list->count;
		for (size_t i = 0; i < count; i++) {
			if (procfs_stat(procfs, pids[i], &stat) < 0 || has(list, first, pids[i]))
				continue;
			if (stat.parent_pid == root || has(list, first, stat.parent_pid))
				pid_list_add(list, pids[i]);
		}
	} while (list->count > before);
	free(pids);
}

void process_tree_list(struct procfs *procfs, pid_t root, struct pid_list *list)
{
	size_t first = list->count;
	size_t next = first;
	bool is_told = process_tree_add_children(procfs, root, list);

	while (is_told && next < list->count)
		process_tree_add_children(procfs, list->pids[next++], list);
	if (!is_told)
		search_all(procfs, root, first, list);
}
