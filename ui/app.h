/*
 * app: the screen of a running engine. Owns view, keys and canvas; the
 * terminal only while app_run() runs, so that a test can do the same without
 * one.
 */
#ifndef UI_APP_H
#define UI_APP_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "ui/canvas.h"
#include "ui/keymap.h"
#include "ui/theme.h"
#include "ui/view.h"

struct engine;
struct error;
struct input;
struct loop_signal;
struct loop_timer;
struct loop_watch;
struct screen;

/* Where and when the mouse was pressed last. */
struct press {
	double at;
	int row;
	int column;
};

/* While another program has the terminal. */
struct away {
	pid_t pid;     /* 0: it is ours */
	char *scratch; /* the path of a copy to remove afterwards; NULL */
	struct loop_signal *ended;
};

struct app {
	struct engine *engine;
	struct screen *screen; /* NULL: no terminal */
	struct view view;
	struct keymap keymap;
	struct canvas canvas;
	struct theme theme;
	double period;	 /* seconds between samples when not held */
	bool is_changed; /* draw at the end of the turn */
	bool is_done;
	bool is_ending; /* once the job that was started has ended */
	bool has_key;	/* a person waits for the draw */
	double drawn_at;
	double shown_at;	 /* the last draw that changed what is seen */
	uint64_t stops_told;	 /* so many are in the log */
	double evidence_at;	 /* when nodes are to be asked about new ranks */
	uint64_t differences_of; /* the question whose were asked for */
	struct press press;
	struct loop_watch *input; /* what the terminal says; NULL: not now */
	struct buffer typed;	  /* to the job, not sent yet */
	struct away away;
	struct loop_timer *draw_timer; /* a draw that waits; NULL */
};

/* The engine is borrowed. Default keys and no colours. */
void app_init(struct app *app, struct engine *engine);
void app_clear(struct app *app);
/* Shows an error on the hint line, and keeps it in the log. */
void app_say_error(struct app *app, const struct error *error);
/* Does what a key does. */
void app_key(struct app *app, const char *key);
/* Does what the mouse does: a key is none of it. */
void app_mouse(struct app *app, const struct input *input);
/* Draws onto the canvas in the view's size. */
void app_draw(struct app *app);
/*
 * Draws what changed, and asks for what the view lacks; at most 60 times a
 * second, so a draw may wait for a later turn of the loop. What a key did
 * waits for no draw that changed nothing.
 */
void app_draw_if_due(struct app *app);
/* Asks the engine for what the view lacks. */
void app_want(struct app *app);
/*
 * Gives the terminal to the editor until it ends; the engine goes on. What is
 *_scratch is a copy (scratch.h), removed afterwards. -1: it cannot be
 * started.
 */
int app_edit(struct app *app, const char *path, int line, struct error *error);
int app_edit_scratch(struct app *app, const char *path, int line, struct error *error);
/* Loads a theme by name and shows it. */
int app_set_theme(struct app *app, const char *name, struct error *error);
/* What was set by `set` counts from now on. */
void app_apply_settings(struct app *app);
/*
 * The screen of an engine that was started: takes the terminal over, runs the
 * loop until the user or a signal ends it, and gives the terminal back. -1: no
 * terminal, bad theme.
 */
int app_run(struct engine *engine, struct error *error);

#endif
