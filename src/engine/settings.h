/*
 * settings: what the command line and the config file said.
 */
#ifndef ENGINE_SETTINGS_H
#define ENGINE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct error;

/* A line of the config file. */
struct config_line {
	char *text;
	int number;
};

struct settings {
	char *ranks; /* --ranks, several joined by commas; NULL: all */
	pid_t *pids; /* --pid */
	size_t pid_count;
	char *job;	/* --job */
	char **connect; /* --connect, in order */
	size_t connect_count;
	char **breaks; /* --break, in order */
	size_t break_count;
	char **replays; /* --replay: files, in order */
	size_t replay_count;
	double at;		   /* --at: seconds of a recording; -1: unset */
	char *record;		   /* --record */
	bool wants_locals;	   /* --record-locals */
	bool wants_output;	   /* --record-output */
	char *theme;		   /* NULL: default */
	int theme_line;		   /* of the config that names it; 0: none does */
	char *config;		   /* the file to read; afterwards, that was looked for */
	struct config_line *binds; /* its `bind` lines */
	size_t bind_count;
	size_t bind_capacity;
	char *script;	     /* -x FILE */
	double timeout;	     /* seconds; default 5 */
	bool has_timeout;    /* it was given */
	double step_timeout; /* seconds until resuming the others is offered */
	double tolerance;    /* of compare: numbers so near are equal */
	double period;	     /* seconds between samples; 0: as fits the ranks */
	bool is_json;
	bool is_read_only;
	bool stops_one_thread; /* the others of its rank run on */
	bool stops_on_signal;  /* a stopped rank that is sent one stays so */
	bool stays_stopped;    /* a time-out of others resumes no rank */
	bool is_yes;	       /* --yes: what costs something is not asked about */
	bool is_ascii;	       /* the terminal cannot show UTF-8 */
	bool has_no_color;     /* NO_COLOR */
	bool has_no_mouse;
	bool wants_tty; /* --tty: a script's job has a terminal as its input */
	bool wants_help;
	bool wants_version;
	bool wants_agent_path;
	char **command; /* COMMAND ARGUMENTS; words of argv */
	size_t command_count;
	char **program; /* behind --, lent from argv */
	size_t program_count;
};

/* In a target it stands for the number of a rank. */
#define SETTINGS_RANK_MARK "%r"
/* "pdb:unix:/tmp/1.sock": a target of `connect`. */
bool settings_is_debugger(const char *target);
/* Such a one, with all that belongs to it. */
bool settings_is_target(const char *target);
/* It is a number that may be a PID. */
bool settings_is_pid(const char *word);
/* True if only --connect names what to look at. */
bool settings_names_debuggers_only(const struct settings *settings);

void settings_init(struct settings *settings);
void settings_clear(struct settings *settings);
/* One recording more, as --replay gives them. */
void settings_add_replay(struct settings *settings, const char *path);
/* One process more, as --pid gives them. */
void settings_add_pid(struct settings *settings, pid_t pid);
/* -1 and a sentence: a program to start that cannot be. */
int settings_check_program(const struct settings *settings, struct error *error);
/* -1 and a sentence: a command line beside a script. */
int settings_check_script(const struct settings *settings, struct error *error);
/*
 * Reads the environment, the config file (engine/configfile.h) and argv; what
 * comes later of these three counts. The config is --config, else
 * probetui/config in $XDG_CONFIG_HOME or ~/.config. -1: wrong usage, a
 * sentence in error.
 */
int settings_parse(struct settings *settings, int argc, char **argv, struct error *error);

/* One row of the option table: for --help, man page and completion. */
struct setting_option {
	const char *name;     /* "ranks" */
	char letter;	      /* 0: none */
	const char *argument; /* "SET", NULL: none */
	const char *help;
	/* Takes the argument (NULL where there is none). */
	int (*set)(struct settings *settings, const char *value, struct error *error);
};
extern const struct setting_option setting_options[];
extern const size_t setting_option_count;

#endif
