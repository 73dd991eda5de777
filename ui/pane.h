/*
 * pane: the parts of the screen, one file each. Drawing reads session and view and changes nothing.
 * Missing data (source, variables) is shown as not read yet; view_type.want requests it.
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

/* Return the character that marks a rank, or a class, respectively, and set the mark's style. */
int32_t mark_of_rank(const struct session *session, const struct rank *rank, enum style *style);
int32_t mark_of_class(const struct session *session, const struct rank_class *class,
		      enum style *style);
/* Appends the rank's state, at most six columns: "wait", "sleep", "bp 1", "raised". */
void rank_append_word(struct buffer *out, const struct rank *rank);
/* Appends the rank's activity: "all_reduce", "exit status 1". */
void rank_append_activity(struct buffer *out, const struct rank *rank);
/*
 * Appends for how long the rank has been stopped, or else its main thread at one place; nothing if
 * unknown.
 */
void rank_append_age(struct buffer *out, const struct session *session, const struct rank *rank);
/*
 * Returns the innermost user frame of the thread that a debugger has stopped, else of the main
 * thread; NULL: there is none.
 */
const struct frame *rank_top_frame(const struct rank *rank);
/*
 * Appends the frame's place, "train.py:17"; is_short: only ":17" if the file is the job's script.
 */
void rank_append_place(struct buffer *out, const struct rank *rank, const struct frame *frame,
		       bool is_short);
/* True if data read at this session time is older than two sampling periods plus half a second. */
bool view_is_stale(const struct session *session, const struct view *view, double time);
/*
 * Like view_is_stale(), but variables that were read at the thread's present stop are never stale.
 */
bool variables_are_stale(const struct session *session, const struct view *view,
			 const struct variables *variables);
/* Return the selected frame, and its source, respectively; NULL: there is none. */
const struct frame *selected_frame(const struct session *session);
const struct source *selected_source(const struct session *session);
/* True if the stack was read while the thread ran, so that the stack may never have existed. */
bool rank_is_torn(const struct rank *rank);
/*
 * Appends the rank's activity; before it the age of the sample if that is stale, and ~ if
 * rank_is_torn().
 */
void rank_append_doing(struct buffer *out, const struct session *session, const struct view *view,
		       const struct rank *rank);
/* Shown in place of data of ranks whose node was lost. */
extern const char rank_gone_sentence[];
/*
 * Returns sentence, which says that the recording lacks some data, if the session is a replay; else
 * NULL.
 */
const char *recording_lack(const struct session *session, const char *sentence);
/* Returns the reason why the rank's data will never arrive; NULL: the data can still arrive. */
const char *rank_unread_reason(const struct session *session, const struct rank *rank);
bool rank_is_stale(const struct session *session, const struct view *view, const struct rank *rank);

/* Draws a title in the border line of a box, with the texts left and right; NULL: no text. */
void pane_title(struct window window, int row, int column, int width, bool is_focused,
		const char *left, const char *right);

/*
 * pane_frame() draws lines around a window and returns the window inside. If the screen has few
 * rows, pane_has_frame() is false, and pane_frame() draws no lines and returns the whole window.
 */
bool pane_has_frame(int row_count);
struct window pane_frame(struct window window);

/* The functions below draw header, verdict and hints, which every view has. */
/* Returns the number of lost nodes. */
size_t session_gone_count(const struct session *session);
void pane_header(struct window window, const struct session *session, const struct view *view);
void pane_verdict(struct window window, const struct session *session);
/* True if the hint line can show the whole text (view_say()). */
bool pane_message_fits(const struct view *view, const char *text);
/* Returns the number of rows of the hint line: a long message needs several. */
int pane_hint_rows(const struct session *session, const struct view *view, int row_count,
		   int column_count);
void pane_hints(struct window window, const struct session *session, const struct view *view,
		const struct keymap *keymap);

/* Draws a card without its borders: title, activity, place. */
void pane_card(struct window window, const struct session *session, const struct view *view,
	       const struct rank *rank);
void pane_cards(struct window window, const struct session *session, const struct view *view,
		const struct ranklist *list, int across);
void pane_table(struct window window, const struct session *session, const struct view *view,
		const struct ranklist *list);
/*
 * Appends "2-6 of 6": the range of the table's rows that are shown in the pane; nothing if all fit.
 */
void pane_table_append_range(struct buffer *out, const struct ranklist *list, int row_count,
			     int column_count);
void pane_cells(struct window window, const struct session *session, const struct view *view,
		const struct ranklist *list);
/* Draws the reason why no rank is shown. */
void pane_no_match(struct window window, const struct view *view);

/* Draws the source around the cursor's line. The window is the inside of the pane. */
void pane_source(struct window window, const struct session *session, const struct view *view);
/*
 * Returns the line of the source's cursor: the line that the cursor was moved to since the rank's
 * last stop, else the frame's line.
 */
int pane_source_line(const struct session *session, const struct view *view);
/* Moves the source's cursor to a line. */
void view_point(struct view *view, const struct session *session, int line);
/* Draws lines of the source, from line `first` on; line `number` is drawn as the current line. */
void pane_source_lines(struct window window, const struct source *source, int number, int first);
/* Returns why there are no lines to show, a sentence; NULL: there are lines. source may be NULL. */
const char *pane_source_problem(const struct session *session, const struct rank *rank,
				const struct source *source);

/* One row of a stack: a frame, or `count` folded frames of a package or of a recursion. */
struct stack_row {
	int at;	   /* index in the shown stack of the innermost of the row's frames */
	int depth; /* depth in the Python stack; -1: a native frame, which cannot be selected */
	int count; /* number of frames of the row */
	bool is_user;
};

/* Returns the rows of the selected thread's stack, innermost first; free() them. */
struct stack_row *pane_stack_rows(const struct session *session, bool is_unfolded, size_t *count);
int pane_stack_row_count(const struct session *session, const struct view *view);
void pane_stack(struct window window, const struct session *session, const struct view *view);

enum locals_row_kind {
	LOCALS_RAISED,	 /* a line of the exception, above the variables */
	LOCALS_RETURNED, /* the value that the frame returns */
	LOCALS_DISPLAY,	 /* a displayed expression */
	LOCALS_VARIABLE,
	LOCALS_MORE,	/* stands for variables of pages that are not requested */
	LOCALS_WAITING, /* stands for a requested page that has not arrived */
	LOCALS_PROBLEM, /* why variables cannot be read, a sentence */
};

struct locals_row {
	enum locals_row_kind kind;
	const struct variable *variable; /* borrowed from the session */
	const char *problem;
	const struct display *display; /* borrowed */
	/* LOCALS_RAISED and LOCALS_RETURNED: the text, borrowed; the row shows its first line. */
	const char *text;
	int indent;
	bool is_open;
	bool is_folded; /* LOCALS_RAISED: further lines of the exception are folded */
	bool is_stale;
	bool is_changed;  /* the value has changed since the previous stop */
	uint64_t key;	  /* key of the row's item in view.opened, if Enter opens it */
	bool is_page;	  /* first row of the page that address and start identify */
	uint64_t address; /* address of the object that has the page's variables; 0: the frame */
	int64_t start;
	int64_t left; /* LOCALS_MORE: number of variables that are not shown */
};

/* The frame whose locals are shown; depth -1: there is no frame. */
struct locals_frame {
	const struct rank *rank;
	const struct thread *thread;
	int depth;
};
struct locals_frame locals_frame_selected(const struct session *session);

/* Returns the rows of the locals of a frame; free() them. */
struct locals_row *pane_locals_rows(const struct session *session, const struct view *view,
				    const struct locals_frame *frame, size_t *count);
void pane_locals(struct window window, const struct session *session, const struct view *view,
		 const struct locals_frame *frame, bool has_cursor);

struct merged_row {
	struct stacktree_row tree;
	uint64_t key;	   /* hash of the path from the root: function, file and line of each
			    * frame */
	int run;	   /* recursion depth */
	bool is_folded;	   /* the rows below are hidden */
	size_t fold_count; /* number of frames of a recursion that the row stands for; 0: one
			    * frame */
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

/* The two stacks that the diff compares. */
struct diff_sides {
	const struct rank *a;
	const struct rank *b; /* the other rank; for a class, its first rank */
	const struct stack *a_stack;
	const struct stack *b_stack;
	const struct rank_class *b_class; /* NULL: b is a single rank */
	bool is_past;			  /* b_stack is an earlier stack of the same rank */
};
/* Returns the style of a difference; op is stackdiff_row.op. */
enum style diff_style(char op);
/* Maximum number of ranks whose locals the diff compares. */
#define DIFF_RANKS_MAXIMUM 16
/* Returns rank i, from 0, of side b; NULL: there are no more ranks. */
const struct rank *diff_other(const struct session *session, const struct diff_sides *sides,
			      size_t i);
void pane_diff_locals(struct window left, struct window right, const struct session *session,
		      const struct diff_sides *sides, int a_depth, int b_depth);

void pane_nothing(struct window window, const struct session *session);
/* Returns the mark of a verdict and sets the mark's style. */
int32_t mark_of_verdict(enum verdict_state state, bool has_outliers, enum style *style);

/*
 * Appends "2-6 of 9": the range of shown rows, which begins at index first; nothing if all rows are
 * shown.
 */
void pane_append_range(struct buffer *out, int first, int rows, int count);

/* The style and the mark of a class of answers; class NULL: of ranks that have not answered. */
enum style answer_style(const struct answer_class *class);
int32_t answer_mark(const struct answer_class *class);
/*
 * The summary of the comparison, in place of the verdict: appended as text, and drawn (always
 * returns true), respectively.
 */
void pane_compare_append_summary(struct buffer *out, const struct session *session);
bool pane_compare_summary(struct window window, const struct session *session);

/* Scrolls a console by a move; page is the number of lines in a page. */
void console_move(struct console *console, int page, enum move move);
/* Draws the output of the selected rank, from line `scroll` on. */
void pane_output(struct window window, const struct session *session, int scroll);
void pane_output_title(const struct session *session, struct buffer *left, struct buffer *right);

#endif
