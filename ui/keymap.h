/*
 * keymap: the command line of each key. The default keys are a text of lines `bind KEY COMMAND
 * LINE`, parsed like other command lines; `bind` on the screen and in the config file adds and
 * replaces keys.
 *
 * Keys have names: "n", "M", "Tab", "S-Tab", "Esc", "Enter", "C-l", "PgUp", "F1", "Up". "compare:t"
 * is the key t in the view `compare` only, where it takes precedence over "t".
 */
#ifndef UI_KEYMAP_H
#define UI_KEYMAP_H

#include <stddef.h>

struct arguments;
struct buffer;
struct error;
struct settings;

#define KEY_NAME_SIZE 32

struct binding {
	char key[KEY_NAME_SIZE];
	char *line;
};

struct keymap {
	struct binding *bindings; /* in the order of their `bind` lines */
	size_t count;
	size_t capacity;
};

/* The `bind` lines of the default keys. */
extern const char keymap_default[];

void keymap_init(struct keymap *keymap);
void keymap_clear(struct keymap *keymap);
/*
 * Binds key to a command line; an empty line removes the binding. Returns 0; -1 and *error: there
 * is no such key.
 */
int keymap_bind(struct keymap *keymap, const char *key, const char *line, struct error *error);
/* Like keymap_bind(), for the words of a `bind` line: KEY COMMAND LINE... */
int keymap_bind_words(struct keymap *keymap, const struct arguments *arguments,
		      struct error *error);
/* Adds the default keys. */
void keymap_add_default(struct keymap *keymap);
/*
 * Adds the `bind` lines of the config file. Returns 0; -1 and *error with the line's number: there
 * is no such key, or no such command on the screen.
 */
int keymap_add_config(struct keymap *keymap, const struct settings *settings, struct error *error);
/*
 * Returns the command line of a key in a view, borrowed; NULL: the key has no binding. view is
 * view_type.name, which may be NULL: no keys for this view only.
 */
const char *keymap_find(const struct keymap *keymap, const char *view, const char *key);
/* Returns the first key that runs the command line in the view, borrowed; NULL: there is none. */
const char *keymap_key_of(const struct keymap *keymap, const char *view, const char *line);
/*
 * Appends a line for each function of one or more keys, as the help screen and `probetui keys` show
 * it: "[ ] previous, next rank".
 */
void keymap_describe(const struct keymap *keymap, struct buffer *out);

#endif
