/*
 * choice: what a person chose, with the command line or on the screen. It is
 * in one struct, as it outlives the session: seeking in a recording makes that
 * anew. The session owns what is in it.
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

/* What a person is looking at. Looked up anew each turn. */
struct selection {
	int rank;  /* -1: the first outlier, or rank */
	pid_t tid; /* 0: main thread */
	int depth; /* frame, 0 innermost; -1: top user frame */
	pid_t pid; /* a child of that rank; 0: the rank itself */
};

/* A job, to be found again among the jobs of another time. */
struct job_key {
	char *name; /* NULL: none */
	size_t node;
	pid_t launcher_pid;
	uid_t uid;
};

struct choice {
	struct rankset wanted;		  /* --ranks as numbers; empty: all */
	struct rankselect *wanted_select; /* and with machines; NULL: all */
	struct rankselect *wanted_focus;  /* to be the focus; NULL: none */
	char *wanted_text;		  /* as it was said; NULL: nothing */
	char *wanted_job;		  /* --job; NULL: any */
	bool has_wanted_pids;		  /* --pid was given: all processes found form one job */
	struct job_key job;		  /* the chosen one, whether it is there or not */
	struct selection selection;
	struct rankset focus;	/* ranks that commands act on */
	bool is_focus_all;	/* no set was chosen: new ranks join it */
	bool shows_native;	/* stacks with native frames, where known */
	struct rankname *names; /* sets with a name */
	size_t name_count;
	struct breakpoints breakpoints;
	struct displays displays;
};

#endif
