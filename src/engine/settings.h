/* settings: settings from the command line and the config file. */
#ifndef ENGINE_SETTINGS_H
#define ENGINE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct error;

/* A line of the config file that is checked later. */
struct config_line {
	char *text;
	int number; /* of the line, from 1 */
};

struct settings {
	char *ranks; /* --ranks, several joined by commas; NULL: all */
	pid_t *pids; /* --pid */
	size_t pid_count;
	char *job;	/* --job */
	char **connect; /* --connect, in order */
	size_t connect_count;
	char **machines; /* --on, in order (transport.h) */
	size_t machine_count;
	char *ssh_args;	 /* more options of ssh, separated by blanks; NULL: none */
	char *srun_args; /* the same of srun */
	char **breaks;	 /* --break, in order */
	size_t break_count;
	char **replays; /* --replay: files, in order */
	size_t replay_count;
	char *at;	   /* --at: a time in the recording (replay-time.h); NULL: not given */
	char *record;	   /* --record */
	bool wants_locals; /* --record-locals */
	bool wants_output; /* --record-output */
	char *theme;	   /* NULL: default */
	int theme_line;	   /* number of the config line that sets it; 0: none */
	char *config;	   /* --config; after configfile_apply() the path of the config file, read
			    * or not */
	struct config_line *binds; /* `bind` lines of the config file */
	size_t bind_count;
	size_t bind_capacity;
	char *script;	     /* -x FILE */
	double timeout;	     /* seconds; default 5 */
	bool has_timeout;    /* --timeout was given */
	double step_timeout; /* seconds until a step offers to resume stopped ranks */
	double tolerance;    /* of `compare`: numbers that differ by at most this are equal */
	double period;	     /* seconds between samples; 0: depends on the number of ranks */
	bool is_json;
	bool is_read_only;
	bool stops_one_thread; /* a breakpoint stops its thread only, other threads run */
	bool stops_on_signal;  /* a signal to a stopped rank does not resume the rank */
	bool stays_stopped;    /* stopped ranks are not resumed to avoid time-outs of collectives */
	bool is_yes;	       /* --yes: all confirmations are answered with yes */
	bool is_ascii;	       /* the terminal cannot show UTF-8 */
	bool has_no_color;     /* NO_COLOR */
	bool has_no_mouse;
	bool wants_tty; /* --tty: the started job's standard input is a terminal in a script */
	bool wants_help;
	bool wants_version;
	bool wants_agent_path;
	char **words; /* the whole command line, argv, borrowed */
	size_t word_count;
	char **command; /* COMMAND ARGUMENTS; points into argv */
	size_t command_count;
	char **program; /* words after --, borrowed from argv */
	size_t program_count;
};

/* In a target of `connect`, this stands for the rank's number. */
#define SETTINGS_RANK_MARK "%r"
/* True for a target of `connect`: "pdb:unix:/tmp/1.sock". */
bool settings_is_debugger(const char *target);
/* True for a target of `connect` with a complete, valid address. */
bool settings_is_target(const char *target);
/* True for a number that may be a PID. */
bool settings_is_pid(const char *word);
/* True if --connect names a debugger and there is no --ranks, --job or --pid. */
bool settings_names_debuggers_only(const struct settings *settings);

void settings_init(struct settings *settings);
void settings_clear(struct settings *settings);
/* Adds a recording, as --replay does. */
void settings_add_replay(struct settings *settings, const char *path);
/* Adds a process, as --pid does. */
void settings_add_pid(struct settings *settings, pid_t pid);
/* Returns 0; -1 and *error: the program to start cannot be started with these settings. */
int settings_check_program(const struct settings *settings, struct error *error);
/* Returns 0; -1 and *error: --on was given with options that need this machine's node. */
int settings_check_machines(const struct settings *settings, struct error *error);
/* Returns 0; -1 and *error: a command was given together with a script. */
int settings_check_script(const struct settings *settings, struct error *error);
/*
 * Reads the environment, the config file (engine/configfile.h) and argv; argv overrides the config
 * file, and both override the environment. The config file is that of --config, else
 * probetui/config in $XDG_CONFIG_HOME or ~/.config. Returns 0; -1 and *error: wrong usage.
 */
int settings_parse(struct settings *settings, int argc, char **argv, struct error *error);

/* One row of the option table; also used for --help, man page and completion. */
struct setting_option {
	const char *name;     /* "ranks" */
	char letter;	      /* 0: none */
	const char *argument; /* "SET", NULL: none */
	const char *help;
	/*
	 * Applies the option; value is NULL for an option without argument. Returns 0; -1 and
	 * *error.
	 */
	int (*set)(struct settings *settings, const char *value, struct error *error);
};
extern const struct setting_option setting_options[];
extern const size_t setting_option_count;

#endif
