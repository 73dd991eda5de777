/*
 * view-type: the properties and functions of a view. Each view has one constant struct view_type,
 * its row, at the end of the file that draws the view; views.def lists the rows. Drawing, commands,
 * search, mouse and hint line call the open view through its row. A function may be NULL if the
 * view does not need it.
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

/* A hint on the hint line: one or two keys, and what they do. */
struct hint {
	const char *lines[2]; /* one or two command lines; the hint shows their keys */
	const char *label;    /* NULL: end of the list */
};

/* A hint while keys are typed to the view. The key of the list's first hint ends the typing. */
struct typing_hint {
	const char *key; /* NULL: end of the list */
	const char *label;
	const char *line; /* command line that a click runs; NULL: none */
};

/* The rows that the command `find` goes to, instead of the hits of a search. */
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
	struct window body; /* part between verdict and hint line, inside the frame */
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
	bool is_kept;		  /* "back" returns to this overlay from an overlay opened above
				   * it */
	bool is_of_host;	  /* shows jobs of the host, not ranks: has neither verdict nor
				   * focus */
	const struct hint *hints; /* in order of importance */
	const struct landmark *landmark;
	const struct typing_hint *typing_hints;

	/* Returns the hints for the present state. Pointer NULL: `hints` are shown. */
	const struct hint *(*choose_hints)(const struct session *session, const struct view *view);
	/* True if keys are typed to the view, and the hint line shows typing_hints. */
	bool (*is_typed_to)(const struct session *session);

	/*
	 * Appends the left and the right title in the frame around the body. Pointer NULL: `draw`
	 * draws the frame.
	 */
	void (*append_title)(struct buffer *left, struct buffer *right,
			     const struct session *session, const struct view *view);
	void (*draw)(const struct scene *scene);
	/*
	 * Draws rows in place of the verdict; returns false to show the verdict. Pointer NULL: the
	 * verdict is shown.
	 */
	bool (*put_top)(struct window window, const struct session *session);
	/*
	 * Appends the text that put_top draws, to compute its number of rows. Pointer NULL: one
	 * row.
	 */
	void (*append_top)(struct buffer *out, const struct session *session);
	/* Returns the part in which hits of a search are marked. Pointer NULL: the body. */
	struct window (*searched)(const struct scene *scene);
	/* True if the view shows the output of the selected rank. */
	bool (*shows_output)(const struct view *view);

	/* Called after the view was opened. */
	void (*opened)(struct view *view);
	/*
	 * Called for all views, also those that are not open: `refresh` before each draw; `want`
	 * after each draw, to request missing data from the engine.
	 */
	void (*refresh)(struct app *app, bool is_open);
	void (*want)(struct app *app, bool is_open);
	/* Handles a key; returns false if the key keeps its binding. */
	bool (*key)(struct app *app, const char *key);
	/* Cancels the view's running request; returns false if none is running. */
	bool (*cancel)(struct app *app);

	/* Adds the view's rows, for search, copy and the cursor. */
	void (*add_rows)(struct search_text *lines, const struct app *app);
	/* Selects a row that a search has found. Pointer NULL: the cursor moves to the row. */
	void (*select)(struct app *app, int row);
	/* Moves the cursor. Pointer NULL: list_move() (list.h) with a page of the body's height. */
	void (*move)(struct app *app, const struct layout *layout, enum move move);
	/* Focuses the next pane of the view. Pointer NULL: the command `pane` changes view.pane. */
	void (*switch_pane)(struct view *view);
	/*
	 * Appends the text for `copy`, as a shell command would print it. Pointer NULL: the rows of
	 * add_rows.
	 */
	void (*copy)(struct buffer *out, const struct app *app);
	/* Returns the file and line that `edit` opens. */
	struct file_place (*place)(const struct app *app);
	/*
	 * Functions of the commands `open` and `expand` for the row under the cursor. Return 0; -1
	 * and *error.
	 */
	int (*open)(struct command_context *context, struct error *error);
	int (*expand)(struct app *app, struct error *error);
	/*
	 * Function of the command `toggle`; called if a rank is selected, or if the cursor is on a
	 * breakpoint.
	 */
	int (*toggle)(struct app *app, struct error *error);
};

/* The typing hints of console and terminal. */
extern const struct typing_hint console_typing_hints[];

#define VIEW(KIND, row) extern const struct view_type view_##row;
#include "ui/views.def"
#undef VIEW

/* Return the row of a kind of view, and of the shown view (view_shown()), respectively. */
const struct view_type *view_type_of(enum view_kind kind);
const struct view_type *view_type_shown(const struct session *session, const struct view *view);

#endif
