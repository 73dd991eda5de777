/*
 * input: keys by name, from curses.
 */
#ifndef UI_INPUT_H
#define UI_INPUT_H

#include <stdbool.h>

#include "ui/keymap.h"

/*
 * Reads the next key that is there: false when there is none. A character
 * is its own UTF-8 ("a", "ä", "Space" for a blank).
 */
bool input_read(char key[KEY_NAME_SIZE]);

#endif
