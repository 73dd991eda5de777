#include "ui/input.h"

#include <curses.h>
#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"

struct key_name {
	wint_t code;
	const char *name;
};

static const struct key_name function_keys[] = {
	{ KEY_UP, "Up" },	{ KEY_DOWN, "Down" },
	{ KEY_LEFT, "Left" },	{ KEY_RIGHT, "Right" },
	{ KEY_PPAGE, "PgUp" },	{ KEY_NPAGE, "PgDn" },
	{ KEY_HOME, "Home" },	{ KEY_END, "End" },
	{ KEY_BTAB, "S-Tab" },	{ KEY_BACKSPACE, "Backspace" },
	{ KEY_DC, "Delete" },	{ KEY_IC, "Insert" },
	{ KEY_ENTER, "Enter" }, { KEY_RESIZE, "Resize" },
	{ KEY_F(1), "F1" },	{ KEY_F(2), "F2" },
	{ KEY_F(3), "F3" },	{ KEY_F(4), "F4" },
	{ KEY_F(5), "F5" },	{ KEY_F(6), "F6" },
	{ KEY_F(7), "F7" },	{ KEY_F(8), "F8" },
	{ KEY_F(9), "F9" },	{ KEY_F(10), "F10" },
	{ KEY_F(11), "F11" },	{ KEY_F(12), "F12" },
};

static const struct key_name control_keys[] = {
	{ '\t', "Tab" },      { '\r', "Enter" },     { '\n', "Enter" }, { 27, "Esc" },
	{ 127, "Backspace" }, { '\b', "Backspace" }, { ' ', "Space" },
};

static const char *input_find_name(const struct key_name *names, size_t count, wint_t code)
{
	for (size_t i = 0; i < count; i++)
		if (names[i].code == code)
			return names[i].name;
	return NULL;
}

/* Returns the character after "C-" in a key's name: C-a … C-z, C-\ C-] C-^ C-_, C-@. */
static int control_letter(wint_t code)
{
	return (int)(code > 0 && code < 27 ? 'a' + code - 1 : '@' + code);
}

static void name_character(wint_t code, char key[KEY_NAME_SIZE])
{
	const char *name = input_find_name(control_keys, ARRAY_LENGTH(control_keys), code);
	struct buffer text = BUFFER_INIT;

	if (name != NULL) {
		snprintf(key, KEY_NAME_SIZE, "%s", name);
	} else if (code < ' ') {
		snprintf(key, KEY_NAME_SIZE, "C-%c", control_letter(code));
	} else {
		text_put_codepoint(&text, (int32_t)code);
		snprintf(key, KEY_NAME_SIZE, "%s", text.data);
	}
	buffer_clear(&text);
}

struct button {
	mmask_t mask;
	enum input_kind kind;
};

static const struct button buttons[] = {
	{ BUTTON1_PRESSED, INPUT_PRESS },
	{ BUTTON4_PRESSED, INPUT_WHEEL_UP },
	{ BUTTON5_PRESSED, INPUT_WHEEL_DOWN },
};

/* Returns false if the event has no function, such as the press of another button. */
static bool read_mouse(struct input *input)
{
	MEVENT event;

	if (getmouse(&event) != OK)
		return false;
	input->row = event.y;
	input->column = event.x;
	for (size_t i = 0; i < ARRAY_LENGTH(buttons); i++) {
		if ((event.bstate & buttons[i].mask) == 0)
			continue;
		input->kind = buttons[i].kind;
		return true;
	}
	return false;
}

bool input_read(struct input *input)
{
	wint_t code = 0;
	int kind = get_wch(&code);
	const char *name;

	if (kind == ERR)
		return false;
	input->kind = INPUT_KEY;
	if (kind != KEY_CODE_YES) {
		name_character(code, input->key);
		return true;
	}
	if (code == KEY_MOUSE && read_mouse(input))
		return true;
	name = input_find_name(function_keys, ARRAY_LENGTH(function_keys), code);
	snprintf(input->key, KEY_NAME_SIZE, "%s", name != NULL ? name : "Unknown");
	return true;
}

static bool input_is_named(const struct key_name *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i].name, name) == 0)
			return true;
	return false;
}

bool input_is_key(const char *name)
{
	const char *next = name;

	if (input_is_named(function_keys, ARRAY_LENGTH(function_keys), name) ||
	    input_is_named(control_keys, ARRAY_LENGTH(control_keys), name))
		return true;
	if (strncmp(name, "C-", 2) == 0 && name[2] != '\0')
		return ((name[2] >= 'a' && name[2] <= 'z') || (name[2] >= '\\' && name[2] <= '_') ||
			name[2] == '@') &&
		       name[3] == '\0';
	/* A blank is named Space, and a control character C-letter. */
	if ((unsigned char)name[0] <= ' ')
		return false;
	text_next(&next);
	return *next == '\0';
}
