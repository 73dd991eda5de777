/*
 * view-type: the properties and functions of a view: one constant row at the end of the file that
 * draws the view. Drawing, commands, search, mouse and hint line call the open view through the
 * row; views.def lists the rows. A function may be NULL if the view does not need it.
 */
#ifndef UI_VIEW_TYPE_H
#define UI_VIEW_TYPE_H

#include <stdbool.h>

#include "ui/grid.h"
#include "ui/view.h"
#include "ui/window.h"

struct app;
struct buffer;
struct command_context;
struct error;
struct search_text;
struct layout;
struct rank;
struct session;

/* A hint on the hint line: keys and their function. */
struct hint {
	const char *lines[2]; /* one or two command lines, whose keys are shown */
	const char *label;    /* NULL: end of the list */
};

/* A hint while keys are typed to the view; the first hint's key ends the typing. */
struct typing_hint {
	const char *key; /* NULL: end of the list */
	const char *label;
	const char *line; /* command line that a click runs; NULL: none */
};

/* The rows that `find` goes to, in place of the hits of a search. */
struct landmark {
	const char *needle; /* text in each of the rows */
	const char *name;   /* name in messages: "difference" */
	const char *none;   /* message if there is no such row */
};

/* A line of a file that a rank's stack names. */
struct file_place {
	const struct rank *rank; /* NULL: no line */
	const char *file;
	int line;
};

/* The arguments of a view's draw(), all borrowed. */
struct scene {
	struct window screen;
	struct window body; /* between verdict and hint line, inside the frame */
	const struct layout *layout;
	const struct app *app;
	const struct session *session; /* session of app */
	const struct view *view;       /* view of app */
};

struct view_type {
	const char *name; /* prefix of keys for this view alone ("compare:t"); NULL: no such keys */
	/* Subject of the message of `copy`; NULL: "text". */
	const char *copied;
	bool is_overlay;	  /* "back" returns to the view that was open before */
	bool is_kept;		  /* an overlay to which "back" returns from another overlay */
	bool is_of_host;	  /* has no ranks: shows neither verdict nor focus */
	const struct hint *hints; /* in order of importance */
	const struct landmark *landmark;
	const struct typing_hint *typing_hints;

	/* Returns the hints for the present state; NULL: `hints`. */
	const struct hint *(*choose_hints)(const struct session *session, const struct view *view);
	/* True: keys are typed to the view, and the hint line shows typing_hints. */
	bool (*is_typed_to)(const struct session *session);

	/* Appends the title in the frame around the body, left and right. NULL: `draw` draws the
	 * frame. */
	void (*append_title)(struct buffer *left, struct buffer *right,
			     const struct session *session, const struct view *view);
	void (*draw)(const struct scene *scene);
	/* Draws a line in place of the verdict; false: the verdict is shown. NULL: the verdict. */
	bool (*put_top)(struct window window, const struct session *session);
	/* Appends the text of put_top, to measure it; NULL: put_top needs one row. */
	void (*append_top)(struct buffer *out, const struct session *session);
	/* Returns the part where hits of a search are marked; NULL: the body. */
	struct window (*searched)(const struct scene *scene);
	/* True: the view shows the output of the selected rank. */
	bool (*shows_output)(const struct view *view);

	/* Called after the view was opened. */
	void (*opened)(struct view *view);
	/* Called for all views, open or not: `refresh` before each draw, `want` after each draw, to
	 * request missing data from the engine. */
	void (*refresh)(struct app *app, bool is_open);
	void (*want)(struct app *app, bool is_open);
	/* Handles a key; false: the key keeps its binding. */
	bool (*key)(struct app *app, const char *key);
	/* Cancels the running request of the view; false: none is running. */
	bool (*cancel)(struct app *app);

	/* Adds the view's rows, for search, copy and the cursor. */
	void (*add_rows)(struct search_text *lines, const struct app *app);
	/* Selects a row that a search found; NULL: the cursor moves to the row. */
	void (*select)(struct app *app, int row);
	/* Moves the cursor; NULL: list_move() (list.h) with pages of the body's height. */
	void (*move)(struct app *app, const struct layout *layout, enum move move);
	/* Focuses the next pane of the view; NULL: `pane` changes the focused pane at home. */
	void (*switch_pane)(struct view *view);
	/* Appends the text for `copy`, as a shell would print it; NULL: the rows of add_rows. */
	void (*copy)(struct buffer *out, const struct app *app);
	/* Returns the file and line that `edit` opens. */
	struct file_place (*place)(const struct app *app);
	int (*open)(struct command_context *context, struct error *error);
	int (*expand)(struct app *app, struct error *error);
	/* Called for `toggle` if a rank is selected, or if the cursor is on a breakpoint. */
	int (*toggle)(struct app *app, struct error *error);
};

/* The typing hints of console and terminal. */
extern const struct typing_hint console_typing_hints[];

#define VIEW(KIND, row) extern const struct view_type view_##row;
#include "ui/views.def"
#undef VIEW

/* Return the row of a kind of view, and of the shown view (view_shown()). */
const struct view_type *view_type_of(enum view_kind kind);
const struct view_type *view_type_shown(const struct session *session, const struct view *view);

#endif
