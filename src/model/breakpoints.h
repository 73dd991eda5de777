/*
 * breakpoints: the breakpoints that the user requested. The list is a part of the session's choice;
 * the state of each breakpoint in a rank's debugger is in rank->debugger.bindings.
 *
 * Ids count from 1; an id is reused only after breakpoints_give_back(). Each change increments
 * revision, so that senders of setBreakpoints notice the change.
 */
#ifndef MODEL_BREAKPOINTS_H
#define MODEL_BREAKPOINTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/debugger.h"
#include "protocol/rankset.h"

struct buffer;
struct debugger;
struct error;
struct rank;
struct session;

struct session_breakpoint {
	struct breakpoint breakpoint;
	struct rankset ranks; /* ranks that shall have the breakpoint */
	bool is_everywhere;   /* for all ranks, also ranks that appear later; ranks is empty */
	char *refusal;	      /* reason why the breakpoint can never be set; NULL: none */
	struct rankset refused_by;
	bool is_untold;	      /* refusal was not reported to the user yet */
	bool is_pending_told; /* the pending state was reported to the user */
	uint64_t since; /* for a reused id: revision when the id was reused; a report of a rank
			 * whose breakpoints_taken is not larger is about the former breakpoint */
};

struct breakpoints {
	struct session_breakpoint *items; /* sorted by id */
	size_t count;
	size_t capacity;
	int last_id;
	bool is_last_free; /* last_id was given back: the next breakpoint gets this id */
	uint64_t revision; /* 0: the list never had a breakpoint */
	int run_to;	   /* id of the temporary breakpoint of the last run to cursor; 0: none */
	int setting;	   /* id of the breakpoint whose answers a command waits for; 0: none */
	struct rankset set_and_hit; /* ranks that stopped at `setting`, a temporary breakpoint */
};

void breakpoints_clear(struct breakpoints *breakpoints);
/*
 * Appends a breakpoint with a new id and returns it, borrowed. The caller fills it and then calls
 * breakpoints_changed(). NULL and *error: too many breakpoints.
 */
struct session_breakpoint *breakpoints_add(struct breakpoints *breakpoints, struct error *error);
/* Returns a borrowed item; NULL: no such id. */
struct session_breakpoint *breakpoints_find(const struct breakpoints *breakpoints, int id);
/* Removes the breakpoint with this id, if there is one. */
void breakpoints_remove(struct breakpoints *breakpoints, int id);
/*
 * Removes a breakpoint that is set in no rank; if its id is the last one, the next
 * breakpoint gets that id.
 */
void breakpoints_give_back(struct breakpoints *breakpoints, int id);
/* Increments revision, so that the breakpoints are sent to the ranks again. */
void breakpoints_changed(struct breakpoints *breakpoints);
/* True if any breakpoint, or this breakpoint, respectively, is for the rank. */
bool breakpoints_are_for(const struct breakpoints *breakpoints, int rank);
bool breakpoint_is_for(const struct session_breakpoint *breakpoint, int rank);
/*
 * Returns a new array of all breakpoints except watches, each with its set of ranks: for a node
 * that starts a job, whose ranks are not known yet.
 */
json_t *breakpoints_all_to_json(const struct breakpoints *breakpoints);
/* Returns a new array: the argument of setBreakpoints for a rank. */
json_t *breakpoints_to_json(const struct breakpoints *breakpoints, int rank);

/*
 * Notes that a rank can never set the breakpoint. The first rank's reason is kept until
 * breakpoint_forget_refusal(), even after that rank was detached.
 */
void breakpoints_refused(struct breakpoints *breakpoints, int rank, int id, const char *reason);
/* Forgets refusals, for a breakpoint that was changed. */
void breakpoint_forget_refusal(struct session_breakpoint *breakpoint);
/*
 * Returns the reason ("no function f is loaded yet"), borrowed, if the breakpoint is pending in all
 * ranks that reported its state. NULL: a rank has set or refused it, or no rank has reported it.
 */
const char *breakpoints_pending(const struct session *session, int id);
/* Takes the refusals that a rank's debugger reported. */
void breakpoints_take_refusals(struct breakpoints *breakpoints, const struct rank *rank);

/*
 * Changes the reason of a stop from breakpoint to step if only the breakpoint of a run to cursor
 * was hit.
 */
void breakpoints_name_stop(const struct breakpoints *breakpoints, struct debugger *debugger);
/*
 * Removes a stopped rank from the ranks of each temporary breakpoint that it hit, and removes the
 * breakpoint when no rank is left. The breakpoint that is being set stays until
 * breakpoints_end_setting().
 */
void breakpoints_stopped(struct session *session, const struct rank *rank);
/*
 * Between these two calls a command waits for the answers about the new breakpoint `id` (0: none),
 * which a rank may hit before the command has printed it.
 */
void breakpoints_begin_setting(struct breakpoints *breakpoints, int id);
void breakpoints_end_setting(struct session *session);

/* Mechanism that stops a rank at a breakpoint. */
enum breakpoint_backend {
	BREAKPOINT_BY_AGENT,
	BREAKPOINT_BY_PTRACE,
	BREAKPOINT_BY_PDB,
	BREAKPOINT_BACKEND_COUNT,
};

/* A breakpoint, summed over the debuggers of all ranks. */
struct breakpoint_summary {
	int id;			      /* 0: set at pdb's prompt, not by probetui */
	int number;		      /* pdb's number; only if id is 0 */
	const struct breakpoint *own; /* from the list, borrowed; NULL: id is 0, or a replay */
	const char *path;  /* file where the breakpoint is set, else the requested file; borrowed;
			    * NULL: requested by function, and not set */
	int line;	   /* 0: path is NULL */
	const char *watch; /* expression of a data breakpoint; borrowed; NULL: no data breakpoint */
	const char *condition; /* borrowed; NULL: no condition */
	const char *log;       /* text of a log point; borrowed; NULL: no log point */
	const char *message;   /* why a rank has not set the breakpoint; borrowed; NULL: no
				* reason */
	struct rankset ranks;  /* ranks of this session that shall have the breakpoint */
	struct rankset set;    /* ranks that have set the breakpoint */
	struct rankset by[BREAKPOINT_BACKEND_COUNT]; /* the ranks of set, by mechanism */
	int slots;	   /* number of debug registers of a thread, for BREAKPOINT_BY_PTRACE; 0:
			    * unknown */
	int slots_free;	   /* number of free debug registers, in the rank with the fewest */
	int64_t hits;	   /* sum over all ranks */
	int64_t most_hits; /* maximum over all ranks */
	size_t hit_count;  /* number of ranks with hits */
	bool is_over;	   /* a watch whose frame or object no longer exists */
	bool is_disabled;
	bool is_temporary;
};

void breakpoint_summary_clear(struct breakpoint_summary *summary);
/*
 * Fills *summary (uninitialised) with breakpoint i. The breakpoints are those of the list by id,
 * then those that the selected rank's debugger has and probetui did not set. Returns false if i is
 * out of range; there is then nothing to clear.
 */
bool breakpoint_summary_make(struct breakpoint_summary *summary, const struct session *session,
			     size_t i);
/* breakpoint_summary_make() for the breakpoint with this id (> 0); false: no such id. */
bool breakpoint_summary_find(struct breakpoint_summary *summary, const struct session *session,
			     int id);
/* "http", "ptrace", "pdb": the names in struct debugger. */
const char *breakpoint_backend_name(enum breakpoint_backend backend);
/*
 * Appends the mechanisms that stop the ranks: "by its agent", "by hardware breakpoints (all 4
 * in use)"; for several mechanisms "ranks 0-6 by their agents, rank 7 by pdb". Appends nothing if
 * no rank has set the breakpoint.
 */
void breakpoint_append_backends(struct buffer *out, const struct breakpoint_summary *summary);
/* Appends the hits, summed over all ranks: "hit 3"; with several ranks "hit 3 each" if all have
 * 3, else "hit 5 in 2 ranks". */
void breakpoint_append_hits(struct buffer *out, const struct breakpoint_summary *summary);
/* Number of breakpoints for breakpoint_summary_make(): i is less. */
size_t breakpoint_summary_count(const struct session *session);
/* True if the breakpoint is at this line; path is a code object's file. */
bool breakpoint_is_at(const struct breakpoint_summary *summary, const char *path, int line);
/*
 * breakpoint_summary_make() for the breakpoint at this line; path is a code object's file. Returns
 * false if there is none.
 */
bool breakpoint_summary_at(struct breakpoint_summary *summary, const struct session *session,
			   const char *path, int line);
/* Appends "train.py:14", the function's name, or the watched expression, escaped. */
void breakpoint_append_place(struct buffer *out, const struct breakpoint_summary *summary);

#endif
