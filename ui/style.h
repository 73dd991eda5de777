/*
 * style: what a piece of text means. Panes choose a style, a theme defines how each style looks;
 * only themes have colours.
 */
#ifndef UI_STYLE_H
#define UI_STYLE_H

#include <stdbool.h>

enum style {
	STYLE_TEXT,
	STYLE_DIM,
	STYLE_BORDER,
	STYLE_TITLE,
	STYLE_TITLE_FOCUSED,
	STYLE_SELECTED,
	STYLE_HINT,
	STYLE_HINT_KEY,
	STYLE_VERDICT_BAD,
	STYLE_VERDICT_GOOD,
	STYLE_VERDICT_NOTE,
	STYLE_CLASS_1,
	STYLE_CLASS_2,
	STYLE_CLASS_3,
	STYLE_CLASS_4,
	STYLE_CLASS_5,
	STYLE_CLASS_6,
	STYLE_CLASS_7,
	STYLE_CLASS_8,
	STYLE_OUTLIER,
	STYLE_STATE_RUNNING,
	STYLE_STATE_WAITING,
	STYLE_STATE_STOPPED,
	STYLE_STATE_EXITED,
	STYLE_STATE_UNKNOWN,
	STYLE_SOURCE_KEYWORD,
	STYLE_SOURCE_STRING,
	STYLE_SOURCE_NUMBER,
	STYLE_SOURCE_COMMENT,
	STYLE_SOURCE_CURRENT,
	STYLE_SOURCE_BREAKPOINT,
	STYLE_FRAME_USER,
	STYLE_FRAME_LIBRARY,
	STYLE_FRAME_NATIVE,
	STYLE_VALUE_CHANGED,
	STYLE_VALUE_TYPE,
	STYLE_VALUE_NAN,
	STYLE_VALUE_STALE,
	STYLE_DIFF_SAME,
	STYLE_DIFF_MOVED,
	STYLE_DIFF_ONLY,
	STYLE_ERROR,
	STYLE_WARNING,
	STYLE_FOUND, /* text found by a search */
	/*
	 * Values in heat maps, low to high; if not theme_has_heat(), characters are used instead.
	 */
	STYLE_HEAT_1,
	STYLE_HEAT_2,
	STYLE_HEAT_3,
	STYLE_HEAT_4,
	STYLE_HEAT_5,
	STYLE_HEAT_6,
	STYLE_HEAT_7,
	STYLE_HEAT_8,
	STYLE_HEAT_9,
	STYLE_HEAT_10,
	STYLE_HEAT_11,
	STYLE_HEAT_12,
	STYLE_TERMINAL_RED, /* colours in the output of debuggers */
	STYLE_TERMINAL_GREEN,
	STYLE_TERMINAL_YELLOW,
	STYLE_TERMINAL_BLUE,
	STYLE_TERMINAL_MAGENTA,
	STYLE_TERMINAL_CYAN,
	STYLE_COUNT,
};

#define STYLE_HEAT_COUNT (STYLE_HEAT_12 - STYLE_HEAT_1 + 1)

/* Finds a style by name, "source.keyword"; false: there is no such style. */
bool style_parse(const char *name, enum style *style);
/* Returns the style of the class with this mark (0 is the majority). */
enum style style_of_class(int mark, bool is_outlier);

#endif
