/*
 * style: what a piece of text means, by name. Panes say the name, a theme
 * says how it looks; nothing else knows colours.
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
	STYLE_FOUND, /* what a search found */
	STYLE_COUNT,
};

/* "source.keyword"; false: there is no such style. */
bool style_parse(const char *name, enum style *style);
/* The style of the class with this mark (0 is the majority). */
enum style style_of_class(int mark, bool is_outlier);

#endif
