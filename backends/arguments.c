#include "backends/arguments.h"

#include <stdint.h>
#include <stdlib.h>

#include "banned.h"
#include "base/array.h"
#include "base/error.h"
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

static int to_pid(const json_t *value)
{
	json_int_t number = json_integer_value(value);

	return json_is_integer(value) && number > 0 && number <= INT32_MAX ? (int)number : -1;
}

int pid_parse(pid_t *pid, const json_t *arguments, const char *key, struct error *error)
{
	*pid = to_pid(json_object_get(arguments, key));
	if (*pid < 0)
		return error_set(error, "\"%s\" is not the number of a process.", key);
	return 0;
}

int pid_list_parse(struct pid_list *list, const json_t *arguments, const char *key,
		   struct error *error)
{
	const json_t *array = json_object_get(arguments, key);
	struct map *seen;
	int result = 0;

	*list = (struct pid_list){ .pids = NULL };
	if (!array || json_is_null(array))
		return 0;
	if (!json_is_array(array) || json_array_size(array) > PIDS_MAXIMUM)
		return error_set(error, "\"%s\" is not a list of processes.", key);
	seen = map_new(NULL);
	for (size_t i = 0; i < json_array_size(array) && result == 0; i++) {
		int pid = to_pid(json_array_get(array, i));

		if (pid < 0)
			result = error_set(error, "\"%s\" is not a list of processes.", key);
		else if (!map_find(seen, (uint64_t)pid)) {
			map_put(seen, (uint64_t)pid, list);
			pid_list_add(list, pid);
		}
	}
	map_free(seen);
	if (result < 0)
		pid_list_clear(list);
	return result;
}
