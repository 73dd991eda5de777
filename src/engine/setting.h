/*
 * setting: settings for the config file (`set NAME VALUE`) and, where they can change while the
 * program runs, for the command `set`. One row each.
 */
#ifndef ENGINE_SETTING_H
#define ENGINE_SETTING_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct error;
struct settings;

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
