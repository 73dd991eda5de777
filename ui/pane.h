/*
 * pane: the parts of the screen, one file each. Drawing takes the session
 * and the view and changes nothing; what a pane lacks (source, variables) it
 * shows as not read yet, and view-requests.c asks the engine for it.
 */
#ifndef UI_PANE_H
#define UI_PANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/answers.h"
#include "model/verdict.h"
#include "ui/grid.h"
#include "ui/view.h"
#include "ui/window.h"

struct buffer;
struct cells;
struct display;
struct frame;
struct layout;
struct rank;
struct rank_class;
struct ranklist;
struct session;
struct source;
struct thread;
struct variable;
struct variables;

/* The glyph and style of a rank or class: one thing with its colour. */
int32_t mark_of_rank(const struct session *session, const struct rank *rank, enum style *style);
int32_t mark_of_class(const struct session *session, const struct rank_class *class,
		      enum style *style);
/* Appends "wait", "sleep", "bp 1", "raised": at most six columns. */
void rank_append_word(struct buffer *out, const struct rank *rank);
/* Appends what a rank does ("all_reduce", "exit status 1"). */
void rank_append_activity(struct buffer *out, const struct rank *rank);
/* Appends how long its main thread is where it is; nothing if not known. */
void rank_append_age(struct buffer *out, const struct session *session, const struct rank *rank);
/* The top user frame of its main thread, or of the one that a debugger has
 * stopped; NULL if there is none. */
const struct frame *rank_top_frame(const struct rank *rank);
/* Appends "train.py:17", or ":17" if the file is the job's script. */
void rank_append_place(struct buffer *out, const struct rank *rank, const struct frame *frame,
		       bool is_short);
/* What was read at this session time is older than two sampling periods. */
bool view_is_stale(const struct session *session, const struct view *view, double time);
/* The same of variables, which a debugger may hold as they are. */
bool variables_are_stale(const struct session *session, const struct view *view,
			 const struct variables *variables);
/* The frame that is looked at, and its source; NULL: there is none. */
const struct frame *selected_frame(const struct session *session);
const struct source *selected_source(const struct session *session);
/* Read while it moved: its stack may never have been so. */
bool rank_is_torn(const struct rank *rank);
/* Appends what it does, its age when that is old, and ~ when it is torn. */
void rank_append_doing(struct buffer *out, const struct session *session, const struct view *view,
		       const struct rank *rank);
/* What is said in place of what a lost node would have read. */
extern const char rank_gone_sentence[];
/* Returns the sentence if the session is a recording, which lacks the data; NULL: it is live. */
const char *recording_lack(const struct session *session, const char *sentence);
/* Returns the reason why the rank's data will never arrive; NULL: the data can still arrive. */
const char *rank_unread_reason(const struct session *session, const struct rank *rank);
bool rank_is_stale(const struct session *session, const struct view *view, const struct rank *rank);

/* A title in the border line above (or left of it) a box. */
void pane_title(struct window window, int row, int column, int width, bool is_focused,
		const char *left, const char *right);

/*
 * Lines around a view, and its inside; where rows are few the lines are left
 * out and all is inside (pane_has_frame: of a window with so many rows).
 */
bool pane_has_frame(int row_count);
struct window pane_frame(struct window window);

/* The three lines that every view has. */
/* Nodes that are gone. */
size_t session_gone_count(const struct session *session);
void pane_header(struct window window, const struct session *session, const struct view *view);
void pane_verdict(struct window window, const struct session *session);
/* Whether view_say() can show all of the text. */
bool pane_message_fits(const struct view *view, const char *text);
/* How many of the last rows that takes: a long sentence needs several. */
int pane_hint_rows(const struct session *session, const struct view *view, int row_count,
		   int column_count);
void pane_hints(struct window window, const struct session *session, const struct view *view,
		const struct keymap *keymap);

/* One card, without its borders: title, what it does, and where. */
void pane_card(struct window window, const struct session *session, const struct view *view,
	       const struct rank *rank);
void pane_cards(struct window window, const struct session *session, const struct view *view,
		const struct ranklist *list, int across);
void pane_table(struct window window, const struct session *session, const struct view *view,
		const struct ranklist *list);
/* Appends which of its rows show in so much room, "2-6 of 6"; nothing: all. */
void pane_table_append_range(struct buffer *out, const struct ranklist *list, int row_count,
			     int column_count);
void pane_cells(struct window window, const struct session *session, const struct view *view,
		const struct ranklist *list);
/* Says why there is no rank to show. */
void pane_no_match(struct window window, const struct view *view);

/* Source around a line. The window is the inside of the pane. */
void pane_source(struct window window, const struct session *session, const struct view *view);
/*
 * The line of its cursor: that which runs in the frame looked at until the
 * cursor is moved, and again from the next stop of the rank on.
 */
int pane_source_line(const struct session *session, const struct view *view);
/* Moves the cursor there. */
void view_point(struct view *view, const struct session *session, int line);
/* From line first on; number is the current line. */
void pane_source_lines(struct window window, const struct source *source, int number, int first);
/* Why there are no lines to show (source may be NULL); NULL: there are. */
const char *pane_source_problem(const struct session *session, const struct rank *rank,
				const struct source *source);

/* One row of a stack: a frame, or count frames of a package or recursion. */
struct stack_row {
	int at;	   /* of the innermost of them, in the stack that is shown */
	int depth; /* in the Python stack; -1: native, not to be chosen */
	int count; /* 1: a frame */
	bool is_user;
};

/* Rows of the stack that is looked at, innermost first. free() them. */
struct stack_row *pane_stack_rows(const struct session *session, bool is_unfolded, size_t *count);
int pane_stack_row_count(const struct session *session, const struct view *view);
void pane_stack(struct window window, const struct session *session, const struct view *view);

enum locals_row_kind {
	LOCALS_RAISED,	 /* above the variables: a line of the exception */
	LOCALS_RETURNED, /* what is returned there */
	LOCALS_DISPLAY,	 /* an expression that is displayed */
	LOCALS_VARIABLE,
	LOCALS_MORE,	/* a page that is not wanted yet */
	LOCALS_WAITING, /* a page that is wanted and has not come */
	LOCALS_PROBLEM, /* a sentence: it cannot be read */
};

struct locals_row {
	enum locals_row_kind kind;
	const struct variable *variable; /* lent by the session */
	const char *problem;
	const struct display *display; /* lent */
	const char *text;	       /* of what is raised or returned; lent, may be of
					* several lines: of this row is the first */
	int indent;
	bool is_open;
	bool is_folded; /* LOCALS_RAISED: there are more lines */
	bool is_stale;
	bool is_changed;  /* since the stop before */
	uint64_t key;	  /* of what Enter opens */
	bool is_page;	  /* the first row of a page, here or wanted: */
	uint64_t address; /* of this object, 0 the frame */
	int64_t start;
	int64_t left; /* LOCALS_MORE: how many are not shown */
};

/* Whose locals: depth -1, when there is no frame. */
struct locals_frame {
	const struct rank *rank;
	const struct thread *thread;
	int depth;
};
struct locals_frame locals_frame_selected(const struct session *session);

/* Rows of the locals of a frame. free() them. */
struct locals_row *pane_locals_rows(const struct session *session, const struct view *view,
				    const struct locals_frame *frame, size_t *count);
void pane_locals(struct window window, const struct session *session, const struct view *view,
		 const struct locals_frame *frame, bool has_cursor);

struct merged_row {
	struct stacktree_row tree;
	uint64_t key;	   /* its path: function, file and line */
	int run;	   /* recursion depth */
	bool is_folded;	   /* what is below it is not shown */
	size_t fold_count; /* it stands for so many of a recursion; 0: not */
};

/* The visible rows of the merged stacks. Free with merged_clear(). */
struct merged {
	struct stacktree_node *root;
	struct merged_row *rows;
	size_t row_count;
	int cursor;
};
void merged_make(struct merged *merged, const struct session *session, const struct view *view);
void merged_clear(struct merged *merged);
void pane_merged_tree(struct window window, const struct session *session, const struct view *view,
		      const struct merged *merged, bool has_cursor);

/* What the diff compares. */
struct diff_sides {
	const struct rank *a;
	const struct rank *b; /* stands for its class */
	const struct stack *a_stack;
	const struct stack *b_stack;
	const struct rank_class *b_class; /* NULL: one rank alone */
	bool is_past;
};
/* Of a difference, by stackdiff's op. */
enum style diff_style(char op);
/* Ranks whose locals the diff compares at most. */
#define DIFF_RANKS_MAXIMUM 16
/* Rank number i of the other side, NULL behind the last. */
const struct rank *diff_other(const struct session *session, const struct diff_sides *sides,
			      size_t i);
void pane_diff_locals(struct window left, struct window right, const struct session *session,
		      const struct diff_sides *sides, int a_depth, int b_depth);

void pane_nothing(struct window window, const struct session *session);
/* The mark and style of a verdict, in a line of its own. */
int32_t mark_of_verdict(enum verdict_state state, bool has_outliers, enum style *style);

/* Appends "2-6 of 9": rows of count from first on; nothing when all show. */
void pane_append_range(struct buffer *out, int first, int rows, int count);

/* How the answers of a class look; NULL: of those that are waited for. */
enum style answer_style(const struct answer_class *class);
int32_t answer_mark(const struct answer_class *class);
/* In place of the verdict; appended, and in a window (then true). */
void pane_compare_append_summary(struct buffer *out, const struct session *session);
bool pane_compare_summary(struct window window, const struct session *session);

/* Scrolls a console. */
void console_move(struct console *console, int page, enum move move);
/* What the selected rank prints, from line scroll on. */
void pane_output(struct window window, const struct session *session, int scroll);
void pane_output_title(const struct session *session, struct buffer *left, struct buffer *right);

#endif
