/*
 * view-type: what a view is: one constant row, at the end of the file that
 * draws the view. Drawing, commands, search, mouse and hint line call the open
 * view through the row; views.def lists the rows. A field may be NULL where
 * the view has nothing to do.
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

/* A key of the hint line. */
struct hint {
	const char *lines[2]; /* one or two command lines; their keys show */
	const char *label;    /* NULL behind the last of a list */
};

/* The hint line while keys are typed: the first key ends the typing. */
struct typing_hint {
	const char *key; /* NULL behind the last */
	const char *label;
	const char *line; /* that a click runs; NULL: nothing */
};

/* Rows that `find` goes to in place of hits of a search. */
struct landmark {
	const char *needle; /* text of such a row */
	const char *name;   /* "difference" */
	const char *none;   /* the sentence when there is no such row */
};

/* A line of a file that a rank's stack names. */
struct file_place {
	const struct rank *rank; /* NULL: there is none */
	const char *file;
	int line;
};

/* What a view is drawn in, and from; all of it is lent. */
struct scene {
	struct window screen;
	struct window body; /* between verdict and hint line, inside the frame */
	const struct layout *layout;
	const struct app *app;
	const struct session *session; /* of app */
	const struct view *view;       /* of app */
};

struct view_type {
	const char *name; /* of keys for this view alone ("compare:t"); NULL: none */
	/* Names what `copy` takes, in a sentence; NULL: "This text". */
	const char *copied;
	bool is_overlay;	  /* "back" leads to the view that was open before */
	bool is_kept;		  /* an overlay that "back" of another overlay leads to */
	bool is_of_host;	  /* has no ranks: neither verdict nor focus show */
	const struct hint *hints; /* in order of importance */
	const struct landmark *landmark;
	const struct typing_hint *typing_hints;

	/* The hints of the present state; NULL: `hints`. */
	const struct hint *(*choose_hints)(const struct session *session, const struct view *view);
	/* Keys are typed to the view: the hint line shows typing_hints. */
	bool (*is_typed_to)(const struct session *session);

	/* Appends the title in the frame around the body, left and right. NULL:
	 * `draw` draws the frame. */
	void (*append_title)(struct buffer *left, struct buffer *right,
			     const struct session *session, const struct view *view);
	void (*draw)(const struct scene *scene);
	/* In place of the verdict; false: the verdict is shown. */
	bool (*put_top)(struct window window, const struct session *session);
	/* Appends what put_top says. NULL: it takes one line. */
	void (*append_top)(struct buffer *out, const struct session *session);
	/* Where hits of a search are marked; NULL: in the body. */
	struct window (*searched)(const struct scene *scene);
	/* The output of the selected rank can be seen. */
	bool (*shows_output)(const struct view *view);

	/* The view has become the open one. */
	void (*opened)(struct view *view);
	/* Called for all views, open or not: `refresh` before each draw, `want`
	 * after each draw, to ask the engine for what the view lacks. */
	void (*refresh)(struct app *app, bool is_open);
	void (*want)(struct app *app, bool is_open);
	/* True: the view took the key. */
	bool (*key)(struct app *app, const char *key);
	/* Ends what the view reads; false: it reads nothing. */
	bool (*cancel)(struct app *app);

	/* Adds the rows that are searched, copied and moved in. */
	void (*add_rows)(struct search_text *lines, const struct app *app);
	/* Selects a row that was found; NULL: it gets the cursor. */
	void (*select)(struct app *app, int row);
	/* NULL: list_move() (list.h) by the height of the body. */
	void (*move)(struct app *app, const struct layout *layout, enum move move);
	/* `pane` switches between panes of the view; NULL: between those of home. */
	void (*switch_pane)(struct view *view);
	/* Appends what a shell would print; NULL: the rows. */
	void (*copy)(struct buffer *out, const struct app *app);
	/* What `edit` opens. */
	struct file_place (*place)(const struct app *app);
	int (*open)(struct command_context *context, struct error *error);
	int (*expand)(struct app *app, struct error *error);
	/* Called when a rank is selected, or the cursor is on a breakpoint. */
	int (*toggle)(struct app *app, struct error *error);
};

/* Of the console and the terminal. */
extern const struct typing_hint console_typing_hints[];

#define VIEW(KIND, row) extern const struct view_type view_##row;
#include "ui/views.def"
#undef VIEW

/* The row of a kind of view; of the view that is shown (view_shown()). */
const struct view_type *view_type_of(enum view_kind kind);
const struct view_type *view_type_shown(const struct session *session, const struct view *view);

#endif
