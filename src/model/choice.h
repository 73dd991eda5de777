/*
 * choice: everything that the user chose, with the command line or on the screen. The choice is one
 * struct, so that it can move to a new session: seeking in a recording makes a new session. The
 * session owns all members.
 */
#ifndef MODEL_CHOICE_H
#define MODEL_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "model/breakpoints.h"
#include "protocol/rankset.h"

struct error;
struct rankname;
struct rankselect;

/*
 * displays: expressions that are evaluated at each stop of the selected rank, and their values.
 * They are a part of the session's choice; the engine sends the requests.
 */

#define DISPLAYS_MAXIMUM 50

struct display {
	int id; /* counts from 1 */
	char *expression;
	/* The members below are the newest answer and the frame in which it was evaluated. */
	char *value;	  /* NULL: no answer yet, or error is set */
	char *error;	  /* NULL: no error */
	bool has_changed; /* value differs from the previous answer of the same rank */
	pid_t pid;
	size_t node;
	uint64_t stops; /* the process's debugger.stops at the evaluation */
	int depth;	/* depth of the frame */
	bool is_asked;	/* a request is under way */
};

struct displays {
	struct display *items; /* sorted by id */
	size_t count;
	size_t capacity;
	int last_id;
};

void displays_clear(struct displays *displays);
/* Returns the id; -1 and *error: there are too many. */
int displays_add(struct displays *displays, const char *expression, struct error *error);
/* Returns false if there is no such id. */
bool displays_remove(struct displays *displays, int id);
/* Returns a borrowed display; NULL: no such id. */
struct display *displays_find(struct displays *displays, int id);
/* Stores a new answer: value or error, the other is NULL; both NULL: no answer yet. */
void display_answer(struct display *display, const char *value, const char *error);

/*
 * The user's selection, as numbers: pointers are looked up at each use, because ranks and threads
 * may have ended.
 */
struct selection {
	int rank;  /* -1: the first outlier, else rank 0 */
	pid_t tid; /* 0: main thread */
	int depth; /* of the frame, 0: innermost; -1: the innermost frame of user code */
	pid_t pid; /* a child of that rank; 0: the rank itself */
};

/* Identifies a job in a later list of jobs. */
struct job_key {
	char *name; /* NULL: no job chosen */
	size_t node;
	pid_t launcher_pid;
	uid_t uid;
};

struct choice {
	struct rankset wanted;		  /* --ranks, if it has only numbers; empty: all */
	struct rankselect *wanted_select; /* --ranks, if it has hosts; NULL: all */
	struct rankselect *wanted_focus;  /* --ranks, if it needs samples (outlier, state=…):
					   * becomes the focus later; NULL: none */
	char *wanted_text;		  /* text of --ranks; NULL: not given */
	char *wanted_job;		  /* text of --job; NULL: not given */
	bool has_wanted_pids;		  /* --pid was given: the processes that it names form one
					   * job */
	struct job_key job;		  /* the chosen job, which may have ended */
	double longest_wait; /* seconds without a change that the user calls a hang; 0: not said */
	struct selection selection;
	struct rankset focus;	/* ranks that commands act on */
	bool is_focus_all;	/* no focus was chosen: new ranks join the focus */
	bool shows_native;	/* stacks include native frames, where known */
	struct rankname *names; /* rank sets that the user named */
	size_t name_count;
	struct breakpoints breakpoints;
	struct displays displays;
};

#endif
