/*
 * choice: what the user chose, with the command line or on the screen. It is one struct,
 * since it outlives the session: seeking in a recording makes a new session. The session
 * owns all members.
 */
#ifndef MODEL_CHOICE_H
#define MODEL_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "model/breakpoints.h"
#include "model/displays.h"
#include "protocol/rankset.h"

struct rankname;
struct rankselect;

/* The user's selection. Looked up anew each turn, since ranks and threads may have gone. */
struct selection {
	int rank;  /* -1: the first outlier, else rank 0 */
	pid_t tid; /* 0: main thread */
	int depth; /* frame, 0 innermost; -1: the innermost frame of user code */
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
	struct rankselect *wanted_focus;  /* --ranks, if it needs samples: becomes the focus later;
					   * NULL: none */
	char *wanted_text;		  /* text of --ranks; NULL: not given */
	char *wanted_job;		  /* text of --job; NULL: not given */
	bool has_wanted_pids;		  /* --pid was given: all of those processes form one job */
	struct job_key job;		  /* the chosen job, which may have ended */
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
