/*
 * breakpoints: where ranks are to stop, as a person asked for it. The list is
 * a part of the session's choice; what became of each in a rank's debugger is
 * in rank->debugger.bindings.
 *
 * Ids count from 1 and are never given twice. The revision tells who sends
 * them that something changed.
 */
#ifndef MODEL_BREAKPOINTS_H
#define MODEL_BREAKPOINTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/breakpoint.h"
#include "protocol/rankset.h"

struct buffer;
struct debugger;
struct error;
struct rank;
struct session;

struct session_breakpoint {
	struct breakpoint breakpoint;
	struct rankset ranks; /* that are to have it */
	bool is_everywhere;   /* every rank, those to come too; ranks is empty */
	char *refusal;	      /* why it can be set nowhere; NULL: it can */
	struct rankset refused_by;
	bool is_untold;	      /* the refusal was not reported yet */
	bool is_pending_told; /* a person was told what it waits for */
	uint64_t since;	      /* with the number of a refused one: a rank that was
			       * sent no later revision still reports that one */
};

struct breakpoints {
	struct session_breakpoint *items; /* by id */
	size_t count;
	size_t capacity;
	int last_id;
	bool is_last_free; /* no rank has it: the next one gets its number */
	uint64_t revision; /* 0: there was never one */
	int run_to;	   /* the last that was set to run to its line; 0: none */
};

void breakpoints_clear(struct breakpoints *breakpoints);
/*
 * Lends a new one with its id at the end, to be filled; NULL and a sentence
 * when there are too many. Call breakpoints_changed() afterwards.
 */
struct session_breakpoint *breakpoints_add(struct breakpoints *breakpoints, struct error *error);
/* Lends; NULL: there is none. */
struct session_breakpoint *breakpoints_find(const struct breakpoints *breakpoints, int id);
/* Does nothing where there is none. */
void breakpoints_remove(struct breakpoints *breakpoints, int id);
/* Removes one that is nowhere; the next one gets its number if it was last. */
void breakpoints_give_back(struct breakpoints *breakpoints, int id);
void breakpoints_changed(struct breakpoints *breakpoints);
/* Whether any is for this rank. */
bool breakpoints_are_for(const struct breakpoints *breakpoints, int rank);
bool breakpoint_is_for(const struct session_breakpoint *breakpoint, int rank);
/* All that ranks to come are to have, each with its set of ranks: a new
 * array. */
json_t *breakpoints_all_to_json(const struct breakpoints *breakpoints);
/* What setBreakpoints carries for a rank: a new array. */
json_t *breakpoints_to_json(const struct breakpoints *breakpoints, int rank);

/*
 * A rank can never set it. One reason is kept, the first, as the rank may be
 * left then; it counts until the breakpoint is another one.
 */
void breakpoints_refused(struct breakpoints *breakpoints, int rank, int id, const char *reason);
/* It is another one: what ranks said of it is over. */
void breakpoint_forget_refusal(struct session_breakpoint *breakpoint);
/*
 * "no function f is loaded yet", lent: what a breakpoint waits for in each rank
 * that has it; NULL: a rank has it at a line, or refuses it, or none has it.
 */
const char *breakpoints_pending(const struct session *session, int id);
/* Those of a rank's debugger. */
void breakpoints_take_refusals(struct breakpoints *breakpoints, const struct rank *rank);

/* A stop that is nothing but the end of a run to a line is called a step. */
void breakpoints_name_stop(const struct breakpoints *breakpoints, struct debugger *debugger);
/*
 * A rank has stopped: of what stopped it, the temporary ones are not that
 * rank's any more, and go where they are nobody's.
 */
void breakpoints_stopped(struct session *session, const struct rank *rank);

/* What stops a rank at a breakpoint. */
enum breakpoint_backend {
	BREAKPOINT_BY_AGENT,
	BREAKPOINT_BY_PTRACE,
	BREAKPOINT_BY_PDB,
	BREAKPOINT_BACKEND_COUNT,
};

/* A breakpoint as all debuggers together have it. */
struct breakpoint_summary {
	int id;					     /* 0: somebody set it with pdb itself */
	int number;				     /* pdb's, where id is 0 */
	const struct breakpoint *own;		     /* lent from the list; NULL: id 0, or a
						      * recording */
	const char *path;			     /* where it is, or was asked for; lent;
						      * NULL: by function, not set anywhere */
	int line;				     /* 0: the same */
	const char *watch;			     /* what a data breakpoint is for; lent; NULL */
	const char *condition;			     /* lent; NULL: none */
	const char *log;			     /* of a log point; lent; NULL */
	const char *message;			     /* why a rank does not have it; lent; NULL */
	struct rankset ranks;			     /* that are to have it, of those here */
	struct rankset set;			     /* that have it */
	struct rankset by[BREAKPOINT_BACKEND_COUNT]; /* those of set */
	int slots;				     /* debug registers of a thread, of
						      * BREAKPOINT_BY_PTRACE; 0: not known */
	int slots_free;				     /* of the rank that has fewest */
	int64_t hits;				     /* of all of them */
	int64_t most_hits;			     /* of one of them */
	size_t hit_count;			     /* ranks that have any */
	bool is_over;				     /* a watch whose frame, or object, is gone */
	bool is_disabled;
	bool is_temporary;
};

void breakpoint_summary_clear(struct breakpoint_summary *summary);
/*
 * Fills *summary (uninitialised) with number i of all that are known: those
 * of the list by id, then those that others set in the debugger of the rank
 * looked at. False: there are no more (nothing to clear then).
 */
bool breakpoint_summary_make(struct breakpoint_summary *summary, const struct session *session,
			     size_t i);
/* The one with this id, above 0. The same otherwise. */
bool breakpoint_summary_find(struct breakpoint_summary *summary, const struct session *session,
			     int id);
/* "http", "ptrace", "pdb": as struct debugger has it. */
const char *breakpoint_backend_name(enum breakpoint_backend backend);
/*
 * Appends what stops the ranks that have it: "by its agent", "by hardware
 * breakpoints (none of 4 free)", of several "ranks 0-6 by their agents, rank 7
 * by pdb"; nothing where it is set nowhere.
 */
void breakpoint_append_backends(struct buffer *out, const struct breakpoint_summary *summary);
/* Appends "hit 3", of several ranks "hit 3 each", "hit 5 in 2 ranks". */
void breakpoint_append_hits(struct buffer *out, const struct breakpoint_summary *summary);
/* How many there are. */
size_t breakpoint_summary_count(const struct session *session);
/* It is at this line of a file; path as a stack has it. */
bool breakpoint_is_at(const struct breakpoint_summary *summary, const char *path, int line);
/*
 * The one at this line of a file, for a gutter; path as a stack has it. The
 * same otherwise.
 */
bool breakpoint_summary_at(struct breakpoint_summary *summary, const struct session *session,
			   const char *path, int line);
/* Appends "train.py:14", "train" of one by function, or what is watched,
 * escaped. */
void breakpoint_append_place(struct buffer *out, const struct breakpoint_summary *summary);

#endif
