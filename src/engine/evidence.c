#include "engine/evidence.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/json.h"
#include "engine/engine.h"
#include "engine/request.h"
#include "protocol/message.h"
#include "protocol/rankset.h"

/* Maximum number of ranks in a request, as the answer must fit into one line of bounded length. */
#define BATCH 16
/* Limit on processes kept; only a job that keeps restarting its ranks reaches the limit. */
#define KEPT_MAXIMUM 65536

void evidence_clear(struct evidence *evidence)
{
	json_decref(evidence->ranks);
	json_decref(evidence->kills);
	json_decref(evidence->cgroups);
	json_decref(evidence->disks);
	json_decref(evidence->kernels);
	json_decref(evidence->printers);
	json_decref(evidence->ways);
	json_decref(evidence->asked);
	json_decref(evidence->ended);
	free(evidence->kernel_error);
	*evidence = (struct evidence){ .ranks = NULL };
}

static void evidence_keep(json_t **all, const char *key, json_t *value)
{
	if (!*all)
		*all = json_object();
	if (json_object_size(*all) < KEPT_MAXIMUM)
		json_object_set(*all, key, value);
}

/* A pid alone is not unique: several machines may use the same pid, and a machine reuses pids. */
struct process_key {
	char text[80];
};

static struct process_key evidence_key_of(const struct rank *rank)
{
	struct process_key key;

	snprintf(key.text, sizeof(key.text), "%zu:%ld:%" PRIu64, rank->node,
		 (long)rank->process.pid, rank->process.start_time);
	return key;
}

/* Context while the parts of an answer are stored in evidence. */
struct taking {
	struct evidence *evidence;
	const struct session *session;
	size_t node;
};

/* The rank, or helper process, that an item of the answer is about; NULL: unknown. */
static const struct rank *rank_of(const struct taking *taking, const json_t *item)
{
	int64_t pid = json_get_integer(item, "pid", 0);

	if (pid <= 0 || pid > INT32_MAX)
		return NULL;
	return session_find_any_pid(taking->session, taking->node, (pid_t)pid);
}

static void keep_by_process(const struct taking *taking, json_t **all, json_t *list)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const struct rank *rank = rank_of(taking, item);

		if (rank)
			evidence_keep(all, evidence_key_of(rank).text, item);
	}
}

/* Key of what is one on each machine. */
static char *path_key(size_t node, const char *path)
{
	return xasprintf("%zu:%s", node, path);
}

static void keep_printer(const struct taking *taking, const json_t *item, const char *path)
{
	char *key;
	char rank[16];

	if (!path)
		return;
	key = path_key(taking->node, path);
	if (!json_object_get(taking->evidence->printers, key)) {
		json_t *none = json_object();

		evidence_keep(&taking->evidence->printers, key, none);
		json_decref(none);
	}
	snprintf(rank, sizeof(rank), "%d", (int)json_get_integer(item, "rank", -1));
	json_object_set_new(json_object_get(taking->evidence->printers, key), rank, json_true());
	free(key);
}

static void keep_printers(const struct taking *taking, json_t *list)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const json_t *line = json_object_get(json_object_get(item, "printed"), "line");

		keep_printer(taking, item,
			     json_get_string(json_object_get(item, "stderr"), "path", NULL));
		keep_printer(taking, item, json_get_string(line, "path", NULL));
	}
}

/* Keeps items by their paths: control groups, file systems. */
static void keep_by_path(const struct taking *taking, json_t **all, json_t *list)
{
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const char *path = json_get_string(item, "path", NULL);
		char *key;

		if (!path)
			continue;
		key = path_key(taking->node, path);
		evidence_keep(all, key, item);
		free(key);
	}
}

/* Keeps, of each process that is new, how many kills its control group has had by then. */
static void keep_kills(const struct taking *taking, json_t *list)
{
	struct evidence *evidence = taking->evidence;
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const struct rank *rank = rank_of(taking, item);
		struct process_key key;
		json_t *kills;

		if (!rank)
			continue;
		key = evidence_key_of(rank);
		if (json_object_get(evidence->kills, key.text))
			continue;
		kills = json_integer(
			json_get_integer(evidence_cgroup(evidence, rank), "oom_kills", -1));
		evidence_keep(&evidence->kills, key.text, kills);
		json_decref(kills);
	}
}

/* Each machine has its own kernel log; a newer answer replaces the machine's older one. */
static void keep_kernel(const struct taking *taking, const json_t *body)
{
	struct evidence *evidence = taking->evidence;
	json_t *lines = json_object_get(body, "kernel");
	const char *error = json_get_string(body, "kernel_error", NULL);
	char key[24];

	if (!lines)
		return;
	if (!evidence->kernels)
		evidence->kernels = json_object();
	snprintf(key, sizeof(key), "%zu", taking->node);
	json_object_set(evidence->kernels, key, lines);
	free(evidence->kernel_error);
	evidence->kernel_error = xstrdup_or_null(error);
}

void evidence_take(struct evidence *evidence, const struct session *session, size_t node,
		   const struct message *message)
{
	const struct taking taking = { evidence, session, node };
	json_t *ranks = json_object_get(message->body, "ranks");

	if (message->type != MESSAGE_RESPONSE || !message->is_success)
		return;
	if (strcmp(message->name, "diagnose") == 0)
		keep_by_process(&taking, &evidence->ways, ranks);
	if (strcmp(message->name, "evidence") != 0)
		return;
	keep_by_process(&taking, &evidence->ranks, ranks);
	keep_printers(&taking, ranks);
	keep_by_path(&taking, &evidence->cgroups, json_object_get(message->body, "cgroups"));
	keep_by_path(&taking, &evidence->disks, json_object_get(message->body, "disks"));
	keep_kills(&taking, ranks);
	keep_kernel(&taking, message->body);
}

const json_t *evidence_find(const struct evidence *evidence, const struct rank *rank)
{
	return json_object_get(evidence->ranks, evidence_key_of(rank).text);
}

const json_t *evidence_ways(const struct evidence *evidence, const struct rank *rank)
{
	return json_object_get(evidence->ways, evidence_key_of(rank).text);
}

/* Reads a count in the environment; -1: it is not there. */
static int read_count(const json_t *environment, const char *name)
{
	const char *text = json_get_string(environment, name, "");
	char *end;
	long count = strtol(text, &end, 10);

	return text[0] == '\0' || *end != '\0' || count < 0 || count >= INT_MAX ? -1 : (int)count;
}

bool evidence_attempt(const struct evidence *evidence, const struct rank *rank,
		      struct attempt *attempt)
{
	const json_t *environment = json_object_get(
		json_object_get(evidence_find(evidence, rank), "origin"), "environment");
	int count = read_count(environment, "TORCHELASTIC_RESTART_COUNT");
	int maximum = read_count(environment, "TORCHELASTIC_MAX_RESTARTS");

	*attempt = (struct attempt){ count + 1, maximum + 1 };
	return count >= 0 && maximum >= count;
}

const json_t *evidence_kernel_of(const struct evidence *evidence, const struct rank *rank)
{
	char key[24];

	snprintf(key, sizeof(key), "%zu", rank->node);
	return json_object_get(evidence->kernels, key);
}

void evidence_add_printers(const struct evidence *evidence, const struct rank *rank,
			   const char *path, struct rankset *ranks)
{
	char *key = path_key(rank->node, path);
	json_t *found = json_object_get(evidence->printers, key);
	const char *number;
	json_t *value;

	json_object_foreach(found, number, value)
	{
		long at = strtol(number, NULL, 10);

		if (at >= 0 && at <= RANKSET_MAXIMUM)
			rankset_add(ranks, (int)at);
	}
	free(key);
}

const json_t *evidence_cgroup(const struct evidence *evidence, const struct rank *rank)
{
	const char *path = json_get_string(evidence_find(evidence, rank), "cgroup", NULL);
	const json_t *found = NULL;
	char *key;

	if (!path)
		return NULL;
	key = path_key(rank->node, path);
	for (char *end = key + strlen(key); !found && end; end = strrchr(key, '/')) {
		*end = '\0';
		found = json_object_get(evidence->cgroups, key);
	}
	free(key);
	return found;
}

int64_t evidence_kills(const struct evidence *evidence, const struct rank *rank)
{
	json_t *first = json_object_get(evidence->kills, evidence_key_of(rank).text);
	int64_t before = json_is_integer(first) ? json_integer_value(first) : -1;
	int64_t now = json_get_integer(evidence_cgroup(evidence, rank), "oom_kills", -1);

	return before < 0 || now < before ? -1 : now - before;
}

json_t *evidence_kernel(const struct evidence *evidence)
{
	json_t *all;
	const char *key;
	json_t *lines;

	if (!evidence->kernels)
		return json_null();
	all = json_array();
	json_object_foreach(evidence->kernels, key, lines)
	{
		json_array_extend(all, lines);
	}
	return all;
}

/* A request, and a predicate for the ranks to which the request is sent. */
struct question {
	const char *command;
	bool (*is_wanted)(const struct engine *engine, const struct rank *rank);
	bool is_whole; /* with the standard error of all ranks, and the kernel's log */
};

/* Sends one request. group NULL: no caller waits for the answer, which only the session takes. */
static void send_batch(struct engine *engine, size_t node, const struct question *question,
		       json_t *owned_pids, bool is_last, struct request_group *group)
{
	json_t *arguments = json_pack("{s:o}", "pids", owned_pids);

	if (question->is_whole)
		json_object_set_new(arguments, "stderr", json_true());
	if (question->is_whole && is_last)
		json_object_set_new(arguments, "kernel", json_true());
	if (group)
		request_group_add(group, node, -1, question->command, arguments, NULL);
	else
		request_post(engine, node, question->command, arguments);
}

/*
 * Sends requests for all wanted ranks of a node; returns false if there are none. Only the last
 * request asks for the kernel log: by then the node knows all of the processes.
 */
static bool ask_node(struct engine *engine, size_t node, const struct question *question,
		     struct request_group *group)
{
	const struct session *session = &engine->session;
	json_t *pids = json_array();
	bool is_any;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (rank->node != node || !question->is_wanted(engine, rank))
			continue;
		if (json_array_size(pids) == BATCH) {
			send_batch(engine, node, question, pids, false, group);
			pids = json_array();
		}
		json_array_append_new(pids, json_integer(rank->process.pid));
	}
	is_any = json_array_size(pids) > 0;
	if (is_any)
		send_batch(engine, node, question, pids, true, group);
	else
		json_decref(pids);
	return is_any;
}

/* ask_node() for every node; returns false if no rank is wanted. */
static bool ask(struct engine *engine, const struct question *question, struct request_group *group)
{
	bool is_any = false;

	for (size_t i = 0; i < engine->session.node_count; i++)
		is_any |= ask_node(engine, i, question, group);
	return is_any;
}

static bool evidence_is_there(const struct engine *engine, const struct rank *rank)
{
	(void)engine;
	return rank->process.pid > 0;
}

static bool evidence_is_live(const struct engine *engine, const struct rank *rank)
{
	(void)engine;
	return rank->process.pid > 0 && rank->process.state != PROCESS_EXITED;
}

static bool evidence_is_new(const struct engine *engine, const struct rank *rank)
{
	return evidence_is_live(engine, rank) &&
	       !json_object_get(engine->evidence.asked, evidence_key_of(rank).text);
}

static bool has_just_ended(const struct engine *engine, const struct rank *rank)
{
	struct process_key key = evidence_key_of(rank);

	return rank->process.pid > 0 && rank->process.state == PROCESS_EXITED &&
	       json_object_get(engine->evidence.asked, key.text) &&
	       !json_object_get(engine->evidence.ended, key.text);
}

static void note_ended(struct engine *engine)
{
	for (size_t i = 0; i < engine->session.rank_count; i++) {
		const struct rank *rank = engine->session.ranks[i];

		if (has_just_ended(engine, rank))
			evidence_keep(&engine->evidence.ended, evidence_key_of(rank).text,
				      json_true());
	}
}

static void note_asked(struct engine *engine)
{
	for (size_t i = 0; i < engine->session.rank_count; i++) {
		const struct rank *rank = engine->session.ranks[i];

		if (rank->process.pid > 0)
			evidence_keep(&engine->evidence.asked, evidence_key_of(rank).text,
				      json_true());
	}
}

void evidence_follow(struct engine *engine)
{
	static const struct question question = { "evidence", evidence_is_new, false };
	static const struct question again = { "evidence", has_just_ended, false };

	if (ask(engine, &question, NULL))
		note_asked(engine);
	if (ask(engine, &again, NULL))
		note_ended(engine);
}

void evidence_await_new(struct engine *engine, double seconds)
{
	static const struct question question = { "evidence", evidence_is_new, false };
	struct request_group *group = request_group_new(engine, NULL, NULL, NULL);

	if (ask(engine, &question, group))
		note_asked(engine);
	request_group_wait(group, seconds);
	request_group_free(group);
}

void evidence_ask(struct engine *engine, struct request_group *group)
{
	static const struct question question = { "evidence", evidence_is_there, true };

	ask(engine, &question, group);
}

void evidence_ask_ways(struct engine *engine, struct request_group *group)
{
	static const struct question question = { "diagnose", evidence_is_live, false };

	ask(engine, &question, group);
}
