/*
 * command: everything a user can say, one table row each. By key, on the `:`
 * line, in a script and as `probetui COMMAND` the same row runs.
 *
 * main.c joins the engine's table with the screen's. A command writes its
 * text (or, with --json, its one document) to context->out and sets
 * context->status to the exit status.
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
	COMMAND_RANKS = 4,     /* takes `ranks SET` last */
	COMMAND_TEXT = 8,      /* says what is for people only: no JSON */
	COMMAND_ALONE = 16,    /* needs no ranks: a shell starts nothing for it */
	COMMAND_LIVE = 32,     /* on the screen its text follows the session: it
				* runs again, with is_fresh, and changes nothing */
	COMMAND_INTERNAL = 64, /* what keys and the mouse say: in no list */
	COMMAND_ASKS = 128,    /* may cost something: takes --yes */
	COMMAND_PID = 256,     /* its first word may be the PID of a rank, in
				* place of `ranks SET` */
	COMMAND_REST = 512,    /* its words are a text: an expression, code */
	COMMAND_MOVES = 1024,  /* moves and shows only, also in a console without
				* a debugger */
	COMMAND_JOB = 2048,    /* acts on running processes: refused for a recording */
};

/*
 * What a command is given. The caller of commands sets engine, screen, out,
 * notes and is_json and leaves the rest zero; status is the last command's.
 */
struct command_context {
	struct engine *engine;
	void *screen; /* struct app, NULL in a shell */
	struct buffer *out;
	struct buffer *notes; /* lines for standard error; may be NULL */
	bool is_json;
	int status;
	bool wants_quit;       /* set by `quit`: the script ends */
	bool is_fresh;	       /* the session was sampled for this answer;
				* a script unsets it before each line */
	struct rankset exited; /* ranks whose end a script has told */
	uint64_t stops_told;   /* so many of the session's stops, too */
	bool was_job_told;     /* the end of the job that was started, too */
	/* What command_run() sets for the command: */
	struct rankset ranks;	      /* `ranks SET`, else the focus; empty: all;
				       * collect_named makes it final */
	const char *ranks_text;	      /* the SET; NULL: none was named */
	char named[16];		      /* the number of the rank whose PID was given */
	bool is_confirmed;	      /* --yes, or a person said so (a screen sets it
				       * before it runs the line again) */
	char *question;		      /* a screen is to ask this ("Quit its debugger?", y or
				       * n) before the line is run again with is_confirmed;
				       * nothing was done yet. free() it; NULL: none */
	struct rankset asked;	      /* ranks that the question is about, without
				       * those that join until it is answered; empty:
				       * all. rankset_clear() it */
	const struct rankset *moving; /* ranks in a step: what lets one of them
				       * go on is put off; NULL: none are */
	bool is_put_off;	      /* nothing was done: the line is to be run again when
				       * they have stopped */
	int failed_rank;	      /* the only one that a failure is of; -1 */
	const struct command_tables *tables;
};

/* 0, or -1 with a sentence. */
typedef int command_function(struct command_context *context, const struct arguments *arguments,
			     struct error *error);

struct command {
	const char *name;
	const char *alias;    /* "return r": other names; NULL: none */
	const char *synopsis; /* "A B", "[--for SECONDS]", "" */
	const char *help;     /* one line */
	/* The same of a screen, where they differ there; else NULL. */
	const char *screen_synopsis;
	const char *screen_help;
	/* What a screen says that it takes ("one name"); NULL: the synopsis says it. */
	const char *takes;
	int flags;
	command_function *run;
	/*
	 * In a shell, after run(): waits for the answer and writes it. On a screen views
	 * show answers as they come. May be NULL.
	 */
	int (*answer)(struct command_context *context, struct error *error);
};

/* What the screen does for a command of the engine: instead of run(), or after it. */
struct command_hook {
	const struct command *command;
	command_function *run; /* in place of the row's; NULL: the row's */
	/* Not called after a failure, nor before a question is answered; may be NULL. */
	void (*after)(struct command_context *context);
};

/*
 * A list of rows, in the order of help. A row that stands in several tables
 * counts in the first.
 */
struct command_table {
	const struct command *const *rows;
	size_t count;
	const struct command_hook *const *hooks; /* of a screen */
	size_t hook_count;
};

extern const struct command_table engine_commands;

/*
 * For the command `name`, which acts on running processes: 0, or -1 and a sentence
 * where the engine replays a recording. Rows with COMMAND_JOB are checked by
 * command_run().
 */
int command_check_job(const struct engine *engine, const char *name, struct error *error);

/* The commands of one place, where rows with one of flags can be said. */
struct command_tables {
	const struct command_table *items[2]; /* the second may be NULL */
	int flags;			      /* COMMAND_SHELL, or COMMAND_SCREEN */
};

/*
 * Finds name, an alias or an abbreviation that fits one command only; NULL
 * and a sentence (with the near ones) otherwise.
 */
const struct command *command_lookup(const struct command_tables *tables, const char *name,
				     struct error *error);
/* The rows of a place, one after the other. */
struct command_cursor {
	const struct command_tables *tables;
	size_t table; /* of the next one; 0 at first */
	size_t row;
};
/* NULL: that was the last. */
const struct command *command_cursor_next(struct command_cursor *cursor);
/* The synopsis where one of flags is meant: a screen's may be another. */
const char *command_synopsis(const struct command *command, int flags);
/*
 * Parses a line up to the command's table row. Call arguments_clear() afterwards. -1 and a
 * sentence: no such command; an empty line has no command.
 */
int command_parse(struct arguments *arguments, const struct command_tables *tables,
		  const char *line, struct error *error);
/*
 * Runs what command_parse() gave, one of these tables; an empty line does nothing.
 * -1 and a sentence when it failed; context->status is then STATUS_USAGE, or
 * STATUS_NOTHING where no rank can be reached, unless the command has set it.
 */
int command_run(struct command_context *context, const struct command_tables *tables,
		struct arguments *arguments, struct error *error);
/* Both, of a line, and of words that a shell has split. */
int command_run_line(struct command_context *context, const struct command_tables *tables,
		     const char *line, struct error *error);
int command_run_words(struct command_context *context, const struct command_tables *tables,
		      int word_count, char **words, struct error *error);
/*
 * For a command that costs something: 1, go ahead; 0, a screen asks the
 * question first; -1 and a sentence, a shell lacks --yes.
 */
int command_confirm(struct command_context *context, char *owned_question, struct error *error);
/* Appends a line a command. */
void command_append_help(struct buffer *out, const struct command_tables *tables);

#endif
