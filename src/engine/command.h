/*
 * command: the commands of the program, one table row each. A key, the `:` line, a script and
 * `probetui COMMAND` run the same row.
 *
 * main.c joins the engine's table with the screen's. A command writes its text (or, with --json,
 * its one document) to context->out and sets context->status to the exit status.
 */
#ifndef ENGINE_COMMAND_H
#define ENGINE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/rankset.h"

struct arguments;
struct buffer;
struct engine;
struct error;

enum command_flag {
	COMMAND_SHELL = 1,  /* works as `probetui COMMAND` and in scripts */
	COMMAND_SCREEN = 2, /* works on the screen */
	COMMAND_RANKS = 4,  /* takes `ranks SET` last */
	COMMAND_TEXT = 8,   /* output is for people only: no JSON */
	COMMAND_ALONE = 16, /* needs no ranks: a shell starts no node for it */
	COMMAND_LIVE = 32,  /* on the screen its text follows the session: the command runs again,
			     * with is_fresh, and changes nothing */
	COMMAND_INTERNAL = 64, /* sent by keys and the mouse: not listed in help */
	COMMAND_ASKS = 128,    /* may ask for confirmation: takes --yes */
	COMMAND_PID = 256,    /* its first word may be the PID of a rank, in place of `ranks SET` */
	COMMAND_REST = 512,   /* its words are a text: an expression, code */
	COMMAND_MOVES = 1024, /* only moves the cursor and shows data: allowed in a console without
			       * a debugger */
	COMMAND_JOB = 2048,   /* acts on running processes: refused for a recording */
};

/*
 * Context of a command. The caller sets engine, screen, out, notes and is_json and leaves the rest
 * zero; status belongs to the last command.
 */
struct command_context {
	struct engine *engine;
	void *screen; /* struct app, NULL in a shell */
	struct buffer *out;
	struct buffer *notes; /* lines for standard error; may be NULL */
	bool is_json;
	int status;	 /* enum command_status (collect.h), or 128 plus a signal's number */
	bool wants_quit; /* set by `quit`: the script ends */
	bool is_fresh;	 /* the session was sampled for this answer; a script clears it before each
			  * line */
	struct rankset exited; /* ranks whose exit a script has reported */
	uint64_t stops_told;   /* number of the session's stops that a script has reported */
	bool was_job_told;     /* a script has reported the end of the job that was started */
	/* Set by command_run() for the command: */
	struct rankset ranks;	/* `ranks SET`, else focus; empty: all; see collect_named() */
	const char *ranks_text; /* SET as typed; NULL: not given */
	char named[16];		/* number of the rank whose PID was given */
	bool is_confirmed; /* --yes was given, or the person has confirmed (a screen sets it before
			    * it runs the line again) */
	char *question; /* question for the screen to ask ("Quit its debugger?", y or n) before it
			 * runs the line again with is_confirmed; nothing was done yet. free() it;
			 * NULL: no question */
	struct rankset asked; /* ranks that the question names; ranks that become eligible before
			       * the answer are left out; empty: all. rankset_clear() it */
	const struct rankset *moving; /* ranks that are stepping: a command that resumes one of them
				       * is deferred; NULL: none */
	bool is_put_off; /* nothing was done: run the line again when the stepping ranks have
			  * stopped */
	int failed_rank; /* the only rank that failed; -1: none, or several */
	const struct command_tables *tables;
};

/* 0, or -1 and *error is set. */
typedef int command_function(struct command_context *context, const struct arguments *arguments,
			     struct error *error);

struct command {
	const char *name;
	const char *alias;    /* "return r": other names, separated by blanks; NULL: none */
	const char *synopsis; /* "A B", "[--for SECONDS]", "" */
	const char *help;     /* one line */
	/* For the screen, if they differ there; else NULL. */
	const char *screen_synopsis;
	const char *screen_help;
	/* Words for the argument in a screen's error message ("one name"); NULL: the synopsis. */
	const char *takes;
	int flags;
	command_function *run;
	/*
	 * In a shell, after run(): waits for the answer and writes it. On a screen views show
	 * answers as they arrive. May be NULL.
	 */
	int (*answer)(struct command_context *context, struct error *error);
};

/* The screen's part of an engine command: replaces run(), or is called after it. */
struct command_hook {
	const struct command *command;
	command_function *run; /* in place of the row's run(); NULL: the row's */
	/* Not called after a failure, nor before a question is answered; may be NULL. */
	void (*after)(struct command_context *context);
};

/* A list of rows, in the order of help. A row that is in several tables counts in the first. */
struct command_table {
	const struct command *const *rows;
	size_t count;
	const struct command_hook *const *hooks; /* the screen's; NULL: none */
	size_t hook_count;
};

extern const struct command_table engine_commands;

/*
 * For the command `name`, which acts on running processes: 0, or -1 and a sentence
 * where the engine replays a recording. Rows with COMMAND_JOB are checked by
 * command_run().
 */
int command_check_job(const struct engine *engine, const char *name, struct error *error);

/* The commands of one place: the rows whose flags share a bit with flags. */
struct command_tables {
	const struct command_table *items[2]; /* the second may be NULL */
	int flags;			      /* COMMAND_SHELL, or COMMAND_SCREEN */
};

/*
 * Finds a command by name, alias or unambiguous abbreviation; NULL and a sentence (with similar
 * names) otherwise.
 */
const struct command *command_lookup(const struct command_tables *tables, const char *name,
				     struct error *error);
/* Iterates over the rows of a place. */
struct command_cursor {
	const struct command_tables *tables;
	size_t table; /* index of the next row's table; 0 at first */
	size_t row;
};
/* Returns the next row; NULL: there are no more. */
const struct command *command_cursor_next(struct command_cursor *cursor);
/* The synopsis for a place with these flags: a screen's may differ. */
const char *command_synopsis(const struct command *command, int flags);
/*
 * Parses a line up to the command's table row. Call arguments_clear() afterwards. -1 and a
 * sentence: no such command; an empty line has no command.
 */
int command_parse(struct arguments *arguments, const struct command_tables *tables,
		  const char *line, struct error *error);
/*
 * Runs the command that command_parse() found in tables; an empty line does nothing. -1 and a
 * sentence when the command failed; context->status is then STATUS_USAGE, or STATUS_NOTHING if no
 * rank can be reached, unless the command has set it.
 */
int command_run(struct command_context *context, const struct command_tables *tables,
		struct arguments *arguments, struct error *error);
/* Parse and run: a line, or words that a shell has split. */
int command_run_line(struct command_context *context, const struct command_tables *tables,
		     const char *line, struct error *error);
int command_run_words(struct command_context *context, const struct command_tables *tables,
		      int word_count, char **words, struct error *error);
/*
 * For a command that needs confirmation: 1: continue; 0: a screen asks the question first; -1 and a
 * sentence: --yes is missing in a shell.
 */
int command_confirm(struct command_context *context, char *owned_question, struct error *error);
/* Appends each command's synopsis and help. */
void command_append_help(struct buffer *out, const struct command_tables *tables);

#endif
