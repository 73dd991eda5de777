/*
 * input: keys, by their names, and events of the mouse, from curses.
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
	/* Name of the key; a character is its own name ("a", "ä"), a blank is "Space". */
	char key[KEY_NAME_SIZE];
	int row; /* row and column of the mouse's cell, from 0 */
	int column;
};

/* Reads the next key or event of the mouse; returns false if there is none. */
bool input_read(struct input *input);

/* True if name is the name of a key: "a", "C-l", "PgUp", "Space". */
bool input_is_key(const char *name);

#endif
