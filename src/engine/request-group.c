#include "engine/request-group.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "engine/engine.h"
#include "engine/request.h"

struct item {
	struct request_group *group;
	struct request *request; /* NULL: answered */
	struct group_answer answer;
	char *error;
};

struct request_group {
	struct engine *engine;
	group_answered *answered;
	group_done *done;
	void *data;
	struct item **items;
	size_t count;
	size_t capacity;
	size_t open_count;
	size_t taken;
};

static void item_free(struct item *item)
{
	request_cancel(item->group->engine, item->request);
	json_decref(item->answer.body);
	free(item->answer.tag);
	free(item->error);
	free(item);
}

struct request_group *request_group_new(struct engine *engine, group_answered *answered,
					group_done *done, void *data)
{
	struct request_group *group = xcalloc(1, sizeof(*group));

	group->engine = engine;
	group->answered = answered;
	group->done = done;
	group->data = data;
	return group;
}

void request_group_free(struct request_group *group)
{
	if (!group)
		return;
	for (size_t i = 0; i < group->count; i++)
		item_free(group->items[i]);
	free(group->items);
	free(group);
}

static void remove_item(struct request_group *group, const struct item *item)
{
	size_t i = 0;

	while (group->items[i] != item)
		i++;
	group->count--;
	memmove(&group->items[i], &group->items[i + 1], (group->count - i) * sizeof(struct item *));
}

/* Call last: done() may free the group. */
static void request_group_answer(struct item *item, json_t *body, const char *error, bool is_late)
{
	struct request_group *group = item->group;

	item->request = NULL;
	item->answer.body = json_incref(body);
	item->answer.error = item->error = xstrdup_or_null(error);
	item->answer.is_late = is_late;
	group->open_count--;
	if (group->answered) {
		remove_item(group, item);
		group->answered(group->engine, &item->answer, group->data);
		item_free(item);
	}
	if (group->open_count == 0 && group->done)
		group->done(group->engine, group->data);
}

static void request_group_on_answer(struct engine *engine, json_t *body, const char *error,
				    void *data)
{
	(void)engine;
	request_group_answer(data, body, error, false);
}

void request_group_add(struct request_group *group, int rank, const char *command,
		       json_t *owned_arguments, void *owned_tag)
{
	struct item *item = xcalloc(1, sizeof(*item));

	item->group = group;
	item->answer.rank = rank;
	item->answer.tag = owned_tag;
	item->request = request_start(group->engine, command, owned_arguments,
				      request_group_on_answer, item);
	ARRAY_GROW(group->items, group->count, group->capacity);
	group->items[group->count++] = item;
	group->open_count++;
}

size_t request_group_open_count(const struct request_group *group)
{
	return group->open_count;
}

size_t request_group_count(const struct request_group *group)
{
	return group->count - group->taken;
}

int request_group_rank(const struct request_group *group, size_t i)
{
	return group->items[group->taken + i]->answer.rank;
}

/* The first open request; NULL: none. */
static struct item *request_group_find_open(const struct request_group *group)
{
	for (size_t i = group->taken; i < group->count; i++)
		if (group->items[i]->request)
			return group->items[i];
	return NULL;
}

void request_group_expire(struct request_group *group, const char *error)
{
	/* Requests that answered() adds meanwhile stay open. */
	for (size_t left = group->open_count; left > 0; left--) {
		struct item *item = request_group_find_open(group);

		request_cancel(group->engine, item->request);
		request_group_answer(item, NULL, error, true);
	}
}

static bool request_group_is_answered(const struct engine *engine, void *data)
{
	const struct request_group *group = data;

	(void)engine;
	return group->open_count == 0;
}

void request_group_wait(struct request_group *group, double seconds)
{
	char late[160];

	engine_wait(group->engine, request_group_is_answered, group, seconds);
	if (group->open_count == 0)
		return;
	snprintf(late, sizeof(late), REQUEST_LATE, seconds);
	request_group_expire(group, late);
}

bool request_group_take(struct request_group *group, struct group_answer *answer)
{
	if (group->taken == group->count)
		return false;
	*answer = group->items[group->taken++]->answer;
	return true;
}
