#include "engine/commands.h"

#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/arguments.h"
#include "engine/command.h"
#include "engine/completion.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "engine/script.h"

#define END_SECONDS 15.0
#define SHELL COMMAND_SHELL
#define BOTH (COMMAND_SHELL | COMMAND_SCREEN)
#define LIVE (BOTH | COMMAND_LIVE)

static const struct command rows[] = {
	{ "ranks", NULL, "[ranks SET]", "each rank: state, class, place", LIVE | COMMAND_RANKS,
	  command_ranks },
	{ "verdict", NULL, "[--for SECONDS]", "which rank is the odd one out, and where", LIVE,
	  command_verdict },
	{ "stacks", "dump backtrace",
	  "[--merge] [--native] [--locals [--secrets]] [PID | ranks SET]",
	  "the stacks of all threads, or the merged tree", LIVE | COMMAND_RANKS | COMMAND_PID,
	  command_stacks },
	{ "diff", NULL, "A B", "two stacks; A, B: a rank, a set or majority", SHELL, command_diff },
	{ "jobs", NULL, "[--for SECONDS]", "the jobs that run here, and how they are", SHELL,
	  command_jobs },
	{ "locals", NULL, "--rank R [--thread TID] [--frame DEPTH] [--secrets]",
	  "the variables of a frame (0 is the innermost)", SHELL, command_locals },
	{ "output", NULL, "[--lines N] [ranks SET]",
	  "what ranks printed last, where it goes to files", SHELL | COMMAND_RANKS,
	  command_output },
	{ "doctor", NULL, "", "the ways into each rank, and what is in the way", LIVE,
	  command_doctor },
	{ "inject", "listen", "[PID | ranks SET]",
	  "put the agent into ranks that run; it says where it listens",
	  BOTH | COMMAND_RANKS | COMMAND_PID, command_inject },
	{ "pprof", NULL, "", "of Probe: there is no profiler yet",
	  SHELL | COMMAND_ALONE | COMMAND_INTERNAL, command_missing },
	{ "query", NULL, "[TEXT]", "of Probing: there are no tables yet",
	  SHELL | COMMAND_ALONE | COMMAND_INTERNAL, command_missing },
	{ "eject", NULL, "[PID | ranks SET]",
	  "take the agent out of ranks again; nothing of it is left",
	  BOTH | COMMAND_RANKS | COMMAND_PID, command_eject },
	{ "catch", NULL,
	  "[PID] [on | off] [lease TIME] [types TYPE...] | raised TYPE... | raised off [ranks SET]",
	  "hold ranks where an exception is not caught; or stop them where one is raised",
	  BOTH | COMMAND_RANKS | COMMAND_PID, command_catch },
	{ "execute", NULL, "[PID] FILE | CODE [ranks SET]",
	  "run a file, or CODE, beside the program of each rank",
	  SHELL | COMMAND_RANKS | COMMAND_PID, command_execute },
	{ "report", NULL, "[--out FILE] [ranks SET]",
	  "one page for a ticket: what is known of the job", LIVE | COMMAND_RANKS, command_report },
	{ "rank", NULL, "N", "look at rank N", SHELL, command_rank },
	{ "thread", NULL, "TID", "look at another thread of the rank", BOTH, command_thread },
	{ "frame", NULL, "N", "look at frame N; 0 is the innermost", BOTH, command_frame },
	{ "up", "u", "[COUNT]", "look at the caller's frame", SHELL, command_up },
	{ "down", "d", "[COUNT]", "look at the called frame", SHELL, command_down },
	{ "focus", NULL, "SET", "the ranks that commands act on; all: every one", BOTH,
	  command_focus },
	{ "name", NULL, "[NAME SET]", "call a set of ranks @NAME; alone: list the names", BOTH,
	  command_name },
	{ "where", "w", "", "the stack of the rank and thread looked at", SHELL, command_where },
	{ "wait", NULL,
	  "--stuck SECONDS [--report DIR] | verdict TEXT | stopped [ranks SET] | nan | exited "
	  "[ranks SET] [timeout S]",
	  "watch the job; leave with 1 and a report when it is stuck or fails; or wait 30 s until "
	  "it is so",
	  SHELL, command_wait },
	{ "connect", NULL, "TARGET | [--yes] [ranks SET]",
	  "be the client of agent:PID, http://HOST:PORT, pdb:unix:PATH, pdb:tcp:HOST:PORT, or of "
	  "debuggers that wait",
	  BOTH | COMMAND_RANKS | COMMAND_ASKS, command_connect },
	{ "detach", NULL, "[--yes] [ranks SET]",
	  "leave their debuggers; ranks that would wait for probetui continue",
	  BOTH | COMMAND_RANKS | COMMAND_ASKS, command_detach },
	{ "pause", NULL, "[PID | ranks SET]", "stop ranks that run, where they are",
	  BOTH | COMMAND_RANKS | COMMAND_PID, command_pause },
	{ "next", "n", "[--yes] [ranks SET]", "run to the next line of the frame",
	  BOTH | COMMAND_RANKS | COMMAND_ASKS, command_next },
	{ "step", "s", "[--yes] [ranks SET]", "run to the next line, into calls",
	  BOTH | COMMAND_RANKS | COMMAND_ASKS, command_step },
	{ "continue", "c", "[--yes] [ranks SET]", "run on, to the next breakpoint",
	  BOTH | COMMAND_RANKS | COMMAND_ASKS, command_continue },
	{ "release", NULL, "[ranks SET]", "resume stopped ranks that a step may wait for",
	  BOTH | COMMAND_RANKS, command_release },
	{ "finish", "f return r", "[--yes] [ranks SET]", "run until the frame returns",
	  BOTH | COMMAND_RANKS | COMMAND_ASKS, command_finish },
	{ "until", NULL, "[--yes] [LINE] [ranks SET]",
	  "run to a greater line, or to LINE or beyond", BOTH | COMMAND_RANKS | COMMAND_ASKS,
	  command_until },
	{ "jump", "j", "LINE [ranks SET]", "continue at LINE, without running the lines between",
	  BOTH | COMMAND_RANKS, command_jump },
	{ "break", "b", "[FILE:LINE | LINE | FUNCTION] [if CONDITION] [log TEXT] [ranks SET]",
	  "stop there, or only say TEXT with its {EXPR}; alone: the breakpoints",
	  BOTH | COMMAND_RANKS, command_break },
	{ "tbreak", NULL, "FILE:LINE | LINE | FUNCTION [if CONDITION] [ranks SET]",
	  "stop there once", BOTH | COMMAND_RANKS, command_tbreak },
	{ "watch", NULL, "[EXPR | *ADDRESS:BYTES] [ranks SET]",
	  "stop where its value changes, in the frame looked at of ranks that are stopped; alone: "
	  "the watches",
	  BOTH | COMMAND_RANKS, command_watch },
	{ "watch-nan", NULL, "[[--gradients] EXPR [stop] | off] [ranks SET]",
	  "tell of the first NaN or infinity in its value; stop: and pause the ranks; a shell "
	  "waits for it",
	  BOTH | COMMAND_RANKS, command_watch_nan },
	{ "clear", "cl delete", "[ID | all]", "take a breakpoint away; alone: all of them", BOTH,
	  command_clear },
	{ "enable", NULL, "ID", "the breakpoint stops again", BOTH, command_enable },
	{ "disable", NULL, "ID", "the breakpoint stays, and does not stop", BOTH, command_disable },
	{ "ignore", NULL, "ID N", "the next N times it does not stop", BOTH, command_ignore },
	{ "condition", NULL, "ID [EXPR]", "it stops only where EXPR is true; alone: always", BOTH,
	  command_condition },
	{ "display", NULL, "[EXPR]",
	  "evaluate EXPR at each stop of the rank looked at; alone: what is", BOTH,
	  command_display },
	{ "undisplay", NULL, "ID", "evaluate it no more", BOTH, command_undisplay },
	{ "print", "p", "EXPR [ranks SET]",
	  "evaluate EXPR in the frame looked at, in each stopped rank", BOTH | COMMAND_RANKS,
	  command_print },
	{ "assign", NULL, "NAME = VALUE [ranks SET]",
	  "set a variable of the frame looked at, in the rank looked at", SHELL | COMMAND_RANKS,
	  command_assign },
	{ "eval", NULL, "CODE [ranks SET]",
	  "run CODE in each rank, stopped or not, equal answers together", SHELL | COMMAND_RANKS,
	  command_eval },
	{ "compare", NULL, "[--tolerance X] [--difference] [--sample] EXPR [ranks SET]",
	  "EXPR in each rank, stopped or not, equal values and tensors together; 1: they differ",
	  SHELL | COMMAND_RANKS, command_compare },
	{ "tensor", NULL, "EXPR [--rank R] [--sample] [--slice SLICE] [--npy FILE]",
	  "a tensor of one rank, and its statistics; a slice ([0:8, 3]) of it, or all of it as a "
	  "file of numpy",
	  SHELL, command_tensor },
	{ "diff-params", NULL, "[--gradients] [EXPR] [ranks SET]",
	  "all parameters and buffers of EXPR (model), in each rank: the first that differs, and "
	  "how; 1: one does",
	  SHELL | COMMAND_RANKS, command_diff_params },
	{ "broadcast", NULL, "[--yes] LINE [ranks SET]",
	  "LINE to the prompt of each stopped rank, equal answers together",
	  SHELL | COMMAND_RANKS | COMMAND_ASKS, command_broadcast },
	{ "terminate", NULL, "[--yes] [ranks SET]",
	  "quit their debuggers, which raises in the program", BOTH | COMMAND_RANKS | COMMAND_ASKS,
	  command_terminate },
	{ "set", NULL, "[SETTING [VALUE]]", "what can be set, and its values; or set it",
	  SHELL | COMMAND_TEXT | COMMAND_ALONE, command_set },
	{ "completion", NULL, "bash | zsh", "a script that completes words in a shell",
	  SHELL | COMMAND_TEXT | COMMAND_ALONE, command_completion },
	{ "help", NULL, "[COMMAND]", "the commands", SHELL | COMMAND_TEXT | COMMAND_ALONE,
	  command_help },
	{ "quit", "q", "[detach | end]",
	  "end the script. A job that was started keeps running, or is ended", SHELL,
	  command_quit },
};
const struct command_table engine_commands = { rows, ARRAY_LENGTH(rows) };

int command_help(struct command_context *context, int argc, char **argv, struct error *error)
{
	static const struct arguments none = {
		.maximum = 1,
		.usage = "[COMMAND]",
	};
	struct command_table one;
	const struct command *command;

	if (arguments_parse(&none, argc, argv, error) < 0)
		return -1;
	if (argc < 2) {
		command_append_help(context->out, context->tables, context->table_count,
				    COMMAND_SHELL);
		return 0;
	}
	command = command_find(context->tables, context->table_count, argv[1], BOTH, error);
	if (!command)
		return -1;
	one = (struct command_table){ command, 1 };
	command_append_help(context->out, &one, 1, BOTH);
	return 0;
}

int command_completion(struct command_context *context, int argc, char **argv, struct error *error)
{
	static const struct arguments one = {
		.minimum = 1,
		.maximum = 1,
		.usage = "bash | zsh",
	};

	if (arguments_parse(&one, argc, argv, error) < 0)
		return -1;
	return completion_append(context->out, argv[1], context->tables, context->table_count,
				 error);
}

/* Names of Probe v1 and of Probing that have no command here yet. */
int command_missing(struct command_context *context, int argc, char **argv, struct error *error)
{
	static const char *const sentences[][2] = {
		{ "pprof", "there is no profiler yet; stacks shows where ranks are, and verdict "
			   "which rank is the odd one out" },
		{ "query", "there are no tables to query yet; ranks --json, stacks --json and eval "
			   "CODE answer now" },
	};

	(void)context;
	(void)argc;
	for (size_t i = 0; i < ARRAY_LENGTH(sentences); i++) {
		if (strcmp(argv[0], sentences[i][0]) == 0)
			return error_set(error, "%s", sentences[i][1]);
	}
	return error_set(error, "%.40s is not a command yet", argv[0]);
}

static bool is_job_over(const struct engine *engine, void *data)
{
	script_append_events(data);
	return !launching_is_alive(&engine->session);
}

/* The keeper of the job waits 10 s between asking it and killing it. */
static int end_job(struct command_context *context, struct error *error)
{
	struct engine *engine = context->engine;

	if (!launching_is_alive(&engine->session))
		return 0;
	request_post(engine, "jobEnd", NULL);
	if (engine_wait(engine, is_job_over, context, END_SECONDS) == 0)
		return 0;
	return error_set(error, "the job has not ended within %g s", END_SECONDS);
}

int command_quit(struct command_context *context, int argc, char **argv, struct error *error)
{
	static const struct arguments one = {
		.maximum = 1,
		.usage = "[detach | end]",
	};
	bool is_end = argc == 2 && strcmp(argv[1], "end") == 0;

	if (arguments_parse(&one, argc, argv, error) < 0)
		return -1;
	if (argc == 2 && !is_end && strcmp(argv[1], "detach") != 0)
		return error_set(error, "quit takes nothing, detach or end");
	context->wants_quit = true;
	/* A script is over; a shell has one value of each command. */
	if (context->is_json && !context->engine->settings.script)
		format_document(context->out, json_pack("{s:s}", "command", "quit"));
	return is_end ? end_job(context, error) : 0;
}
