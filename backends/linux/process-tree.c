#include "backends/linux/process-tree.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "banned.h"
#include "backends/linux/pid-list.h"
#include "backends/linux/procfs.h"

/* More processes than this mean that the job is out of control. */
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

/* False: the kernel does not list children. */
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

/* Searches repeatedly, until no further process has a parent among those found. */
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
