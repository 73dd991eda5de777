/*
 * command-collectives: prints the collectives of torch.distributed that ranks have called: for each
 * process group the newest call of each member, and the members that are behind.
 */
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/collect.h"
#include "engine/collective-query.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/flight-recorder-dump.h"
#include "engine/format-collectives.h"
#include "engine/format.h"
#include "engine/request.h"
#include "model/group-table.h"
#include "model/rankselect.h"
#include "model/wait-graph.h"
#include "protocol/collectives.h"

#define CALLS_MAXIMUM 2000 /* of the request's argument `count` */

/* What the command was asked for, and found. */
struct collectives_look {
	struct command_context *context;
	const struct session *session; /* the engine's, or that of dumps */
	const char *group;	       /* NULL: all groups */
	int last;		       /* 0: no single calls */
	bool is_mismatch;
	struct wait_graph graph;
	json_t *errors; /* [{"rank", "error"}] */
};

static bool is_of_dumps(const struct collectives_look *look)
{
	return look->session != &look->context->engine->session;
}

static void add_error(struct collectives_look *look, int rank, const char *why)
{
	json_t *error = json_pack("{s:i}", "rank", rank);

	json_set_text(error, "error", why);
	json_array_append_new(look->errors, error);
	look->context->status = STATUS_PARTIAL;
}

/* Asks all ranks, and waits; the session takes the answers. */
static void collectives_ask_all(struct collectives_look *look)
{
	struct engine *engine = look->context->engine;
	struct request_group *group;
	struct group_answer answer;

	if (look->context->screen || engine->replay)
		return;
	group = request_group_new(engine, NULL, NULL, NULL);
	collectives_ask(engine,
			look->last > COLLECTIVES_SHOWN ? (size_t)look->last : COLLECTIVES_SHOWN,
			group);
	request_group_wait(group, engine->settings.timeout);
	while (request_group_take(group, &answer)) {
		if (answer.error)
			add_error(look, answer.rank, answer.error);
	}
	request_group_free(group);
	engine_judge(engine);
}

/* Notes why entries of chosen ranks are missing. */
static void add_missing_errors(struct collectives_look *look)
{
	const struct session *session = look->session;

	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (!format_is_chosen(&look->context->ranks, rank) || !rank->collectives)
			continue;
		if (!rank->collectives->version && !rank->is_of_dump)
			add_error(look, rank->process.rank, "torch.distributed is not imported");
		else if (rank->collectives->missing)
			add_error(look, rank->process.rank, rank->collectives->missing);
	}
}

static bool is_shown(const struct collectives_look *look, const struct group_row *row)
{
	const struct process_group *group = row->group;

	if (look->is_mismatch && !group_row_is_uneven(row))
		return false;
	return !look->group || group_has_name(group, look->group);
}

/* True if the rank's calls are to be shown; *row: on this group, NULL: on all. */
static bool has_shown_calls(const struct collectives_look *look, const struct rank *rank,
			    const struct group_row **row)
{
	*row = look->group ? group_table_find(&look->graph.table, look->group, rank) : NULL;
	return format_is_chosen(&look->context->ranks, rank) && rank->collectives &&
	       (*row || !look->group);
}

/* Prints the calls of each chosen rank. */
static void append_calls(const struct collectives_look *look)
{
	const struct session *session = look->session;

	for (size_t i = 0; look->last > 0 && i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];
		const struct group_row *row;

		if (!has_shown_calls(look, rank, &row))
			continue;
		buffer_printf(look->context->out, "rank %d\n", rank->process.rank);
		format_text_calls(look->context->out, rank, row, (size_t)look->last);
	}
}

static void append_errors(const struct collectives_look *look)
{
	const json_t *error;
	size_t i;

	json_array_foreach(look->errors, i, error)
	{
		buffer_printf(look->context->out,
			      "rank %d: ", (int)json_get_integer(error, "rank", -1));
		format_text(look->context->out, json_get_string(error, "error", ""));
		buffer_append_char(look->context->out, '\n');
	}
}

static bool is_hung(const struct collectives_look *look)
{
	return is_of_dumps(look) || look->session->verdict.state == VERDICT_HUNG;
}

/* True if nothing moves, or only ranks that others wait for, so that the graph's cause is one. */
static bool is_standing(const struct collectives_look *look)
{
	const struct verdict *verdict = &look->session->verdict;

	return is_hung(look) ||
	       (verdict->state == VERDICT_PROGRESSING && verdict->outliers.range_count > 0);
}

/*
 * True if the members of a shown group have made different calls, or the graph has a cause and
 * nothing moves.
 */
static bool collectives_is_finding(const struct collectives_look *look)
{
	for (size_t i = 0; i < look->graph.table.count; i++) {
		const struct group_row *row = &look->graph.table.rows[i];

		if (is_shown(look, row) && group_row_mismatch(row) >= 0)
			return true;
	}
	return look->graph.cause != WAIT_CAUSE_NONE && is_standing(look);
}

static void collectives_append_text(const struct collectives_look *look)
{
	struct buffer *out = look->context->out;

	if (is_standing(look) && look->graph.cause != WAIT_CAUSE_NONE) {
		wait_sentence_append(out, &look->graph, is_hung(look));
		buffer_append_char(out, '\n');
	}
	for (size_t i = 0; i < look->graph.table.count; i++) {
		if (is_shown(look, &look->graph.table.rows[i]))
			format_text_group(out, &look->graph.table.rows[i]);
	}
	append_calls(look);
	append_errors(look);
}

static json_t *collectives_ranks_to_json(const struct collectives_look *look)
{
	const struct session *session = look->session;
	json_t *ranks = json_array();

	for (size_t i = 0; look->last > 0 && i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];
		const struct group_row *row;

		if (has_shown_calls(look, rank, &row))
			json_array_append_new(
				ranks, json_pack("{s:i, s:o}", "rank", rank->process.rank, "calls",
						 format_json_calls(rank, row, (size_t)look->last)));
	}
	return ranks;
}

static void collectives_append_json(const struct collectives_look *look)
{
	struct buffer sentence = BUFFER_INIT;
	json_t *document = json_object();
	json_t *groups = json_array();

	if (is_standing(look))
		wait_sentence_append(&sentence, &look->graph, is_hung(look));
	for (size_t i = 0; i < look->graph.table.count; i++) {
		if (is_shown(look, &look->graph.table.rows[i]))
			json_array_append_new(groups,
					      format_json_group(&look->graph.table.rows[i]));
	}
	json_set_text(document, "sentence", sentence.length > 0 ? sentence.data : NULL);
	json_object_set_new(document, "groups", groups);
	json_object_set_new(document, "ranks", collectives_ranks_to_json(look));
	json_object_set(document, "errors", look->errors);
	format_document(look->context->out, document);
	buffer_clear(&sentence);
}

static int collectives_check(struct collectives_look *look, struct error *error)
{
	if (look->group && !group_table_find(&look->graph.table, look->group, NULL)) {
		look->context->status = STATUS_USAGE;
		return error_set(error,
				 "no process group '%.80s': `probetui collectives` lists "
				 "the groups",
				 look->group);
	}
	if (look->graph.table.count > 0)
		return 0;
	look->context->status = STATUS_NOTHING;
	if (json_array_size(look->errors) > 0)
		return error_set(error, "no process group could be read: rank %d: %.300s",
				 (int)json_get_integer(json_array_get(look->errors, 0), "rank", -1),
				 json_get_string(json_array_get(look->errors, 0), "error", ""));
	if (look->context->engine->replay)
		return error_set(error, "the recording has no collectives at this time: they are "
					"recorded while ranks wait for each other");
	return error_set(error, "no rank has made a process group: torch.distributed is not "
				"initialized");
}

/* Asks the ranks; again after a while if they wait for each other, as ranks of a healthy job do. */
static int collectives_look_at_all(struct collectives_look *look, struct error *error)
{
	collectives_ask_all(look);
	wait_graph_make(&look->graph, look->session);
	if (look->graph.cause == WAIT_CAUSE_NONE)
		return 0;
	if (collect_more(look->context, VERDICT_STILL_SECONDS, error) < 0)
		return -1;
	wait_graph_clear(&look->graph);
	json_array_clear(look->errors);
	collectives_ask_all(look);
	wait_graph_make(&look->graph, look->session);
	return 0;
}

static int collectives_print(struct collectives_look *look, struct error *error)
{
	add_missing_errors(look);
	if (collectives_check(look, error) < 0)
		return -1;
	if (look->context->is_json)
		collectives_append_json(look);
	else
		collectives_append_text(look);
	collect_finding(look->context, collectives_is_finding(look));
	return 0;
}

/* Prints what the ranks of the job have called. */
static int collectives_show(struct collectives_look *look, struct error *error)
{
	struct command_context *context = look->context;
	int result;

	if (collect_samples(context, VERDICT_SECONDS, error) < 0 ||
	    collect_named(context, error) < 0)
		return -1;
	result = collectives_look_at_all(look, error);
	if (result == 0)
		result = collectives_print(look, error);
	wait_graph_clear(&look->graph);
	return result;
}

/* Takes `ranks SET`, else --ranks, of the ranks that have dumps. */
static int choose_ranks(struct collectives_look *look, struct error *error)
{
	struct command_context *context = look->context;
	const char *set =
		context->ranks_text ? context->ranks_text : context->engine->settings.ranks;

	if (!set || rankselect_find(set, look->session, &context->ranks, error) == 0)
		return 0;
	context->status = STATUS_USAGE;
	return -1;
}

/* Reads the files; one that cannot be read hides no other. -1 and *error: none can be. */
static int read_dumps(struct collectives_look *look, struct session *session,
		      const struct arguments *arguments, struct error *error)
{
	struct command_context *context = look->context;
	struct error why = ERROR_INIT;

	for (size_t i = 0; i < arguments->count; i++) {
		if (flight_recorder_dump_add(session, arguments->words[i], &why) == 0)
			continue;
		context->status = STATUS_PARTIAL;
		if (context->notes && arguments->count > 1)
			buffer_printf(context->notes, "probetui: %s\n", why.message);
	}
	if (session->rank_count > 0)
		return 0;
	context->status = STATUS_NOTHING;
	return error_set(error, "%s",
			 arguments->count > 1 ? "none of the files can be read" : why.message);
}

/* Prints what is in dumps of Flight Recorders, a file for each rank. */
static int collectives_show_dumps(struct collectives_look *look, const struct arguments *arguments,
				  struct error *error)
{
	struct session session;
	int result;

	session_init(&session);
	look->session = &session;
	result = read_dumps(look, &session, arguments, error);
	if (result == 0)
		result = choose_ranks(look, error);
	wait_graph_make(&look->graph, &session);
	if (result == 0)
		result = collectives_print(look, error);
	wait_graph_clear(&look->graph);
	session_clear(&session);
	return result;
}

/* True if options name a job, whose ranks FILE is not about. */
static bool names_job(const struct settings *settings)
{
	return settings->job || settings->pid_count > 0 || settings->connect_count > 0 ||
	       settings->replay_count > 0;
}

static int collectives_run(struct command_context *context, const struct arguments *arguments,
			   struct error *error)
{
	const char *last = arguments_value(arguments, "--last");
	struct collectives_look look = {
		.context = context,
		.session = &context->engine->session,
		.group = arguments_value(arguments, "--group"),
		.is_mismatch = arguments_has(arguments, "--mismatch"),
	};
	int result;

	if (last &&
	    arguments_integer(last, "number of calls", 1, CALLS_MAXIMUM, &look.last, error) < 0)
		return -1;
	if (arguments->count > 0 && names_job(&context->engine->settings)) {
		context->status = STATUS_USAGE;
		return error_set(error, "FILE is read without a job: leave out --job, --pid, "
					"--connect and --replay");
	}
	look.errors = json_array();
	result = arguments->count > 0 ? collectives_show_dumps(&look, arguments, error)
				      : collectives_show(&look, error);
	json_decref(look.errors);
	return result;
}

const struct command command_collectives = {
	.name = "collectives",
	.synopsis = "[--group NAME] [--last N] [--mismatch] [FILE...] [ranks SET]",
	.screen_synopsis = "",
	.screen_help = "show which collectives the ranks have called, by process group",
	.help = "print which collectives the ranks have called, by process group; of FILE: a "
		"Flight "
		"Recorder's dump",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_LIVE | COMMAND_RANKS,
	.run = collectives_run,
};
