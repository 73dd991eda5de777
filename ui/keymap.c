#include "ui/keymap.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/arguments.h"
#include "engine/command.h"
#include "engine/settings.h"
#include "ui/commands.h"
#include "ui/input.h"
#include "ui/view-type.h"

const char keymap_default[] = "bind [ rank previous\n"
			      "bind ] rank next\n"
			      "bind { outlier previous\n"
			      "bind } outlier next\n"
			      "bind p pause\n"
			      "bind n next\n"
			      "bind s step\n"
			      "bind f finish\n"
			      "bind c continue\n"
			      "bind t here until\n"
			      "bind b here break\n"
			      "bind B breakpoints\n"
			      "bind - remove\n"
			      "bind Delete remove\n"
			      "bind w prompt watch\n"
			      "bind r release\n"
			      "bind Y stay\n"
			      "bind u up\n"
			      "bind d down\n"
			      "bind M merged\n"
			      "bind D diff\n"
			      "bind W why\n"
			      "bind K collectives\n"
			      "bind v against\n"
			      "bind G grid\n"
			      "bind g granularity\n"
			      "bind N native\n"
			      "bind o sort next\n"
			      "bind O sort reverse\n"
			      "bind H group\n"
			      "bind \\ prompt filter\n"
			      "bind x expand\n"
			      "bind z zoom\n"
			      "bind J jobs\n"
			      "bind Space toggle\n"
			      "bind A focus all\n"
			      "bind I focus !focus\n"
			      "bind @ prompt focus\n"
			      "bind P hold\n"
			      "bind < time previous\n"
			      "bind > time next\n"
			      "bind R refresh\n"
			      "bind L log\n"
			      "bind a connect\n"
			      "bind C console\n"
			      "bind ! terminal\n"
			      "bind e repl\n"
			      "bind i assign\n"
			      "bind = prompt compare\n"
			      "bind compare:g visit\n"
			      "bind compare:T visit tensor\n"
			      "bind compare:R compare\n"
			      "bind T prompt tensor\n"
			      "bind tensor:v tensor-view\n"
			      "bind tensor:i tensor-index\n"
			      "bind tensor:< tensor-index previous\n"
			      "bind tensor:> tensor-index next\n"
			      "bind tensor:N tensor-find nan\n"
			      "bind tensor:e tensor-export\n"
			      "bind tensor:m tensor-find min\n"
			      "bind tensor:X tensor-find max\n"
			      "bind tensor:F tensor-digits\n"
			      "bind tensor:+ tensor-digits more\n"
			      "bind tensor:- tensor-digits fewer\n"
			      "bind tensor:o tensor-scale\n"
			      "bind compare:t prompt tolerance\n"
			      "bind compare:w follow\n"
			      "bind difference:R difference\n"
			      "bind parameters:R diff-params\n"
			      "bind difference:t prompt tolerance\n"
			      "bind difference:w follow\n"
			      "bind E edit\n"
			      "bind y copy\n"
			      "bind / prompt search\n"
			      "bind . find next\n"
			      "bind , find previous\n"
			      "bind : prompt\n"
			      "bind ? help\n"
			      "bind F1 help\n"
			      "bind Tab pane next\n"
			      "bind S-Tab pane previous\n"
			      "bind Enter open\n"
			      "bind Up cursor up\n"
			      "bind Down cursor down\n"
			      "bind Left cursor left\n"
			      "bind Right cursor right\n"
			      "bind k cursor up\n"
			      "bind j cursor down\n"
			      "bind h cursor left\n"
			      "bind l cursor right\n"
			      "bind PgUp cursor page-up\n"
			      "bind PgDn cursor page-down\n"
			      "bind Home cursor first\n"
			      "bind End cursor last\n"
			      "bind 0 prompt rank 0\n"
			      "bind 1 prompt rank 1\n"
			      "bind 2 prompt rank 2\n"
			      "bind 3 prompt rank 3\n"
			      "bind 4 prompt rank 4\n"
			      "bind 5 prompt rank 5\n"
			      "bind 6 prompt rank 6\n"
			      "bind 7 prompt rank 7\n"
			      "bind 8 prompt rank 8\n"
			      "bind 9 prompt rank 9\n"
			      "bind C-l redraw\n"
			      "bind C-z suspend\n"
			      "bind Esc back\n"
			      "bind C-c interrupt\n"
			      "bind q quit\n";

struct key_help {
	const char *lines[2]; /* command lines whose keys are listed together */
	const char *keys;     /* text listed in place of the bound keys; NULL: none */
	const char *help;
};

/* Descriptions of the keys, in the order of the help screen. */
static const struct key_help helps[] = {
	{ { "rank previous", "rank next" }, NULL, "Select the previous, next rank" },
	{ { "outlier previous", "outlier next" }, NULL, "Select the previous, next outlier" },
	{ { "prompt rank 0" }, "0-9", "Select a rank: type its number, then Enter" },
	{ { "up", "down" }, NULL, "Select the caller's frame, the called frame" },
	{ { "pause" }, NULL, "Pause the focused ranks" },
	{ { "next" }, NULL, "Step over (all focused ranks)" },
	{ { "step" }, NULL, "Step into" },
	{ { "finish" }, NULL, "Step out" },
	{ { "continue" }, NULL, "Continue" },
	{ { "here break" }, NULL, "Toggle a breakpoint at the source cursor" },
	{ { "here until" }, NULL, "Run to the source cursor" },
	{ { "breakpoints" }, NULL, "List breakpoints; Space enables or disables one" },
	{ { "prompt watch" }, NULL, "Set a watchpoint: stop when a variable changes" },
	{ { "release" }, NULL, "Resume stopped ranks that a step waits for" },
	{ { "stay" }, NULL, "Keep ranks stopped even if the job may time out" },
	{ { "remove" }, NULL, "Remove the breakpoint under the cursor" },
	{ { "merged" }, NULL, "Show the merged stacks of all ranks" },
	{ { "diff" }, NULL, "Diff the selected rank's stack with the majority's" },
	{ { "why" }, NULL, "Show who waits for whom: the facts behind the verdict" },
	{ { "collectives" }, NULL, "Show which collectives the ranks have called, by group" },
	{ { "against" }, NULL, "In the diff: switch to majority, a rank, 10 s ago" },
	{ { "native" }, NULL, "Show or hide native frames" },
	{ { "granularity" }, NULL, "Merge stacks by line, by function or by file" },
	{ { "grid" }, NULL, "Show ranks as cards, as a table or as cells" },
	{ { "sort next", "sort reverse" },
	  NULL,
	  "Sort ranks by the next column; reverse the order" },
	{ { "group" }, NULL, "Group ranks by class, by host, or not at all" },
	{ { "prompt filter" }, NULL, "Show only ranks whose row has a text" },
	{ { "expand" }, NULL, "Expand or collapse the item under the cursor" },
	{ { "open" }, NULL, "Open the item under the cursor" },
	{ { "zoom" }, NULL, "Zoom the pane, or restore it" },
	{ { "pane next", "pane previous" }, NULL, "Select the next, previous pane" },
	{ { "cursor up", "cursor down" }, NULL, "Move the cursor in the pane" },
	{ { "cursor left", "cursor right" },
	  NULL,
	  "Move left, right; in the stack: switch threads" },
	{ { "cursor page-up", "cursor page-down" }, NULL, "Move one page up, down" },
	{ { "cursor first", "cursor last" }, NULL, "Go to the first, last line" },
	{ { "prompt search" }, NULL, "Search for a text in the pane; lower case ignores case" },
	{ { "find previous", "find next" },
	  NULL,
	  "Go to the previous, next match (diff: difference)" },
	{ { "toggle" }, NULL, "Add rank, branch or group to the focus, or remove it" },
	{ { "focus all", "focus !focus" }, NULL, "Focus all ranks; invert the focus" },
	{ { "prompt focus" }, NULL, "Focus a set: 0-7,16 !3 outlier state=waiting @name" },
	{ { "jobs" }, NULL, "List the jobs on this host and their status" },
	{ { "hold" }, NULL, "Freeze or resume the display; in a recording: the replay" },
	{ { "time previous", "time next" },
	  NULL,
	  "In a recording: go to the previous, next change" },
	{ { "refresh" }, NULL, "Sample all ranks now" },
	{ { "edit" }, NULL, "Open the selected line in $VISUAL or $EDITOR" },
	{ { "copy" }, NULL, "Copy the verdict (home view) or the text of the view" },
	{ { "log" }, NULL, "Show the rank's output and probetui's log" },
	{ { "assign" }, NULL, "Set the variable under the cursor in the locals" },
	{ { "repl" }, NULL, "Open a prompt for code to run in the focused ranks" },
	{ { "prompt compare" }, NULL, "Compare an expression across the focused ranks" },
	{ { "visit", "visit tensor" },
	  NULL,
	  "In the comparison: select the rank, show its tensor" },
	{ { "compare", "difference" }, "R", "In the comparison or a difference: refresh" },
	{ { "diff-params" }, NULL, "In the parameter comparison: refresh" },
	{ { "prompt tolerance" }, "t", "In the comparison: set the tolerance" },
	{ { "follow" }, "w", "In a comparison: watch a tensor for NaN, a value at stops" },
	{ { "prompt tensor" }, NULL, "Show the tensor under the locals cursor, or EXPR" },
	{ { "tensor-view" }, NULL, "In the tensor: switch to numbers, heat map, histogram" },
	{ { "tensor-index" }, NULL, "In the tensor: select the shown slice, as [2, :, :]" },
	{ { "tensor-index previous", "tensor-index next" },
	  NULL,
	  "In the tensor: show the previous, next slice" },
	{ { "tensor-find nan" }, NULL, "In the tensor: go to the next NaN or infinity" },
	{ { "tensor-find min", "tensor-find max" },
	  NULL,
	  "In the tensor: go to the minimum, maximum" },
	{ { "tensor-export" }, NULL, "In the tensor: export all elements as .npy" },
	{ { "tensor-digits" }, NULL, "In the tensor: switch to fixed, scientific, hexadecimal" },
	{ { "tensor-digits more", "tensor-digits fewer" },
	  NULL,
	  "In the tensor: show more, fewer digits" },
	{ { "tensor-scale" }, NULL, "In the histogram: draw linear or logarithmic bars" },
	{ { "connect" }, NULL, "Connect to debuggers that wait for a client" },
	{ { "console" }, NULL, "Open the debugger's console (^] closes it)" },
	{ { "terminal" }, NULL, "Open the started job's terminal (^] closes it)" },
	{ { "prompt" }, NULL, "Open the command line" },
	{ { "help" }, NULL, "Show keys and commands" },
	{ { "redraw" }, NULL, "Redraw the screen" },
	{ { "suspend" }, NULL, "Suspend to the shell; fg returns" },
	{ { "back" }, NULL, "Go back; never quits probetui" },
	{ { "interrupt" }, NULL, "Go back; in the home view: pause the focused ranks" },
	{ { "quit" }, NULL, "Close the view; in the home view: quit" },
};

void keymap_init(struct keymap *keymap)
{
	*keymap = (struct keymap){ .bindings = NULL };
}

void keymap_clear(struct keymap *keymap)
{
	for (size_t i = 0; i < keymap->count; i++)
		free(keymap->bindings[i].line);
	free(keymap->bindings);
	keymap_init(keymap);
}

static void unbind(struct keymap *keymap, const char *key)
{
	for (size_t i = 0; i < keymap->count; i++) {
		if (strcmp(keymap->bindings[i].key, key) != 0)
			continue;
		free(keymap->bindings[i].line);
		keymap->count--;
		memmove(&keymap->bindings[i], &keymap->bindings[i + 1],
			(keymap->count - i) * sizeof(*keymap->bindings));
		return;
	}
}

/* Returns "t" for "compare:t", and a key without a view's name unchanged. */
static const char *without_view(const char *key)
{
	for (int kind = 0; kind < VIEW_KIND_COUNT; kind++) {
		const char *name = view_type_of((enum view_kind)kind)->name;
		size_t length = name ? strlen(name) : 0;

		if (length > 0 && strncmp(key, name, length) == 0 && key[length] == ':' &&
		    key[length + 1] != '\0')
			return key + length + 1;
	}
	return key;
}

int keymap_bind(struct keymap *keymap, const char *key, const char *line, struct error *error)
{
	struct binding *binding;
	size_t length = strlen(key);

	if (length >= KEY_NAME_SIZE || !input_is_key(without_view(key)))
		return error_set(error,
				 "'%.40s' is not a key (keys are named n, Tab, S-Tab, C-l, PgUp, "
				 "F1; compare:n is n in the view compare)",
				 key);
	unbind(keymap, key);
	if (*line == '\0')
		return 0;
	ARRAY_GROW(keymap->bindings, keymap->count, keymap->capacity);
	binding = &keymap->bindings[keymap->count++];
	memcpy(binding->key, key, length + 1);
	binding->line = xstrdup(line);
	return 0;
}

int keymap_bind_words(struct keymap *keymap, const struct arguments *arguments, struct error *error)
{
	char *line = arguments_join(arguments, 1, arguments->count);
	int result = keymap_bind(keymap, arguments->words[0], line, error);

	free(line);
	return result;
}

static void bind_line(struct keymap *keymap, const char *line, size_t length)
{
	char *copy = xstrndup(line, length);
	struct arguments arguments;
	int result = arguments_split(&arguments, copy, NULL);

	assert(result == 0 && arguments.count > 1);
	keymap_bind_words(keymap, &arguments, NULL);
	arguments_clear(&arguments);
	free(copy);
}

void keymap_add_default(struct keymap *keymap)
{
	const char *at = keymap_default;

	while (*at != '\0') {
		size_t length = strcspn(at, "\n");

		bind_line(keymap, at, length);
		at += length + (at[length] == '\n');
	}
}

static int keymap_add_line(struct keymap *keymap, const char *line, struct error *error)
{
	struct arguments arguments;
	int result = -1;

	if (arguments_split(&arguments, line, error) == 0 && arguments.count > 1 &&
	    command_lookup(&screen_commands, arguments.words[1], error) != NULL)
		result = keymap_bind_words(keymap, &arguments, error);
	arguments_clear(&arguments);
	return result;
}

int keymap_add_config(struct keymap *keymap, const struct settings *settings, struct error *error)
{
	for (size_t i = 0; i < settings->bind_count; i++) {
		const struct config_line *line = &settings->binds[i];

		if (keymap_add_line(keymap, line->text, error) < 0)
			return error_prefix(error, "%s: line %d", settings->config, line->number);
	}
	return 0;
}

static const char *find(const struct keymap *keymap, const char *key)
{
	for (size_t i = 0; i < keymap->count; i++)
		if (strcmp(keymap->bindings[i].key, key) == 0)
			return keymap->bindings[i].line;
	return NULL;
}

const char *keymap_find(const struct keymap *keymap, const char *view, const char *key)
{
	const char *line = NULL;
	char name[2 * KEY_NAME_SIZE];

	if (view != NULL) {
		snprintf(name, sizeof(name), "%s:%s", view, key);
		line = find(keymap, name);
	}
	return line != NULL ? line : find(keymap, key);
}

const char *keymap_key_of(const struct keymap *keymap, const char *view, const char *line)
{
	for (size_t i = 0; i < keymap->count; i++) {
		const struct binding *binding = &keymap->bindings[i];
		const char *key = without_view(binding->key);
		const char *found;

		if (strcmp(binding->line, line) != 0)
			continue;
		/* The key may be bound in another view only, or differently in this view. */
		found = keymap_find(keymap, view, key);
		if (found != NULL && strcmp(found, line) == 0)
			return key;
	}
	return NULL;
}

static void append_keys(struct buffer *out, const struct keymap *keymap, const char *line)
{
	for (size_t i = 0; i < keymap->count; i++) {
		if (strcmp(keymap->bindings[i].line, line) != 0)
			continue;
		if (out->length > 0)
			buffer_append_char(out, ' ');
		buffer_append_string(out, without_view(keymap->bindings[i].key));
	}
}

static void describe(const struct keymap *keymap, const struct key_help *row, struct buffer *out)
{
	struct buffer keys = BUFFER_INIT;

	for (int i = 0; i < 2 && row->lines[i] != NULL; i++)
		append_keys(&keys, keymap, row->lines[i]);
	if (keys.length > 0) {
		const char *shown = row->keys != NULL ? row->keys : keys.data;

		buffer_append_string(out, shown);
		for (int i = text_width(shown); i < 14; i++)
			buffer_append_char(out, ' ');
		buffer_printf(out, " %s\n", row->help);
	}
	buffer_clear(&keys);
}

static bool is_described(const char *line)
{
	if (strncmp(line, "prompt rank ", 12) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_LENGTH(helps); i++)
		for (int j = 0; j < 2 && helps[i].lines[j] != NULL; j++)
			if (strcmp(helps[i].lines[j], line) == 0)
				return true;
	return false;
}

void keymap_describe(const struct keymap *keymap, struct buffer *out)
{
	for (size_t i = 0; i < ARRAY_LENGTH(helps); i++)
		describe(keymap, &helps[i], out);
	/* A binding without a description is listed with its command line. */
	for (size_t i = 0; i < keymap->count; i++)
		if (!is_described(keymap->bindings[i].line))
			buffer_printf(out, "%-14s %s\n", keymap->bindings[i].key,
				      keymap->bindings[i].line);
}
