/*
 * keymap: which key runs which command line. The default keys are a text of
 * `bind KEY COMMAND LINE` lines, split like any other command lines; `bind`
 * on the screen and in the config adds to them and replaces them.
 *
 * Keys have names: "n", "M", "Tab", "S-Tab", "Esc", "Enter", "C-l", "PgUp",
 * "F1", "Up". "compare:t" is t in that view only, and goes before "t".
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
	struct binding *bindings; /* in the order they were made */
	size_t count;
	size_t capacity;
};

/* The `bind` lines of the default keys. */
extern const char keymap_default[];

void keymap_init(struct keymap *keymap);
void keymap_clear(struct keymap *keymap);
/* Binds key to a command line; an empty line frees the key. */
int keymap_bind(struct keymap *keymap, const char *key, const char *line, struct error *error);
/* The same of the words of a `bind` line behind the name: KEY, COMMAND LINE... */
int keymap_bind_words(struct keymap *keymap, const struct arguments *arguments,
		      struct error *error);
/* Adds the default keys. */
void keymap_add_default(struct keymap *keymap);
/*
 * Adds the `bind` lines of the config file. -1 and a sentence with the line
 * for what is no key, and for a command that the screen does not have.
 */
int keymap_add_config(struct keymap *keymap, const struct settings *settings, struct error *error);
/* Lends the command line of a key in a view (view_type.name; NULL: in none that
 * has keys of its own); NULL: it has none. */
const char *keymap_find(const struct keymap *keymap, const char *view, const char *key);
/* Lends the first key that means this line there; NULL: none does. */
const char *keymap_key_of(const struct keymap *keymap, const char *view, const char *line);
/*
 * Appends a line for each thing that keys do: "[ ]   previous, next rank", as
 * the help screen and `probetui keys` show them.
 */
void keymap_describe(const struct keymap *keymap, struct buffer *out);

#endif
