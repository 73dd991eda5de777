#include "ui/style.h"

#include <string.h>

#include "banned.h"

static const char *const names[STYLE_COUNT] = {
	[STYLE_TEXT] = "text",
	[STYLE_DIM] = "dim",
	[STYLE_BORDER] = "border",
	[STYLE_TITLE] = "title",
	[STYLE_TITLE_FOCUSED] = "title.focused",
	[STYLE_SELECTED] = "selected",
	[STYLE_HINT] = "hint",
	[STYLE_HINT_KEY] = "hint.key",
	[STYLE_VERDICT_BAD] = "verdict.bad",
	[STYLE_VERDICT_GOOD] = "verdict.good",
	[STYLE_VERDICT_NOTE] = "verdict.note",
	[STYLE_CLASS_1] = "class.1",
	[STYLE_CLASS_2] = "class.2",
	[STYLE_CLASS_3] = "class.3",
	[STYLE_CLASS_4] = "class.4",
	[STYLE_CLASS_5] = "class.5",
	[STYLE_CLASS_6] = "class.6",
	[STYLE_CLASS_7] = "class.7",
	[STYLE_CLASS_8] = "class.8",
	[STYLE_OUTLIER] = "outlier",
	[STYLE_STATE_RUNNING] = "state.running",
	[STYLE_STATE_WAITING] = "state.waiting",
	[STYLE_STATE_STOPPED] = "state.stopped",
	[STYLE_STATE_EXITED] = "state.exited",
	[STYLE_STATE_UNKNOWN] = "state.unknown",
	[STYLE_SOURCE_KEYWORD] = "source.keyword",
	[STYLE_SOURCE_STRING] = "source.string",
	[STYLE_SOURCE_NUMBER] = "source.number",
	[STYLE_SOURCE_COMMENT] = "source.comment",
	[STYLE_SOURCE_CURRENT] = "source.current",
	[STYLE_SOURCE_BREAKPOINT] = "source.breakpoint",
	[STYLE_FRAME_USER] = "frame.user",
	[STYLE_FRAME_LIBRARY] = "frame.library",
	[STYLE_FRAME_NATIVE] = "frame.native",
	[STYLE_VALUE_CHANGED] = "value.changed",
	[STYLE_VALUE_TYPE] = "value.type",
	[STYLE_VALUE_NAN] = "value.nan",
	[STYLE_VALUE_STALE] = "value.stale",
	[STYLE_DIFF_SAME] = "diff.same",
	[STYLE_DIFF_MOVED] = "diff.moved",
	[STYLE_DIFF_ONLY] = "diff.only",
	[STYLE_ERROR] = "error",
	[STYLE_WARNING] = "warning",
	[STYLE_FOUND] = "found",
	[STYLE_HEAT_1] = "heat.1",
	[STYLE_HEAT_2] = "heat.2",
	[STYLE_HEAT_3] = "heat.3",
	[STYLE_HEAT_4] = "heat.4",
	[STYLE_HEAT_5] = "heat.5",
	[STYLE_HEAT_6] = "heat.6",
	[STYLE_HEAT_7] = "heat.7",
	[STYLE_HEAT_8] = "heat.8",
	[STYLE_HEAT_9] = "heat.9",
	[STYLE_HEAT_10] = "heat.10",
	[STYLE_HEAT_11] = "heat.11",
	[STYLE_HEAT_12] = "heat.12",
	[STYLE_TERMINAL_RED] = "terminal.red",
	[STYLE_TERMINAL_GREEN] = "terminal.green",
	[STYLE_TERMINAL_YELLOW] = "terminal.yellow",
	[STYLE_TERMINAL_BLUE] = "terminal.blue",
	[STYLE_TERMINAL_MAGENTA] = "terminal.magenta",
	[STYLE_TERMINAL_CYAN] = "terminal.cyan",
};

bool style_parse(const char *name, enum style *style)
{
	for (int i = 0; i < STYLE_COUNT; i++) {
		if (strcmp(names[i], name) == 0) {
			*style = (enum style)i;
			return true;
		}
	}
	return false;
}

enum style style_of_class(int mark, bool is_outlier)
{
	if (is_outlier)
		return STYLE_OUTLIER;
	if (mark < 0)
		return STYLE_STATE_UNKNOWN;
	return (enum style)(STYLE_CLASS_1 + mark % 8);
}
