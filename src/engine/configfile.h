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
 * Reads the file settings->config, else the default file if it exists, into settings. -1 and *error
 * with the line number if a line is wrong or two lines contradict each other. settings keeps the
 * lines about themes and keys: the screen checks these later.
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
	/* Returns 0; -1 and *error: nothing was changed. */
	int (*set)(struct settings *settings, const char *value, struct error *error);
	/* Appends the setting's value in the form that set() takes. */
	void (*show)(const struct settings *settings, struct buffer *out);
	/*
	 * A warning about the present value, one line. Returns NULL: no warning; the pointer may be
	 * NULL, too.
	 */
	const char *(*warn)(const struct settings *settings);
};

extern const struct setting setting_rows[];
extern const size_t setting_row_count;

/* Finds a setting; NULL and *error if there is no setting of this name. */
const struct setting *setting_find(const char *name, struct error *error);
/* Appends a line for each setting: name, value, help and possible values. */
void setting_append_all(struct buffer *out, const struct settings *settings);

#endif
