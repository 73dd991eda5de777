/*
 * configfile: the config file. Each line is a command of one of three kinds:
 *
 *	set NAME VALUE		a setting (engine/configfile.h)
 *	theme NAME		short for set theme NAME
 *	bind KEY COMMAND…	what a key of the screen does
 *
 * and NAME VALUE, the older form of set NAME VALUE. Quotes and comments work as on any command
 * line. Only a regular file that belongs to this user (or root) and that no other user can write is
 * accepted.
 */
#ifndef ENGINE_CONFIGFILE_H
#define ENGINE_CONFIGFILE_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct error;
struct settings;

/*
 * Reads settings->config, else the usual file if there is one, into settings. -1 and a sentence
 * with the line number; two lines that contradict each other are an error too. The screen checks
 * themes, keys and commands later: settings keeps these lines.
 */
int configfile_apply(struct settings *settings, struct error *error);

/*
 * Settings for the config file (`set NAME VALUE`) and, where they can change while the
 * program runs, for the command `set`. One row each.
 */

struct setting {
	const char *name;
	const char *values; /* a synopsis: "on | off" */
	const char *help;
	bool is_live; /* can change while the program runs */
	/* 0, or -1 with a sentence; then nothing is changed. */
	int (*set)(struct settings *settings, const char *value, struct error *error);
	/* Appends the setting's value in the form that set() takes. */
	void (*show)(const struct settings *settings, struct buffer *out);
	/* A warning about the present value, one line; NULL: no warning. */
	const char *(*warn)(const struct settings *settings);
};

extern const struct setting setting_rows[];
extern const size_t setting_row_count;

/* NULL and a sentence if there is no setting of this name. */
const struct setting *setting_find(const char *name, struct error *error);
/* Appends a line for each setting: name, value, help and possible values. */
void setting_append_all(struct buffer *out, const struct settings *settings);

#endif
