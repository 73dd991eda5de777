/* command-doctor: for each rank, the possible connections, and the obstacles to all other ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "protocol/process.h"
#include "protocol/rankset.h"

#define WAYS_MAXIMUM 64

static json_t *command_doctor_copy_text(const json_t *from, const char *key)
{
	return json_text(json_get_string(from, key, NULL));
}

/* Copies only the documented keys of a connection, each with its documented type. */
static json_t *way_to_json(const json_t *way, bool *is_finding)
{
	bool is_ok = json_get_boolean(way, "ok", false);
	json_t *json = json_object();

	if (!is_ok && !json_get_boolean(way, "optional", false))
		*is_finding = true;
	json_object_set_new(json, "way", command_doctor_copy_text(way, "way"));
	json_object_set_new(json, "ok", json_boolean(is_ok));
	json_object_set_new(json, "why", command_doctor_copy_text(way, "why"));
	json_object_set_new(json, "fix", command_doctor_copy_text(way, "fix"));
	return json;
}

/*
 * Returns the rank's pid; null for numbers from PROCESS_FIRST_STANDIN on, which are probetui's own
 * numbers for processes elsewhere, not pids of this machine.
 */
static json_t *shown_pid(const json_t *rank)
{
	int64_t pid = json_get_integer(rank, "pid", 0);

	return pid > 0 && pid < PROCESS_FIRST_STANDIN ? json_integer(pid) : json_null();
}

/* Adds to each answer the number of the node that it is from, as one pid may be on several. */
static void add_node(json_t *ranks, size_t node)
{
	for (size_t i = 0; i < json_array_size(ranks); i++)
		json_object_set_new(json_array_get(ranks, i), "node",
				    json_integer((json_int_t)node));
}

/* Takes the rank from the session, because the node forgets the rank of an exited process. */
static int rank_number(const struct session *session, const json_t *rank)
{
	int64_t pid = json_get_integer(rank, "pid", 0);

	for (size_t i = 0; i < session->rank_count; i++)
		if (session->ranks[i]->process.pid == pid &&
		    (int64_t)session->ranks[i]->node == json_get_integer(rank, "node", 0))
			return session->ranks[i]->process.rank;
	return (int)json_get_integer(rank, "rank", -1);
}

static json_t *command_doctor_rank_to_json(const struct session *session, const json_t *rank,
					   bool *is_finding)
{
	json_t *json = json_object();
	json_t *ways = json_array();
	const json_t *way;
	size_t i;

	json_array_foreach(json_object_get(rank, "ways"), i, way)
	{
		if (i < WAYS_MAXIMUM)
			json_array_append_new(ways, way_to_json(way, is_finding));
	}
	json_object_set_new(json, "rank", json_integer(rank_number(session, rank)));
	json_object_set_new(json, "pid", shown_pid(rank));
	json_object_set_new(json, "ways", ways);
	return json;
}

static json_t *answer_to_json(const struct session *session, const json_t *answer, bool *is_finding)
{
	json_t *json = json_object();
	json_t *ranks = json_array();
	const json_t *rank;
	size_t i;

	json_array_foreach(json_object_get(answer, "ranks"), i, rank)
	{
		json_array_append_new(ranks,
				      command_doctor_rank_to_json(session, rank, is_finding));
	}
	json_object_set_new(json, "ranks", ranks);
	return json;
}

/* True if two connections have equal answers: one fault often closes several connections. */
static bool command_doctor_is_same(const json_t *a, const json_t *b)
{
	return json_get_boolean(a, "ok", false) == json_get_boolean(b, "ok", false) &&
	       strcmp(json_get_string(a, "why", ""), json_get_string(b, "why", "")) == 0 &&
	       strcmp(json_get_string(a, "fix", ""), json_get_string(b, "fix", "")) == 0;
}

/* Appends consecutive connections with the same answer; returns the next connection's index. */
static size_t append_ways(struct buffer *out, const json_t *ways, size_t first)
{
	const json_t *way = json_array_get(ways, first);
	const char *why = json_get_string(way, "why", "");
	const char *fix = json_get_string(way, "fix", "");
	size_t next = first;

	buffer_append_string(out, json_get_boolean(way, "ok", false) ? "  yes  " : "  no   ");
	while (next < json_array_size(ways) &&
	       command_doctor_is_same(json_array_get(ways, next), way)) {
		if (next > first)
			buffer_append_string(out, ", ");
		format_text(out, json_get_string(json_array_get(ways, next++), "way", "?"));
	}
	if (why[0] != '\0') {
		buffer_append_string(out, ": ");
		format_text(out, why);
	}
	buffer_append_char(out, '\n');
	if (fix[0] != '\0') {
		buffer_append_string(out, "       ");
		format_text(out, fix);
		buffer_append_char(out, '\n');
	}
	return next;
}

static void append_heading(struct buffer *out, const json_t *rank)
{
	int pid = (int)json_get_integer(rank, "pid", 0);

	buffer_printf(out, "rank %d", (int)json_get_integer(rank, "rank", -1));
	if (pid > 0)
		buffer_printf(out, "  pid %d\n", pid);
	else
		buffer_append_string(out, "  on another machine\n");
}

/* Appends consecutive ranks that have the same answers; returns the index of the next rank. */
static size_t command_doctor_append_ranks(struct buffer *out, const json_t *ranks, size_t first)
{
	const json_t *rank = json_array_get(ranks, first);
	const json_t *ways = json_object_get(rank, "ways");
	struct rankset set = RANKSET_INIT;
	size_t next = first;
	size_t way = 0;

	while (next < json_array_size(ranks) &&
	       json_equal(json_object_get(json_array_get(ranks, next), "ways"), ways))
		rankset_add(&set, (int)json_get_integer(json_array_get(ranks, next++), "rank", -1));
	if (next == first + 1) {
		append_heading(out, rank);
	} else {
		buffer_append_string(out, "ranks ");
		rankset_append_counted(out, &set);
		buffer_append_char(out, '\n');
	}
	rankset_clear(&set);
	while (way < json_array_size(ways))
		way = append_ways(out, ways, way);
	return next;
}

static void command_doctor_append_text(struct buffer *out, const json_t *document)
{
	const json_t *ranks = json_object_get(document, "ranks");
	size_t next = 0;

	while (next < json_array_size(ranks))
		next = command_doctor_append_ranks(out, ranks, next);
}

/* Collects each rank's newest answer, live or recorded; ranks without an answer are left out. */
static json_t *known_answers(const struct engine *engine)
{
	const struct session *session = &engine->session;
	json_t *ranks = json_array();

	for (size_t i = 0; i < session->rank_count; i++) {
		const json_t *known = evidence_ways(&engine->evidence, session->ranks[i]);
		json_t *copy = known ? json_copy((json_t *)known) : NULL;

		if (!copy)
			continue;
		json_object_set_new(copy, "node",
				    json_integer((json_int_t)session->ranks[i]->node));
		json_array_append_new(ranks, copy);
	}
	return json_pack("{s:o}", "ranks", ranks);
}

/* Pids of all ranks of a node that have a process. */
static json_t *pids_of(const struct session *session, size_t node)
{
	json_t *pids = json_array();

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (rank->node == node && rank->process.pid > 0)
			json_array_append_new(pids, json_integer(rank->process.pid));
	}
	return pids;
}

/* Asks every node. Returns the answers together; NULL and *error: no node has answered. */
static json_t *command_doctor_ask(struct command_context *context, struct error *error)
{
	struct engine *engine = context->engine;
	struct request_group *group = request_group_new(engine, NULL, NULL, NULL);
	struct group_answer answer;
	struct error failure = ERROR_INIT;
	json_t *ranks = NULL;
	size_t node = 0;

	for (size_t i = 0; i < engine->session.node_count; i++)
		request_group_add(group, i, -1, "diagnose",
				  json_pack("{s:o}", "pids", pids_of(&engine->session, i)), NULL);
	request_group_wait(group, engine->settings.timeout);
	for (; request_group_take(group, &answer); node++) {
		json_t *told = json_object_get(answer.body, "ranks");

		if (answer.error) {
			error_set(&failure, "%s", answer.error);
			context->status = STATUS_PARTIAL;
			continue;
		}
		ranks = ranks ? ranks : json_array();
		add_node(told, node);
		json_array_extend(ranks, told);
	}
	request_group_free(group);
	if (!ranks)
		error_set(error, "%s", failure.message);
	return ranks ? json_pack("{s:o}", "ranks", ranks) : NULL;
}

/* A screen does not wait: answers that come later are added when they arrive. */
static int show_on_screen(struct command_context *context, struct error *error)
{
	struct engine *engine = context->engine;
	bool is_finding = false;
	json_t *answer;
	json_t *document;

	if (engine->session.rank_count == 0)
		return error_set(error, "no rank to check");
	if (!context->is_fresh && !engine->replay)
		evidence_ask_ways(engine, NULL);
	answer = known_answers(engine);
	document = answer_to_json(&engine->session, answer, &is_finding);
	command_doctor_append_text(context->out, document);
	if (context->out->length == 0 && engine->replay)
		error_set(error, "the recording has no results of the command doctor");
	else if (context->out->length == 0)
		buffer_append_string(context->out, "waiting for the results of probetui-node\n");
	json_decref(document);
	json_decref(answer);
	return context->out->length > 0 ? 0 : -1;
}

static int doctor_run(struct command_context *context, const struct arguments *arguments,
		      struct error *error)
{
	bool is_finding = false;
	json_t *answer;
	json_t *document;

	(void)arguments;
	if (context->screen)
		return show_on_screen(context, error);
	if (command_check_job(context->engine, "doctor", error) < 0)
		return -1;
	if (collect_ranks(context, error) < 0) {
		if (context->is_json)
			format_document(context->out, json_pack("{s:[]}", "ranks"));
		return -1;
	}
	answer = command_doctor_ask(context, error);
	if (!answer) {
		context->status = STATUS_NOTHING;
		return -1;
	}
	document = answer_to_json(&context->engine->session, answer, &is_finding);
	json_decref(answer);
	collect_finding(context, is_finding);
	if (context->is_json) {
		format_document(context->out, document);
		return 0;
	}
	command_doctor_append_text(context->out, document);
	json_decref(document);
	return 0;
}

const struct command command_doctor = {
	.name = "doctor",
	.synopsis = "",
	.help = "check which ways to read and debug each rank work, and why the other ways do not",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_LIVE,
	.run = doctor_run,
};
