#include "backends/linux/pid-list.h"

#include <stdint.h>
#include <stdlib.h>

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
