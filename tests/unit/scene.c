#include "scene.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <cmocka.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/map.h"
#include "protocol/message.h"

#define EPOCH_TIME 1000.0

static const struct {
	const char *shorthand;
	const char *path;
} roots[] = {
	{ "torch/", "/venv/lib/python3.11/site-packages/torch/" },
	{ "lib/", "/usr/lib/python3.11/" },
	{ "/", "/" },
	{ "<", "<" },
	{ "?", "?" }, /* of code that a node could not read */
	{ "", "/job/" },
};

void scene_init(struct scene *scene)
{
	*scene = (struct scene){ .now = 0, .next_id = 1 };
	session_init(&scene->session);
	session_add_node(&scene->session, "gpu01");
	scene->stacks = strmap_new(NULL);
	scene->codes = strmap_new(NULL);
}

void scene_clear(struct scene *scene)
{
	strmap_free(scene->stacks);
	strmap_free(scene->codes);
	session_clear(&scene->session);
}

static int apply(struct scene *scene, struct message *message)
{
	int result;

	scene->error = (struct error)ERROR_INIT;
	result = session_apply(&scene->session, 0, message, scene->now, &scene->error);
	if (scene->sent)
		scene->sent(scene, message, scene->sent_data);
	message_clear(message);
	assert_int_equal(result < 0, error_is_set(&scene->error));
	return result;
}

int scene_event(struct scene *scene, const char *name, json_t *owned_body)
{
	struct message message;

	message_make_event(&message, name, owned_body);
	return apply(scene, &message);
}

int scene_response(struct scene *scene, const char *name, json_t *owned_body)
{
	struct message request;
	struct message message;

	message_make_request(&request, name, NULL);
	message_make_response(&message, &request, owned_body, NULL);
	message_clear(&request);
	return apply(scene, &message);
}

json_t *scene_json(const char *text, struct error *error)
{
	char *json = xstrdup(text);
	json_t *value;

	for (char *at = json; *at; at++) {
		if (*at == '\'')
			*at = '"';
	}
	value = json_parse(json, strlen(json), error);
	free(json);
	return value;
}

int scene_text(struct scene *scene, const char *event, const char *text)
{
	json_t *body = scene_json(text, NULL);

	assert_non_null(body);
	return scene_event(scene, event, body);
}

json_t *scene_process(int rank, int pid, int world_size)
{
	return json_pack("{s:i,s:i,s:i,s:i,s:i,s:i,s:I,s:s,s:s,s:i,s:s,s:s,s:s,s:s,s:s}", "pid",
			 pid, "rank", rank, "local_rank", rank, "group_rank", 0, "world_size",
			 world_size, "uid", 1000, "start_time", (json_int_t)pid, "host", "gpu01",
			 "job", "127.0.0.1:29500", "launcher_pid", 90, "launcher", "torchrun",
			 "script", "train.py", "script_path", "/job/train.py", "cwd", "/job",
			 "state", "live");
}

void scene_discovered(struct scene *scene)
{
	assert_int_equal(scene_response(scene, "discover",
					json_pack("{s:i,s:i,s:[]}", "looked_at", 41, "uid", 1000,
						  "bystanders")),
			 0);
}

void scene_start(struct scene *scene, int count)
{
	for (int rank = 0; rank < count; rank++)
		assert_int_equal(
			scene_event(scene, "rankAdded", scene_process(rank, 100 + rank, count)), 0);
	scene_discovered(scene);
}

/* The id of text, and whether it is new. */
static int64_t find_id(struct scene *scene, struct strmap *ids, const char *text, bool *is_new)
{
	intptr_t id = (intptr_t)strmap_find(ids, text);

	*is_new = id == 0;
	if (id == 0) {
		id = (intptr_t)scene->next_id++;
		strmap_put(ids, text, (void *)id);
	}
	return id;
}

static void append_path(struct buffer *out, const char *file)
{
	size_t i = 0;
	size_t length;

	while (strncmp(file, roots[i].shorthand, strlen(roots[i].shorthand)))
		i++;
	length = strlen(roots[i].shorthand);
	buffer_append_string(out, roots[i].path);
	buffer_append_string(out, file + length);
}

/* text is one frame: "load_batch train.py:5" */
static void add_frame(struct scene *scene, const char *text, json_t *codes, json_t *frames)
{
	char *copy = xstrdup(text);
	char *colon = strrchr(copy, ':');
	char *file = strchr(copy, ' ');
	struct buffer path = BUFFER_INIT;
	bool is_new;
	int64_t id;

	assert_non_null(colon);
	assert_non_null(file);
	*colon = '\0';
	id = find_id(scene, scene->codes, copy, &is_new);
	*file = '\0';
	append_path(&path, file + 1);
	if (is_new)
		json_array_append_new(codes, json_pack("[I,s,s,s,i,i]", (json_int_t)id, copy, copy,
						       path.data, 1, 0));
	json_array_append_new(frames,
			      json_pack("[I,i]", (json_int_t)id, (int)strtol(colon + 1, NULL, 10)));
	buffer_clear(&path);
	free(copy);
}

static json_t *make_stack(struct scene *scene, const char *text, int64_t id)
{
	json_t *codes = json_array();
	json_t *frames = json_array();
	char *copy = xstrdup(text);
	char *at = copy;

	while (*at) {
		char *end = strstr(at, " < ");

		if (end)
			*end = '\0';
		add_frame(scene, at, codes, frames);
		if (!end)
			break;
		at = end + 3;
	}
	free(copy);
	return json_pack("{s:I,s:i,s:o,s:o}", "id", (json_int_t)id, "dropped", 0, "codes", codes,
			 "frames", frames);
}

static json_t *make_thread(struct scene *scene, const struct seen *seen, json_t *stacks)
{
	int tid = seen->tid ? seen->tid : seen->pid;
	json_t *thread = json_pack(
		"{s:i,s:b,s:s,s:s,s:i,s:I,s:I,s:b}", "tid", tid, "is_main", seen->tid == 0, "state",
		seen->state ? seen->state : "blocked", "exact", "consistent", "syscall",
		seen->syscall ? seen->syscall : SYS_futex, "cpu_ns", (json_int_t)(seen->cpu * 1e9),
		"switches", (json_int_t)seen->switches, "has_gil", seen->has_gil);

	if (seen->missing)
		json_object_set_new(thread, "missing", json_string(seen->missing));
	if (seen->call)
		json_object_set_new(thread, "call", json_string(seen->call));
	if (seen->values != 0)
		json_set_hex(thread, "values", seen->values);
	if (seen->holder != 0)
		json_object_set_new(thread, "holder", json_integer(seen->holder));
	if (seen->awaited) {
		json_object_set_new(thread, "awaited", json_string(seen->awaited));
		json_set_hex(thread, "argument", 77);
	}
	if (seen->argument != 0)
		json_set_hex(thread, "argument", seen->argument);
	if (seen->stack) {
		bool is_new;
		int64_t id = find_id(scene, scene->stacks, seen->stack, &is_new);

		if (is_new)
			json_array_append_new(stacks, make_stack(scene, seen->stack, id));
		json_object_set_new(thread, "stack", json_integer((json_int_t)id));
	}
	return thread;
}

int scene_see_threads(struct scene *scene, const struct seen *seen, size_t count)
{
	json_t *stacks = json_array();
	json_t *threads = json_array();
	int result;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(threads, make_thread(scene, &seen[i], stacks));
	result = scene_event(scene, "sampled",
			     json_pack("{s:i,s:I,s:f,s:o,s:o}", "pid", seen->pid, "epoch",
				       (json_int_t)++scene->epoch, "time", EPOCH_TIME + scene->now,
				       "stacks", stacks, "threads", threads));
	if (result < 0)
		print_error("# %s\n", scene->error.message);
	return result;
}

int scene_see(struct scene *scene, const struct seen *seen)
{
	return scene_see_threads(scene, seen, 1);
}

void scene_drop_stacks(struct scene *scene)
{
	strmap_free(scene->stacks);
	strmap_free(scene->codes);
	scene->stacks = strmap_new(NULL);
	scene->codes = strmap_new(NULL);
	scene->next_id = 1;
	assert_int_equal(scene_event(scene, "stacksDropped", NULL), 0);
}

void scene_wait(struct scene *scene, double seconds)
{
	scene->now += seconds;
}

const struct verdict *scene_judge(struct scene *scene)
{
	session_judge(&scene->session);
	return &scene->session.verdict;
}
