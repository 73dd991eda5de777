/*
 * rank: one training process as the screen knows it: the node's data about the process, the threads
 * of its newest sample, its children, and the results of comparing samples over time.
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

struct collective_entry;
struct collectives;
struct stack;
struct stack_table;
struct variables;

enum rank_state {
	RANK_RUNNING, /* the main thread computes */
	RANK_WAITING, /* in a collective, DataLoader, lock, read … */
	RANK_SLEEPING,
	RANK_STOPPED,
	RANK_EXITED,
	RANK_NOT_FOUND, /* requested, or expected by world_size, but not found */
	RANK_UNREADABLE,
	RANK_UNKNOWN, /* found, not sampled yet */
};

/* Returns "running" "waiting" "sleeping" "stopped" "exited" "not found" "unreadable" "unknown". */
const char *rank_state_name(enum rank_state state);

/* One entry of a rank's history: the main thread's stack from this session time on. */
struct rank_moment {
	double time;
	const struct stack *stack;
};
#define RANK_HISTORY 256

struct rank {
	struct process process; /* .pid 0: not found */
	struct debugger debugger;
	double debugger_at; /* session time of the newest debugger event; -1: none */
	char *raised; /* uncaught exception that ended or stopped the rank, with its type; NULL:
			 none */
	char *raised_file; /* where it was raised: the innermost place of the user's own code, else
			    * the innermost one; NULL: not known */
	char *raised_func;
	int raised_line;
	uint64_t touched;    /* incremented each time the user runs code in the rank: variables read
			      * before are outdated */
	uint64_t stops_seen; /* debugger.stops of the newest known stop; 0: not connected */
	uint64_t breakpoints_sent;  /* breakpoints.revision last sent; 0: none */
	uint64_t breakpoints_taken; /* breakpoints.revision last answered; 0: none */
	bool is_pausing;	    /* a pause was requested, and the rank has not stopped yet */
	bool is_attached_for_them;  /* setBreakpoints was sent; the node may attach to the rank only
				     * for this request */
	char *breakpoints_error;    /* why setBreakpoints failed; NULL: it did not */
	size_t node;		    /* index of the session's node */
	bool is_missing;	    /* not found although expected */
	double told_at;		    /* session time at which process.age was received */
	enum rank_state state;
	char *error;	   /* a sentence about the state; NULL: none */
	uint64_t epoch;	   /* epoch of the newest sample */
	double sampled_at; /* session time of the newest sample; -1: none */
	double first_sampled_at;
	double node_time; /* time of the newest sample on its node's clock, in seconds */
	size_t sample_count;
	char *sample_error; /* why the newest sample could not be read; NULL: it was read */
	char *missing;	    /* what could not be read of the main thread, until two samples in a row
			     * are complete; NULL: nothing */
	bool is_silent;	    /* the node of the machine does not answer (remote.h) */
	char *unseen;	    /* if not found: why the rank may exist anyway; NULL: no reason */
	char *sample_source; /* backend that sent the sample, "http"; NULL: the node has read the
			      * memory */
	double ended_at;     /* session time at which the end was reported; -1: not ended */
	double interval;     /* seconds between the two newest samples */
	double cpu_share; /* CPU seconds per second, of all threads, between the two newest samples;
			   * -1: unknown */
	uint64_t memory;  /* resident memory in bytes at the newest sample; 0: unknown */
	double last_moved_at; /* session time of the last sample in which the main thread had moved
			       * (thread.h), or of the first sample */
	double last_changed_at;
	double longest_pause;  /* longest time between two changes of the main thread, in seconds */
	double longest_wait;   /* seconds after which no change is waited for; 0: no such limit */
	double last_left_at;   /* session time of the last end of a wait for peers; -1: never */
	double last_helped_at; /* session time of the last sample in which the main thread waited
				* beside a busy thread; -1: none */
	double last_woken_at;  /* session time of the last sample in which the main thread slept and
				* had woken (thread.h); -1: none */
	struct thread *threads; /* main thread first; after the exit: as of the last sample with
				 * frames of the program */
	size_t thread_count;
	struct thread *seen; /* threads of the last sample with frames of the program; kept while
			      * the interpreter shuts down */
	size_t seen_count;
	struct collectives *collectives; /* newest answer about the rank's calls of
					  * torch.distributed; NULL: none */
	double collectives_at;		 /* session time of that answer */
	bool is_of_dump;		 /* nothing is known of the process but a dump of its
					  * Flight Recorder */
	int peer;	     /* the rank that the main thread's send() or recv() names; -1: none */
	double peer_at;	     /* session time at which that was read */
	struct rank *parent; /* NULL: this is a rank, not a child */
	struct rank **children; /* sorted by pid */
	size_t child_count;
	int class_index;			  /* index into verdict.classes; -1: in none */
	bool is_outlier;			  /* set by verdict.h; for a child by outlier.h */
	struct rank_moment history[RANK_HISTORY]; /* ring */
	size_t history_count;			  /* number of entries ever written */
};

struct rank *rank_new(const struct process *process);
void rank_free(struct rank *rank);
/* Replaces the process data. */
void rank_apply_process(struct rank *rank, const struct process *process);
/*
 * True if the main thread is still in the call: the recorded stack and the thread's have the same
 * frames, from the outermost to the user's code that calls torch.
 */
bool rank_is_in_call(const struct rank *rank, const struct collective_entry *entry);
/*
 * Replaces rank->collectives, unless the rank is about to exit and has no groups any more. If the
 * main thread is in a call that it has made since the answer before, it moves: it counts as changed
 * now, although each sample may show it at the same place.
 */
void rank_take_collectives(struct rank *rank, struct collectives *owned_collectives, double now);
/*
 * Takes the variables of a frame of the rank: if it is that in which the main thread waits to send
 * or to receive, sets rank->peer.
 */
void rank_take_peer(struct rank *rank, const struct variables *variables, double now);
/* Adds a child, which the rank then owns. */
void rank_add_child(struct rank *rank, struct rank *owned_child);
/* Removes the child and frees it. */
void rank_remove_child(struct rank *rank, pid_t pid);
/* True if the process has exited or was never found. */
bool rank_is_gone(const struct rank *rank);
/* True if the main thread waits for a thread, child or file of its own process. */
bool rank_waits_for_itself(const struct rank *rank);
/*
 * Session time of the newest movement of the main thread; or, while rank_waits_for_itself(), of a
 * child or a busy thread.
 */
double rank_moved_at(const struct rank *rank);
/*
 * rank_moved_at() if the main thread does work for which peers may have to wait: it saves, loads
 * data, trains, or waits for a moving child or a busy thread; else -INFINITY.
 */
double rank_worked_at(const struct rank *rank);
/* Session time of the newest movement of a child or busy thread that the main thread waits for;
 * -INFINITY: none. */
double rank_helped_at(const struct rank *rank);
/*
 * True if rank_moved_at(), rank_worked_at() or rank_helped_at(), respectively, is less than about a
 * second before the newest sample. rank_is_moving() is also true if rank_is_changing().
 */
bool rank_is_moving(const struct rank *rank);
bool rank_is_working(const struct rank *rank);
bool rank_is_helped(const struct rank *rank);
/*
 * True if the main thread sleeps but woke between two samples, so that the samples do not show what
 * it did while awake.
 */
bool rank_is_waking(const struct rank *rank);
/* True if SIGTERM or SIGINT ended the rank, or its code says so, as that of a shell does. */
bool rank_has_end_signal(const struct rank *rank);
/*
 * True if the newest sample has no frames of the program, and one before had: the interpreter shuts
 * down, the process exits, or its stack could not be read.
 */
bool rank_has_left_program(const struct rank *rank);
/*
 * True if the main thread's last change, or its last end of a wait for peers, respectively, is so
 * recent that the next one is not overdue, compared with the longest pause between changes.
 */
bool rank_is_changing(const struct rank *rank);
bool rank_is_leaving(const struct rank *rank);
/*
 * Swaps the rank's debugger state with *debugger, the new state at session time now. Returns true
 * if the new state is a new stop.
 */
bool rank_apply_debugger(struct rank *rank, struct debugger *debugger, double now);
/* Marks probetui's connection to the rank's debugger as lost. */
void rank_lose_debugger(struct rank *rank);
/* Marks the rank as exited, with the exit code and signal of process, at session time now. */
void rank_end(struct rank *rank, const struct process *process, double now);
/* Sets the uncaught exception, and where it was raised: file NULL, line 0: not known. */
void rank_note_raised(struct rank *rank, const char *raised, const char *file, const char *func,
		      int line);
/* Takes the contents of *sample, received at session time now, and clears it. */
void rank_apply_sample(struct rank *rank, struct process_sample *sample, double now);
/* Sets state and error from process, threads and activity. */
void rank_update_state(struct rank *rank);
/*
 * Return the main thread, or the thread tid, respectively, borrowed; NULL: there is none. Where the
 * main thread only serves (Ray's workers, torch's RPC), the thread that runs the program counts as
 * the main thread.
 */
const struct thread *rank_main_thread(const struct rank *rank);
const struct thread *rank_find_thread(const struct rank *rank, pid_t tid);
/*
 * The newest stack of the main thread that has frames of the program (during the interpreter's
 * shutdown stacks have none); NULL: there is none.
 */
const struct stack *rank_last_stack(const struct rank *rank);
/* The main thread's stack at session time time; NULL: unknown. */
const struct stack *rank_stack_at(const struct rank *rank, double time);

#endif
