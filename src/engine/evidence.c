#include "engine/evidence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/json.h"
#include "engine/engine.h"
#include "protocol/message.h"

/* An answer about so many ranks is a line of a bounded length. */
#define BATCH 16
/* Processes of all that was ever told; a job that restarts has more. */
#define KEPT_MAXIMUM 65536

void evidence_clear(struct evidence *evidence)
{
	json_decref(evidence->ranks);
	json_decref(evidence->cgroups);
	json_decref(evidence->kernel);
	json_decref(evidence->ways);
	json_decref(evidence->asked);
	free(evidence->kernel_error);
	*evidence = (struct evidence){ .ranks = NULL };
}

static void keep(json_t **all, const char *key, json_t *value)
{
	if (!*all)
		*all = json_object();
	if (json_object_size(*all) < KEPT_MAXIMUM)
		json_object_set(*all, key, value);
}

static void keep_by_pid(json_t **all, json_t *list)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		int64_t pid = json_get_integer(item, "pid", 0);
		char key[24];

		if (pid <= 0)
			continue;
		snprintf(key, sizeof(key), "%lld", (long long)pid);
		keep(all, key, item);
	}
}

static void keep_cgroups(struct evidence *evidence, json_t *list)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const char *path = json_get_string(item, "path", NULL);

		if (path)
			keep(&evidence->cgroups, path, item);
	}
}

static void keep_kernel(struct evidence *evidence, const json_t *body)
{
	json_t *lines = json_object_get(body, "kernel");

	if (!lines)
		return;
	json_decref(evidence->kernel);
	evidence->kernel = json_incref(lines);
	free(evidence->kernel_error);
	evidence->kernel_error =
		xstrdup_or_null(json_get_string(body, "kernel_error", NULL));
}

void evidence_take(struct evidence *evidence, const struct message *message)
{
	json_t *ranks = json_object_get(message->body, "ranks");

	if (message->type != MESSAGE_RESPONSE || !message->is_success)
		return;
	if (strcmp(message->name, "diagnose") == 0)
		keep_by_pid(&evidence->ways, ranks);
	if (strcmp(message->name, "evidence") != 0)
		return;
	keep_by_pid(&evidence->ranks, ranks);
	keep_cgroups(evidence, json_object_get(message->body, "cgroups"));
	keep_kernel(evidence, message->body);
}

static const json_t *find(const json_t *all, pid_t pid)
{
	char key[24];

	snprintf(key, sizeof(key), "%d", (int)pid);
	return json_object_get(all, key);
}

const json_t *evidence_find(const struct evidence *evidence, pid_t pid)
{
	return find(evidence->ranks, pid);
}

const json_t *evidence_ways(const struct evidence *evidence, pid_t pid)
{
	return find(evidence->ways, pid);
}

/* What is asked about whom, and how. */
struct question {
	const char *command;
	bool (*is_wanted)(const struct engine *engine, const struct rank *rank);
	int64_t (*send)(struct engine *engine, const char *command,
			json_t *owned_arguments);
	bool has_kernel;
};

/* The kernel's log is the same for all: it comes with the first ones. */
static void send_batch(struct engine *engine, const struct question *question,
		       json_t *owned_pids, int64_t *first)
{
	json_t *arguments = json_pack("{s:o}", "pids", owned_pids);

	if (question->has_kernel && *first == 0)
		json_object_set_new(arguments, "kernel", json_true());
	if (*first == 0)
		*first = engine->seq + 1;
	question->send(engine, question->command, arguments);
}

/* Requests about all ranks that are wanted; the first one's number or 0. */
static int64_t ask(struct engine *engine, const struct question *question)
{
	const struct session *session = &engine->session;
	json_t *pids = json_array();
	int64_t first = 0;

	for (size_t i = 0; i < session->rank_count; i++) {
		pid_t pid = session->ranks[i]->process.pid;

		if (!question->is_wanted(engine, session->ranks[i]))
			continue;
		json_array_append_new(pids, json_integer(pid));
		if (json_array_size(pids) < BATCH)
			continue;
		send_batch(engine, question, pids, &first);
		pids = json_array();
	}
	if (json_array_size(pids) > 0) {
		send_batch(engine, question, pids, &first);
	} else {
		json_decref(pids);
	}
	return first;
}

static bool is_there(const struct engine *engine, const struct rank *rank)
{
	(void)engine;
	return rank->process.pid > 0;
}

static bool is_live(const struct engine *engine, const struct rank *rank)
{
	(void)engine;
	return rank->process.pid > 0 && rank->process.state != PROCESS_EXITED;
}

static bool is_new(const struct engine *engine, const struct rank *rank)
{
	return is_live(engine, rank) &&
	       !find(engine->evidence.asked, rank->process.pid);
}

static void note_asked(struct engine *engine)
{
	for (size_t i = 0; i < engine->session.rank_count; i++) {
		pid_t pid = engine->session.ranks[i]->process.pid;
		char key[24];
		json_t *mark = json_true();

		snprintf(key, sizeof(key), "%d", (int)pid);
		keep(&engine->evidence.asked, key, mark);
	}
}

void evidence_follow(struct engine *engine)
{
	static const struct question question = { "evidence", is_new,
						  engine_send, false };

	if (ask(engine, &question) > 0)
		note_asked(engine);
}

int64_t evidence_ask(struct engine *engine)
{
	static const struct question question = { "evidence", is_there,
						  engine_ask, true };

	return ask(engine, &question);
}

int64_t evidence_ask_ways(struct engine *engine)
{
	static const struct question question = { "diagnose", is_live,
						  engine_ask, false };

	return ask(engine, &question);
}

void evidence_await(struct engine *engine, int64_t first, double seconds)
{
	if (first == 0)
		return;
	engine_wait_answers(engine, first, engine->seq, seconds);
	for (int64_t seq = first; seq <= engine->seq; seq++)
		json_decref(engine_take_answer(engine, seq, NULL));
}
