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

struct buffer;
struct engine;
struct error;

enum command_flag {
	COMMAND_SHELL = 1,	/* works as `probetui COMMAND` and in scripts */
	COMMAND_SCREEN = 2,	/* works on the screen */
	COMMAND_RANKS = 4,	/* takes `ranks SET` last */
};

struct command_context {
	struct engine *engine;
	void *screen;		/* struct app, NULL in a shell */
	struct buffer *out;
	bool is_json;
	int status;
};

struct command {
	const char *name;
	const char *alias;	/* may be NULL */
	const char *arguments;	/* "A B", "[--for SECONDS]", "" */
	const char *help;	/* one line */
	int flags;
	/* 0, or -1 with a sentence. argv[0] is the name. */
	int (*run)(struct command_context *context, int argc, char **argv,
		   struct error *error);
};

/* A list of tables (arrays), as main.c joins them. */
struct command_table {
	const struct command *rows;
	size_t count;
};

extern const struct command_table engine_commands;

/*
 * Finds name, an alias or an abbreviation that fits one command only; NULL
 * and a sentence (with the near ones) otherwise.
 */
const struct command *command_find(const struct command_table *tables,
				   size_t table_count, const char *name,
				   int flags, struct error *error);
/* Splits a line into words ("" and '' quote) and runs it. */
int command_run_line(struct command_context *context,
		     const struct command_table *tables, size_t table_count,
		     const char *line, int flags, struct error *error);

#endif
