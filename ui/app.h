/*
 * app: the screen of a running engine. Owns view, keys and canvas; owns the terminal only inside
 * app_run(), so that tests can use the rest without a terminal.
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

/* Time (seconds of loop_now()) and cell of the last mouse press. */
struct press {
	double at;
	int row;
	int column;
};

/* The editor, while the editor has the terminal. */
struct away {
	pid_t pid;     /* 0: no editor runs */
	char *scratch; /* path of a scratch file to remove afterwards; NULL: none */
	struct loop_signal *ended;
};

struct app {
	struct engine *engine;
	struct screen *screen; /* NULL: no terminal */
	struct view view;
	struct keymap keymap;
	struct canvas canvas;
	struct theme theme;
	double period;	 /* seconds between samples, unless held */
	bool is_changed; /* draw at the end of the turn */
	bool is_done;
	bool is_ending; /* quit when the started job has ended */
	bool has_key;	/* a key or click came since the last draw */
	double drawn_at;
	double shown_at;	 /* loop time of the last draw that changed the screen */
	uint64_t stops_told;	 /* count of stops that are in the log */
	double evidence_at;	 /* engine time of the next request for evidence */
	uint64_t differences_of; /* number of the question whose differences were requested */
	struct press press;
	struct loop_watch *input; /* the terminal's input; NULL: not watched */
	struct buffer typed;	  /* keys for the started job, not sent yet */
	struct away away;
	struct loop_timer *draw_timer; /* postponed draw; NULL: none */
};

/* Begins with the default keys, no colours and no terminal. The engine is borrowed. */
void app_init(struct app *app, struct engine *engine);
void app_clear(struct app *app);
/* Shows an error on the hint line, and keeps it in the log. */
void app_say_error(struct app *app, const struct error *error);
/* Handles a key, by its name. */
void app_key(struct app *app, const char *key);
/* Handles an event of the mouse; INPUT_KEY is ignored. */
void app_mouse(struct app *app, const struct input *input);
/* Draws onto app->canvas in the view's size. */
void app_draw(struct app *app);
/*
 * Draws changes and requests missing data, at most 60 times a second: a draw may be postponed to a
 * later turn of the loop. After a key, only draws that changed the screen postpone the draw.
 */
void app_draw_if_due(struct app *app);
/* Requests the data that the view lacks from the engine. */
void app_want(struct app *app);
/*
 * Gives the terminal to the editor until the editor ends; the engine keeps running.
 * app_edit_scratch(): the file is a copy, removed afterwards. -1 and an error: the
 * editor cannot be started.
 */
int app_edit(struct app *app, const char *path, int line, struct error *error);
int app_edit_scratch(struct app *app, const char *path, int line, struct error *error);
/* Loads a theme by name and shows it; -1 and an error: the theme cannot be loaded. */
int app_set_theme(struct app *app, const char *name, struct error *error);
/* Applies settings that the command `set` has changed. */
void app_apply_settings(struct app *app);
/*
 * Runs the screen of a started engine: takes the terminal, runs the loop until the user or a signal
 * ends it, and restores the terminal. -1 and an error: no terminal, a bad key in the config file,
 * or a bad theme.
 */
int app_run(struct engine *engine, struct error *error);

#endif
