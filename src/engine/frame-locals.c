#include "engine/frame-locals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/record.h"
#include "engine/request.h"
#include "protocol/stack.h"
#include "protocol/variable.h"

/* Maximum number of pages of a frame's variables; further variables are left out. */
#define PAGES_MAXIMUM 100
/* Frames of one thread beyond this depth are left out: frames of a deep recursion are alike. */
#define FRAMES_MAXIMUM 128

struct entry {
	size_t node;
	pid_t pid;
	pid_t tid;
	int depth;
	struct variable_list list;
	char *error;
};

struct frame_locals {
	struct engine *engine;
	struct request_group *group; /* one answer per entry, in the same order */
	struct entry *entries;
	size_t count;
	size_t capacity;
};

static json_t *frame_locals_make_arguments(struct engine *engine, pid_t pid, pid_t tid, int depth,
					   int64_t start)
{
	if (engine->recording.record)
		record_want_variables(engine->recording.record);
	return json_pack("{s:i, s:i, s:i, s:I}", "pid", (int)pid, "tid", (int)tid, "depth", depth,
			 "start", (json_int_t)start);
}

/*
 * Fills list from the answer. Returns -1 and sets the error also if the answer says why the frame
 * has no variables.
 */
static int read_variables(struct variable_list *list, const json_t *body, struct error *error)
{
	const char *failure = json_get_string(body, "error", NULL);

	return failure ? error_set(error, "%s", failure)
		       : variable_list_from_json(list, body, error);
}

/* Moves the variables of page to list; clears page. */
static void append_page(struct variable_list *list, struct variable_list *page)
{
	for (size_t i = 0; i < page->count; i++) {
		struct variable *variable = variable_list_add(list);

		*variable = page->items[i];
		page->items[i] = (struct variable){ .child_count = -1 };
	}
	list->total = page->total;
	variable_list_clear(page);
}

static int read_recorded(const struct engine *engine, size_t node, pid_t pid, pid_t tid, int depth,
			 struct variable_list *list, struct error *error)
{
	const struct variables *known =
		session_find_variables(&engine->session, node, pid, tid, depth, 0, 0);
	json_t *json;
	int result;

	if (!known)
		return error_set(error, "the recording has no variables of the frame: record with "
					"--record-locals");
	if (known->error)
		return error_set(error, "%s", known->error);
	json = variable_list_to_json(&known->list);
	result = variable_list_from_json(list, json, error);
	json_decref(json);
	return result;
}

int frame_locals_read(struct engine *engine, const struct rank *rank, pid_t tid, int depth,
		      struct variable_list *list, struct error *error)
{
	if (engine->replay)
		return read_recorded(engine, rank->node, rank->process.pid, tid, depth, list,
				     error);
	for (int i = 0; i < PAGES_MAXIMUM; i++) {
		struct variable_list page = { .items = NULL, .total = -1 };
		json_t *body =
			request_call(engine, rank->node, "variables",
				     frame_locals_make_arguments(engine, rank->process.pid, tid,
								 depth, (int64_t)list->count),
				     error);
		int result = body ? read_variables(&page, body, error) : -1;
		size_t count;

		json_decref(body);
		if (result < 0)
			return -1;
		count = page.count;
		append_page(list, &page);
		if (count == 0 || list->total < 0 || (int64_t)list->count >= list->total)
			break;
	}
	return 0;
}

static void ask_thread(struct frame_locals *locals, const struct rank *rank,
		       const struct thread *thread)
{
	const struct stack *stack = thread->sample.stack;
	size_t count = stack ? stack->frame_count : 0;

	for (size_t i = 0; i < count && i < FRAMES_MAXIMUM; i++) {
		struct entry entry = {
			.node = rank->node,
			.pid = rank->process.pid,
			.tid = thread->sample.tid,
			.depth = (int)i,
			.list = { .total = -1 },
		};

		if (stack->frames[i].code->type != FRAME_PYTHON)
			continue;
		if (!locals->engine->replay)
			request_group_add(locals->group, rank->node, rank->process.rank,
					  "variables",
					  frame_locals_make_arguments(locals->engine, entry.pid,
								      entry.tid, entry.depth, 0),
					  NULL);
		ARRAY_GROW(locals->entries, locals->count, locals->capacity);
		locals->entries[locals->count++] = entry;
	}
}

static void frame_locals_ask_rank(struct frame_locals *locals, const struct rank *rank)
{
	for (size_t i = 0; i < rank->thread_count; i++)
		ask_thread(locals, rank, &rank->threads[i]);
	for (size_t i = 0; i < rank->child_count; i++)
		frame_locals_ask_rank(locals, rank->children[i]);
}

static void frame_locals_take_entry(struct frame_locals *locals, struct entry *entry)
{
	struct error error = ERROR_INIT;
	struct group_answer answer;
	int result = -1;

	if (locals->engine->replay)
		result = read_recorded(locals->engine, entry->node, entry->pid, entry->tid,
				       entry->depth, &entry->list, &error);
	else if (request_group_take(locals->group, &answer) && !answer.error)
		result = read_variables(&entry->list, answer.body, &error);
	else
		error_set(&error, "%s", answer.error);
	if (result < 0)
		entry->error = xstrdup(error.message);
}

struct frame_locals *frame_locals_new(struct engine *engine, const struct rankset *ranks,
				      bool has_secrets)
{
	const struct session *session = &engine->session;
	struct frame_locals *locals = xcalloc(1, sizeof(*locals));

	locals->engine = engine;
	locals->group = request_group_new(engine, NULL, NULL, NULL);
	for (size_t i = 0; i < session->rank_count; i++) {
		if (format_is_chosen(ranks, session->ranks[i]))
			frame_locals_ask_rank(locals, session->ranks[i]);
	}
	request_group_wait(locals->group, engine->settings.timeout);
	for (size_t i = 0; i < locals->count; i++) {
		frame_locals_take_entry(locals, &locals->entries[i]);
		if (!has_secrets)
			variable_list_mask(&locals->entries[i].list);
	}
	return locals;
}

void frame_locals_free(struct frame_locals *locals)
{
	if (!locals)
		return;
	for (size_t i = 0; i < locals->count; i++) {
		variable_list_clear(&locals->entries[i].list);
		free(locals->entries[i].error);
	}
	request_group_free(locals->group);
	free(locals->entries);
	free(locals);
}

static const struct entry *frame_locals_find(const struct frame_locals *locals, size_t node,
					     pid_t pid, pid_t tid, int depth)
{
	for (size_t i = 0; locals && i < locals->count; i++) {
		const struct entry *entry = &locals->entries[i];

		if (entry->node == node && entry->pid == pid && entry->tid == tid &&
		    entry->depth == depth)
			return entry;
	}
	return NULL;
}

void frame_locals_append(struct buffer *out, const struct frame_locals *locals,
			 const struct rank *rank, pid_t tid, int depth)
{
	const struct entry *entry =
		frame_locals_find(locals, rank->node, rank->process.pid, tid, depth);

	if (!entry)
		return;
	format_text_variables(out, &entry->list, "        ");
	if (entry->error) {
		buffer_append_string(out, "        (");
		format_text(out, entry->error);
		buffer_append_string(out, ")\n");
	}
}

static void join_thread(json_t *thread, const struct frame_locals *locals, size_t node, pid_t pid)
{
	pid_t tid = (pid_t)json_get_integer(thread, "tid", 0);
	json_t *frames = json_object_get(thread, "frames");
	json_t *frame;
	int depth = 0; /* counts Python frames only */
	size_t i;

	json_array_foreach(frames, i, frame)
	{
		const char *type = json_get_string(frame, "frame_type", "");
		bool is_python = strcmp(type, "Python") == 0;
		const struct entry *entry =
			is_python ? frame_locals_find(locals, node, pid, tid, depth++) : NULL;

		json_object_set_new(frame, "variables",
				    entry && !entry->error ? format_json_variables(&entry->list)
							   : json_null());
	}
}

void frame_locals_join(json_t *rank, const struct frame_locals *locals, size_t node)
{
	pid_t pid = (pid_t)json_get_integer(rank, "pid", 0);
	json_t *value;
	size_t i;

	if (!locals)
		return;
	json_array_foreach(json_object_get(rank, "threads"), i, value)
	{
		join_thread(value, locals, node, pid);
	}
	json_array_foreach(json_object_get(rank, "children"), i, value)
	{
		frame_locals_join(value, locals, node);
	}
}
