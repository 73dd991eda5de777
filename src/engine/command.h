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
	COMMAND_SHELL = 1,     /* works as `probetui COMMAND` and in scripts */
	COMMAND_SCREEN = 2,    /* works on the screen */
	COMMAND_RANKS = 4,     /* takes `ranks SET` at the end, or before options */
	COMMAND_TEXT = 8,      /* output is for people only: no JSON */
	COMMAND_ALONE = 16,    /* needs no ranks: a shell starts no node for it */
	COMMAND_LIVE = 32,     /* a screen keeps its text up to date: runs the command again, with
				* is_fresh set; the command must change nothing */
	COMMAND_INTERNAL = 64, /* sent by keys and the mouse: not listed in help */
	COMMAND_ASKS = 128,    /* may ask for confirmation: takes --yes */
	COMMAND_PID = 256,    /* its first word may be the PID of a rank, in place of `ranks SET` */
	COMMAND_REST = 512,   /* its words are a text: an expression, code */
	COMMAND_MOVES = 1024, /* only moves the cursor and shows data: allowed in a console without
			       * a debugger */
	COMMAND_JOB = 2048,   /* acts on running processes: refused for a recording */
};

/*
 * Context of a command. The caller sets engine, screen, out, notes and is_json and leaves all other
 * members zero; status is that of the last command.
 */
struct command_context {
	struct engine *engine;
	void *screen; /* struct app, NULL in a shell */
	struct buffer *out;
	struct buffer *notes; /* lines for standard error; may be NULL */
	bool has_written;     /* a part of what was in out is written already */
	bool is_json;
	int status;	 /* enum command_status (collect.h), or 128 plus a signal's number */
	bool wants_quit; /* set by `quit`: the script ends */
	bool is_fresh;	 /* ranks were sampled for this answer, no need to sample again; a script
			  * clears is_fresh before each line */
	struct rankset exited; /* ranks whose exit a script has reported */
	uint64_t stops_told;   /* number of session.stops a script has reported */
	bool was_job_told;     /* a script has reported the end of the job that was started */
	/* command_run() sets the members below for the command. */
	struct rankset ranks;	/* `ranks SET`, else focus; empty: all; see collect_named() */
	const char *ranks_text; /* SET as typed; NULL: not given */
	char named[16];		/* number of the rank whose PID was given, as text */
	bool is_confirmed; /* --yes was given, or the person has confirmed (a screen sets it before
			    * it runs the line again) */
	char *question;	   /* the command has done nothing yet: the screen must ask this question
			    * ("Quit its debugger?", y or n), then run the line again with
			    * is_confirmed. free() it; NULL: no question */
	struct rankset asked; /* ranks that the question names: after a yes the command acts on no
			       * other ranks; empty: all. rankset_clear() it */
	const struct rankset *moving; /* ranks that are stepping: a command that resumes one of them
				       * is deferred; NULL: none */
	bool is_put_off; /* the command has done nothing: run the line again when the stepping ranks
			  * have stopped */
	int failed_rank; /* the only rank that failed; -1: none, or several */
	const struct command_tables *tables;
};

/* Returns 0; -1 and *error. */
typedef int command_function(struct command_context *context, const struct arguments *arguments,
			     struct error *error);

struct command {
	const char *name;
	const char *alias;    /* "return r": other names, separated by blanks; NULL: none */
	const char *synopsis; /* "A B", "[--for SECONDS]", "" */
	const char *help;     /* one line */
	/* Synopsis and help for the screen, if they differ from the shell's; else NULL. */
	const char *screen_synopsis;
	const char *screen_help;
	/*
	 * How a screen's error message names the expected argument ("one name"); NULL: by the
	 * synopsis.
	 */
	const char *takes;
	int flags;
	command_function *run;
	/*
	 * Called in a shell after run(): waits for the ranks' answer and writes it to context->out.
	 * Not called on a screen, where views show answers as they arrive. May be NULL.
	 */
	int (*answer)(struct command_context *context, struct error *error);
};

/*
 * The screen's part of a command of the engine's table: replaces the row's run(), or is called
 * after it.
 */
struct command_hook {
	const struct command *command;
	command_function *run; /* called in place of the row's run(); NULL: that is called */
	/* Called after run() has succeeded without asking a question; may be NULL. */
	void (*after)(struct command_context *context);
};

/*
 * A list of rows, in the order of help. If a command is in several tables, its row in the first
 * table counts.
 */
struct command_table {
	const struct command *const *rows;
	size_t count;
	const struct command_hook *const *hooks; /* the screen's; NULL: none */
	size_t hook_count;
};

extern const struct command_table engine_commands;

/*
 * Check for the command `name`, which acts on running processes: returns 0; -1 and *error if the
 * engine replays a recording. command_run() makes this check for rows with COMMAND_JOB.
 */
int command_check_job(const struct engine *engine, const char *name, struct error *error);

/*
 * The commands of the shell or of the screen: the rows of items whose flags have a bit of `flags`.
 */
struct command_tables {
	const struct command_table *items[2]; /* the second may be NULL */
	int flags;			      /* COMMAND_SHELL, or COMMAND_SCREEN */
};

/*
 * Finds a command by name, alias or unambiguous abbreviation; NULL and *error (with similar names):
 * there is no such command.
 */
const struct command *command_lookup(const struct command_tables *tables, const char *name,
				     struct error *error);
/* Iterates over the rows of tables. */
struct command_cursor {
	const struct command_tables *tables;
	size_t table; /* index of the next row's table; 0 at first */
	size_t row;
};
/* Returns the next row; NULL: there are no more. */
const struct command *command_cursor_next(struct command_cursor *cursor);
/* The command's synopsis for COMMAND_SHELL or COMMAND_SCREEN in flags. */
const char *command_synopsis(const struct command *command, int flags);
/*
 * Splits a line and finds the command's row; an empty line leaves arguments->command NULL. Call
 * arguments_clear() afterwards. Returns 0; -1 and *error: there is no such command.
 */
int command_parse(struct arguments *arguments, const struct command_tables *tables,
		  const char *line, struct error *error);
/*
 * Runs the command that command_parse() found in tables; does nothing for an empty line. Returns 0;
 * -1 and *error if the command failed: context->status is then the status that the command has set,
 * else STATUS_NOTHING if no rank can be reached, else STATUS_USAGE.
 */
int command_run(struct command_context *context, const struct command_tables *tables,
		struct arguments *arguments, struct error *error);
/*
 * command_parse() and command_run(): for a line, and for words that a shell has split,
 * respectively.
 */
int command_run_line(struct command_context *context, const struct command_tables *tables,
		     const char *line, struct error *error);
int command_run_words(struct command_context *context, const struct command_tables *tables,
		      int word_count, char **words, struct error *error);
/*
 * For a command that needs confirmation. Returns 1: continue; 0: return, as a screen asks the
 * question first; -1 and *error: in a shell --yes is missing.
 */
int command_confirm(struct command_context *context, char *owned_question, struct error *error);
/* Appends each command's synopsis and help. */
void command_append_help(struct buffer *out, const struct command_tables *tables);
/* The same of one command. -1 and *error: the name is unknown. */
int command_append_help_of(struct buffer *out, const struct command_tables *tables,
			   const char *name, struct error *error);

#endif
