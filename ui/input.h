/*
 * input: keys by name and events of the mouse, from curses.
 */
#ifndef UI_INPUT_H
#define UI_INPUT_H

#include <stdbool.h>

#include "ui/keymap.h"

enum input_kind {
	INPUT_KEY,
	INPUT_PRESS, /* the first button of the mouse */
	INPUT_WHEEL_UP,
	INPUT_WHEEL_DOWN,
};

struct input {
	enum input_kind kind;
	/* A character is its own UTF-8 ("a", "ä", "Space" for a blank). */
	char key[KEY_NAME_SIZE];
	int row; /* of the mouse */
	int column;
};

/* Reads the next thing that is there: false when there is none. */
bool input_read(struct input *input);

/* True when a key can have this name: "a", "C-l", "PgUp", "Space". */
bool input_is_key(const char *name);

#endif
