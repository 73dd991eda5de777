/*
 * view: the state of the screen: the open view, the focused pane, cursors, unfolded items and
 * searches. Commands change the view; drawing reads view and session, and changes neither.
 */
#ifndef UI_VIEW_H
#define UI_VIEW_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/session.h"
#include "model/stacktree.h"
#include "ui/column.h"
#include "ui/console.h"
#include "ui/prompt.h"
#include "ui/repl.h"
#include "ui/step-group.h"
#include "ui/tensorscreen.h"

struct app;
struct canvas;

#define VIEW(KIND, row) VIEW_##KIND,
enum view_kind {
#include "ui/views.def"
	VIEW_KIND_COUNT,
};
#undef VIEW

enum pane {
	PANE_GRID,
	PANE_SOURCE,
	PANE_STACK,
	PANE_LOCALS,
	PANE_BREAKPOINTS, /* only on wide screens, if there are breakpoints */
	PANE_COUNT,
};

enum grid_mode {
	GRID_AUTOMATIC,
	GRID_CARDS,
	GRID_TABLE,
	GRID_CELLS,
	GRID_MODE_COUNT,
};

enum diff_against {
	DIFF_AGAINST_MAJORITY,
	DIFF_AGAINST_RANK,
	DIFF_AGAINST_PAST,
};

/* Scroll position that always shows the last line, also after new lines arrive. */
#define SCROLL_END INT_MAX

/* A set of opened or folded items, each identified by a hash (its key). */
struct key_set {
	uint64_t *keys;
	int *pages; /* number of requested pages of each item */
	size_t count;
	size_t capacity;
	size_t pages_capacity;
};

enum grouping {
	GROUPING_NONE,
	GROUPING_CLASS,
	GROUPING_HOST,
	GROUPING_COUNT,
};

/* Order, grouping and filter of the ranks in the grid; ranklist.h applies them. */
struct rank_order {
	enum column sort;
	bool is_reversed; /* reversed, compared with the column's usual direction */
	enum grouping grouping;
	char *filter;	       /* NULL: all ranks */
	struct key_set folded; /* keys of folded groups */
	struct key_set opened; /* pids of ranks whose children are shown */
	uint64_t group;	       /* key of the group that has the cursor on its row; 0: the cursor is
				* on a rank's row */
	bool is_legend_whole;  /* the cells' legend has all its rows, as far as they fit */
};

/* The selection and cursors when a search began, and the text of the search before. */
struct search_origin {
	struct selection selection;
	uint64_t group; /* rank_order.group when the search began */
	int source_line;
	int locals_cursor;
	int cursors[VIEW_KIND_COUNT];
	char *search; /* NULL: no search before */
};

/*
 * A possible answer to a question on the hint line: a key, and the command line that the key runs.
 */
struct view_choice {
	const char *key; /* NULL: end of the list */
	const char *line;
};

/* The text of the last search, and the origin of a search that is being typed. */
struct view_search {
	char *text;	/* NULL: no search */
	bool has_marks; /* true: hits are marked on the screen */
	struct search_origin origin;
};

/* The message on the hint line, until the next key. */
struct view_message {
	char *text; /* NULL: no message */
	bool is_error;
	/*
	 * The message is a question: the command line that the key y runs; any other key means no.
	 * NULL: the message is not a yes-or-no question.
	 */
	char *question;
	const struct view_choice *choices; /* the message is a question with these answers; NULL: it
					    * is not */
	struct rankset asked;		   /* ranks that the question is about; empty: all ranks */
};

/* The recording that is played: its first and last session time, and the wall clock at session time
 * 0 (-1: unknown), all in seconds. */
struct view_replay {
	double first;
	double end;
	double wall;
};

struct merged_view {
	struct key_set folded;	    /* keys of folded branches */
	struct key_set opened_runs; /* keys of unfolded recursions */
	enum stacktree_granularity granularity;
};

struct diff_view {
	enum diff_against against;
	int rank;
	double seconds;
};

/* The two ranks whose tensors are compared. */
struct difference_view {
	int rank;
	int against;
};

/* The view of the selected rank's output and probetui's log. */
struct log_view {
	bool is_focused;  /* true: the log has the focus; false: the output */
	int other_scroll; /* scroll position of the pane without focus */
};

/* The view of a command's output. */
struct text_view {
	char *content;
	char *line; /* command line that is run again to update the text; NULL: the text stays */
};

/* The state of the screen. State that only one view needs is in the member with the view's name. */
struct view {
	enum view_kind kind;
	/* By overlay: the view to which "back" returns from it. */
	enum view_kind behind[VIEW_KIND_COUNT];
	/*
	 * By view: the cursor's row; for a text, the first shown line. -1 in the merged stacks
	 * means the outlier's row.
	 */
	int cursors[VIEW_KIND_COUNT];
	bool is_held; /* sampling or playing is paused */
	bool is_ascii;
	bool has_heat; /* heat maps have colours, two values in a cell */
	double period; /* seconds between samples; 0: unknown */
	struct view_replay replay;
	bool is_recording; /* a recording is being written */
	int row_count;	   /* size of the canvas */
	int column_count;
	struct view_search search;
	struct view_message message;
	struct prompt prompt;
	struct step_group motion;
	struct stepqueue steps; /* command lines to run after the step of the group `motion` */
	double resume_at;	/* session_resume_at() of a resume that the user has accepted; -1:
				 * none */
	/* The members below, up to `opened`, are state of the home view. */
	enum pane pane;
	bool is_zoomed;
	bool is_in_job; /* opened from the list of jobs: "back" returns there */
	enum grid_mode grid;
	struct rank_order order;
	bool is_unfolded;      /* library frames are not folded */
	int source_line;       /* line of the source's cursor; 0: the line of the frame */
	uint64_t source_stops; /* debugger.stops of the rank when source_line was set */
	int locals_cursor;
	struct key_set opened; /* keys of opened variables */

	struct merged_view merged;
	struct diff_view diff;
	struct log_view log;
	struct text_view text;
	struct console console;
	struct console terminal;
	struct difference_view difference;
	struct repl repl;
	struct tensor_choice tensor;
};

void view_init(struct view *view);
void view_clear(struct view *view);
/* Shows a sentence on the hint line until the next key. */
void view_say(struct view *view, bool is_error, const char *message);
/*
 * Asks whether to run a command line that needs confirmation. asked: the ranks that the question is
 * about; NULL: all ranks that the line names.
 */
void view_ask(struct view *view, const char *question, const char *line,
	      const struct rankset *asked);
/* Asks the user to choose one of choices, which must stay valid. */
void view_ask_which(struct view *view, const char *question, const struct view_choice *choices);
/* Opens a view. For an overlay, the view open before is remembered in view.behind. */
void view_open(struct view *view, enum view_kind kind);

bool key_set_has(const struct key_set *set, uint64_t key);
/* Returns the number of requested pages of key; 0: key is not in the set. */
int key_set_pages(const struct key_set *set, uint64_t key);
void key_set_add_page(struct key_set *set, uint64_t key);
void key_set_remove(struct key_set *set, uint64_t key);

/* True if the node is about to resume stopped ranks, and the user has not answered yet. */
bool view_asks_to_stay(const struct session *session, const struct view *view);
/* Returns the row of the view's cursor in a list of count rows, from 0. */
int view_cursor(const struct view *view, enum view_kind kind, size_t count);
/* True if several jobs run and none was chosen, so that the user must choose one. */
bool view_asks_job(const struct session *session, const struct view *view);
/* Returns the open view; VIEW_JOBS if a job must be chosen first. */
enum view_kind view_shown(const struct session *session, const struct view *view);
/* True if the list of jobs is shown, because it was opened or because a job must be chosen. */
bool view_lists_jobs(const struct session *session, const struct view *view);
/*
 * True if the open view shows no ranks and there is no view to return to, so that the key q quits.
 */
bool view_is_at_root(const struct session *session, const struct view *view);

/* Draws the whole screen onto the canvas, which gets the size in app->view. */
void view_draw(struct canvas *canvas, const struct app *app);

#endif
