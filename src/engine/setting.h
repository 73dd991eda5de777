/*
 * setting: what a person can set for good: in the config file (`set NAME
 * VALUE`) and, where it can change while the program runs, by the command
 * `set`. One row each.
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
	/* 0, or -1 with a sentence and nothing is changed. */
	int (*set)(struct settings *settings, const char *value, struct error *error);
	/* Appends its value, as set takes it. */
	void (*show)(const struct settings *settings, struct buffer *out);
	/* What its value does not do, a line; NULL: nothing is to be said. */
	const char *(*warn)(const struct settings *settings);
};

extern const struct setting setting_rows[];
extern const size_t setting_row_count;

/* NULL and a sentence when there is none of this name. */
const struct setting *setting_find(const char *name, struct error *error);
/* Appends a line for each setting: name, value, what it is. */
void setting_append_all(struct buffer *out, const struct settings *settings);

#endif
