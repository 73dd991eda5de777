/*
 * view: what a person looks at and how: the open view, the focused pane,
 * what is unfolded, scrolled and searched. Commands change it; drawing reads
 * it and the session, and changes neither.
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
#include "ui/stepqueue.h"
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
	PANE_BREAKPOINTS, /* there from wide screens on, when there are any */
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

/* Names of what was opened or folded, by a hash. */
struct key_set {
	uint64_t *keys;
	int *pages; /* how many pages of it are wanted */
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

/* In which order the grid shows which ranks; ranklist.h makes it so. */
struct rank_order {
	enum column sort;
	bool is_reversed; /* against the column's own direction */
	enum grouping grouping;
	char *filter;	       /* NULL: all ranks */
	struct key_set folded; /* groups */
	struct key_set opened; /* ranks whose children show, by pid */
	uint64_t group;	       /* the cursor is on its line; 0: on a rank */
	bool is_legend_whole;  /* below the cells: as many as fit */
};

/* Where a person was before a search, and what was searched for then. */
struct search_origin {
	struct selection selection;
	uint64_t group; /* of the grid */
	int source_line;
	int locals_cursor;
	int cursors[VIEW_KIND_COUNT];
	char *search; /* NULL: nothing */
};

/* An answer to a question: the key, and the line that it runs. */
struct view_choice {
	const char *key; /* NULL behind the last */
	const char *line;
};

/* What was searched for, and where a search that is typed began. */
struct view_search {
	char *text;	/* NULL: nothing */
	bool has_marks; /* the hits are marked */
	struct search_origin origin;
};

/* What is said on the hint line, until the next key. */
struct view_message {
	char *text; /* NULL: nothing */
	bool is_error;
	char *question;			   /* text asks whether to run this line: y does, any other
					    * key does not; NULL: it does not ask */
	const struct view_choice *choices; /* text asks which; NULL: y or n */
	struct rankset asked;		   /* for these ranks of the line; empty: for all */
};

/* Of the recording that is played: the first and last time, and the wall
 * clock at time 0 (-1: not known). */
struct view_replay {
	double first;
	double end;
	double wall;
};

struct merged_view {
	struct key_set folded;	    /* branches */
	struct key_set opened_runs; /* recursions */
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

/* The output of the selected rank, and the log of probetui. */
struct log_view {
	bool is_focused;  /* the log; else the output */
	int other_scroll; /* of the one without focus */
};

/* What a command printed. */
struct text_view {
	char *content;
	char *line; /* the command that writes it again; NULL: it stays */
};

/* A view's own state is in the struct of the view's name. */
struct view {
	enum view_kind kind;
	/* Where "back" leads from an overlay. */
	enum view_kind behind[VIEW_KIND_COUNT];
	/* The row of the cursor in each view; of a text the first line. -1 in
	 * the merged stacks: at the outlier. */
	int cursors[VIEW_KIND_COUNT];
	bool is_held;
	bool is_ascii;
	bool has_heat; /* colours for areas, two in a cell */
	double period; /* seconds between samples; 0 unknown */
	struct view_replay replay;
	bool is_recording; /* what is seen is written to a file */
	int row_count;	   /* size of the canvas */
	int column_count;
	struct view_search search;
	struct view_message message;
	struct prompt prompt;
	struct step_group motion;
	struct stepqueue steps; /* to be done when the motion is over */
	double resume_at;	/* session time of a resume that a person was asked about
				 * and agreed to; -1: none */
	/* home */
	enum pane pane;
	bool is_zoomed;
	bool is_in_job; /* opened from the list: "back" leads there */
	enum grid_mode grid;
	struct rank_order order;
	bool is_unfolded;      /* library frames are shown one by one */
	int source_line;       /* the cursor's in the source; 0: it is at the
				* line that runs, and goes with it */
	uint64_t source_stops; /* at which stop of the rank that was */
	int locals_cursor;
	struct key_set opened; /* variables */

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
/* Asks whether to run a command line that costs something, for these of its
 * ranks; NULL: for all. */
void view_ask(struct view *view, const char *question, const char *line,
	      const struct rankset *asked);
/* Asks which of these to do; every other key does nothing. */
void view_ask_which(struct view *view, const char *question, const struct view_choice *choices);
/* Opens a view; an overlay remembers the view that was open. */
void view_open(struct view *view, enum view_kind kind);

bool key_set_has(const struct key_set *set, uint64_t key);
/* How many pages of key are wanted: 0 when it is not in the set. */
int key_set_pages(const struct key_set *set, uint64_t key);
void key_set_add_page(struct key_set *set, uint64_t key);
void key_set_remove(struct key_set *set, uint64_t key);

/* The node is about to resume stopped ranks, and Esc has not agreed to it. */
bool view_asks_to_stay(const struct session *session, const struct view *view);
/* Several jobs run and none was chosen: the screen asks which. */
bool view_asks_job(const struct session *session, const struct view *view);
/* The open view; the list of jobs where one must be chosen. */
enum view_kind view_shown(const struct session *session, const struct view *view);
/* The jobs are listed: asked for, or to choose one. */
bool view_lists_jobs(const struct session *session, const struct view *view);
/* Nothing is behind it: q leaves. What is there has no ranks. */
bool view_is_at_root(const struct session *session, const struct view *view);

/* Draws everything onto the canvas, in its size. */
void view_draw(struct canvas *canvas, const struct app *app);

#endif
