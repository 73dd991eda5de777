/*
 * rank: one training process as the screen knows it: what the node said of
 * the process, its threads from the newest sample, its children, and what
 * comparing samples over time has shown.
 *
 * The session owns ranks; no module keeps a pointer to one across a loop turn.
 */
#ifndef MODEL_RANK_H
#define MODEL_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/thread.h"
#include "protocol/debugger.h"
#include "protocol/process.h"

struct stack;
struct stack_table;

enum rank_state {
	RANK_RUNNING, /* its main thread computes */
	RANK_WAITING, /* in a collective, DataLoader, lock, read … */
	RANK_SLEEPING,
	RANK_STOPPED,
	RANK_EXITED,
	RANK_NOT_FOUND, /* asked for, or of world_size, but not there */
	RANK_UNREADABLE,
	RANK_UNKNOWN, /* found, no sample yet */
};

/* "running" "waiting" "sleeping" "stopped" "exited" "not found" "unreadable" */
const char *rank_state_name(enum rank_state state);

/* One entry of a rank's past: the main thread's stack from time on. */
struct rank_moment {
	double time;
	const struct stack *stack;
};
#define RANK_HISTORY 256

struct rank {
	struct process process; /* .pid 0 when not found */
	struct debugger debugger;
	double debugger_at;	    /* session time it was told of; -1 */
	char *raised;		    /* what held it last, "RuntimeError: boom"; NULL:
				     * nothing that nobody caught */
	uint64_t touched;	    /* raised when a person had something run in it:
				     * what was read at this stop may be old then */
	uint64_t stops_seen;	    /* of this connection; 0: it is not ours */
	uint64_t breakpoints_sent;  /* revision of them it was told; 0: none */
	uint64_t breakpoints_taken; /* the same, that it has answered to */
	bool is_pausing;	    /* it was told to stop, and did not since */
	bool is_attached_for_them;  /* its debugger may become ours by that */
	char *breakpoints_error;    /* why it took none; NULL: it did */
	size_t node;		    /* the session's node it is on */
	bool is_missing;	    /* not found where it must have been */
	double told_at;		    /* session time of process.age */
	enum rank_state state;
	char *error;	   /* a sentence, NULL: none */
	uint64_t epoch;	   /* newest sample's */
	double sampled_at; /* session time of it; -1 none */
	double first_sampled_at;
	double node_time; /* newest sample's, on its node's clock */
	size_t sample_count;
	char *sample_error;   /* why nothing could be read, or NULL */
	char *missing;	      /* what its main thread's samples lack, until two
			       * in a row lack nothing; NULL: nothing */
	char *unseen;	      /* why it may be there although it was not found,
			       * or NULL */
	char *sample_source;  /* who told it, "http"; NULL: read from outside */
	double ended_at;      /* session time it was told gone; -1 */
	double interval;      /* seconds between the two newest samples */
	double cpu_share;     /* processors its threads used between them;
			       * -1: not known, it takes two samples */
	uint64_t memory;      /* resident bytes at the newest; 0 unknown */
	double last_moved_at; /* main thread; first sample if never */
	double last_changed_at;
	double longest_pause;	/* seconds between two changes of it */
	double last_left_at;	/* it was seen to leave its peers; -1 */
	double last_helped_at;	/* it waited, another thread was busy; -1 */
	double last_woken_at;	/* it was awake between two sleeps; -1 */
	struct thread *threads; /* main first; of one that has ended those
				 * that were last seen in its program */
	size_t thread_count;
	struct thread *seen; /* those, where newer ones are of its end */
	size_t seen_count;
	struct rank *parent;	/* NULL: this is a rank, not a child */
	struct rank **children; /* by pid */
	size_t child_count;
	int class_index;			  /* into verdict.classes; -1: in none */
	bool is_outlier;			  /* of a child: see outlier.h */
	struct rank_moment history[RANK_HISTORY]; /* ring */
	size_t history_count;			  /* ever written */
};

struct rank *rank_new(const struct process *process);
void rank_free(struct rank *rank);
/* What is known of the process is this from now on. */
void rank_apply_process(struct rank *rank, const struct process *process);
/* The rank owns the child from then on. */
void rank_add_child(struct rank *rank, struct rank *owned_child);
/* Takes the child out and frees it. */
void rank_remove_child(struct rank *rank, pid_t pid);
/* Gone, or never found. */
bool rank_is_gone(const struct rank *rank);
/* Its main thread waits for what its own process may be doing. */
bool rank_waits_for_itself(const struct rank *rank);
/*
 * Session time of the newest sign that something of it moves: its main thread
 * or, while that waits for what is not a peer, a child or a busy thread.
 */
double rank_moved_at(const struct rank *rank);
/*
 * The same where the main thread is at work that may let peers wait for long:
 * it saves, loads data, trains, or is helped by a child or a busy thread.
 * -INFINITY: it is not.
 */
double rank_worked_at(const struct rank *rank);
/* Of a child or a busy thread that the main thread waits for; -INFINITY. */
double rank_helped_at(const struct rank *rank);
/* Such a sign was in the last second before its newest sample. */
bool rank_is_moving(const struct rank *rank);
bool rank_is_working(const struct rank *rank);
bool rank_is_helped(const struct rank *rank);
/*
 * It sleeps, and was awake between two samples: what it did then, if it got
 * anywhere, was not seen.
 */
bool rank_is_waking(const struct rank *rank);
/*
 * Its main thread changed, or left its peers, so lately that the next change
 * is not overdue: changes were seen to be that far apart.
 */
bool rank_is_changing(const struct rank *rank);
bool rank_is_leaving(const struct rank *rank);
/*
 * Takes over what was told of its debugger at session time now. True: that is
 * a stop that was not told before.
 */
bool rank_apply_debugger(struct rank *rank, struct debugger *debugger, double now);
/* No node is left that could reach it. */
void rank_lose_debugger(struct rank *rank);
/* It has ended, with the code and signal of process, at session time now. */
void rank_end(struct rank *rank, const struct process *process, double now);
/* Takes over a sample (cleared afterwards) at session time now. */
void rank_apply_sample(struct rank *rank, struct process_sample *sample, double now);
/* Sets state and error from process, threads and activity. */
void rank_update_state(struct rank *rank);
/* Lends the main thread / the thread tid; NULL if there is none. */
const struct thread *rank_main_thread(const struct rank *rank);
const struct thread *rank_find_thread(const struct rank *rank, pid_t tid);
/*
 * The main thread's newest stack that has frames (when the interpreter ends
 * it has none); NULL: it was never seen.
 */
const struct stack *rank_last_stack(const struct rank *rank);
/* The main thread's stack at session time time; NULL: not known then. */
const struct stack *rank_stack_at(const struct rank *rank, double time);

#endif
