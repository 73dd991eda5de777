/*
 * debugger: what is known of the debugger of a process: which one there is,
 * whether we talk to it, and where it has stopped the process. The body (with
 * "pid" and "rank") of the events `debugger`, `stopped` and `continued`, each
 * of which tells all of it anew.
 */
#ifndef PROTOCOL_DEBUGGER_H
#define PROTOCOL_DEBUGGER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "protocol/message.h"

struct buffer;
struct error;

enum debugger_state {
	DEBUGGER_NONE,	     /* none is known */
	DEBUGGER_WAITING,    /* it waits for a client; we are none */
	DEBUGGER_STALE,	     /* its socket is there, and no process listens */
	DEBUGGER_REFUSED,    /* not ours to talk to; why says the reason */
	DEBUGGER_CONNECTING, /* we are its client; it did not answer yet */
	DEBUGGER_RUNNING,    /* the process runs, or evaluates */
	DEBUGGER_STOPPED,    /* at its prompt */
	DEBUGGER_NESTED,     /* at another prompt (interact, "..."): only the
			      * console is of use */
	DEBUGGER_FOREIGN,    /* it answers, but not as a pdb: the same */
	DEBUGGER_LOST,	     /* it was ours; why says what became of it */
};

/* DAP's reasons of `stopped`. */
enum stop_reason {
	STOP_ENTRY, /* it stopped before we came, or by set_trace() */
	STOP_STEP,
	STOP_BREAKPOINT,
	STOP_DATA_BREAKPOINT,
	STOP_PAUSE,
	STOP_EXCEPTION,
};

/* How a process came to run again: `reason` of `continued`. */
enum resume_reason {
	RESUME_REQUEST,	   /* a request of a person, or none is known */
	RESUME_SIGNAL,	   /* a signal was sent to it from outside */
	RESUME_TIME_LIMIT, /* it was stopped for as long as it may be */
};

/* pdb's event of the stop. */
enum stop_event {
	STOP_AT_UNKNOWN,
	STOP_AT_LINE,
	STOP_AT_CALL,
	STOP_AT_RETURN,
	STOP_AT_EXCEPTION,
};

/* A breakpoint as the debugger has it. */
struct breakpoint_binding {
	int id;	    /* ours (breakpoint.h); 0: somebody else set it */
	int number; /* the debugger's; 0: it is not set, message says why */
	char *path; /* where it really is; NULL: not set */
	int line;
	int hits; /* stops that were for it; of somebody else's: bdb's count */
	bool is_disabled;
	bool is_temporary;
	bool is_refused; /* it can never be set as it is */
	char *watch;	 /* what a data breakpoint is for; NULL: it is none */
	char *condition; /* NULL: none */
	char *message;	 /* why it is not set; NULL: it is */
};

#define BREAKPOINT_BINDINGS_MAXIMUM 1000
#define STOP_HITS_MAXIMUM 16

struct debugger {
	enum debugger_state state;
	char *backend;	     /* "pdb"; NULL only of DEBUGGER_NONE */
	char *target;	     /* "pdb:unix:/tmp/pdb.sock.1", as `connect` takes it */
	char *dialect;	     /* "pdb", "ipdb", "remote-pdb", "probetui" …; NULL:
			      * not known */
	char *why;	     /* a sentence about the state; NULL: none needed */
	char *leaving;	     /* a sentence: what closing the connection does to the
			      * process; NULL: nothing, or not known */
	bool is_taken;	     /* of DEBUGGER_REFUSED: another client has it */
	bool is_post_mortem; /* frames can be looked at, not stepped */
	int slots;	     /* hardware watches that a thread has; 0: it
			      * works without, or not known */
	int slots_free;	     /* of them, in the thread where fewest are */
	double lease;	     /* seconds until it lets the process go by
			      * itself, when sent; -1: never, or not known */
	bool is_limited;     /* the node ends the lease: a collective that
			      * waits for the process would time out */
	double watchdog;     /* seconds its peers wait for it before the job
			      * is ended; -1: not known */
	/* Of DEBUGGER_STOPPED only: */
	uint64_t stops; /* counts the stops of this connection, from 1 */
	enum stop_reason reason;
	enum stop_event at;
	pid_t tid;		     /* the thread at the prompt; 0 unknown */
	double held;		     /* seconds since it stopped, when sent */
	double stopped_at;	     /* the same on the clock that samples' time is of;
				      * -1: not known to less than a millisecond */
	char *value;		     /* what is returned or raised; NULL unknown */
	char *exception;	     /* "RuntimeError: boom" of a post-mortem; a line
				      * more for each that it came of: "from
				      * ValueError: no", "while handling KeyError" */
	char *description;	     /* "breakpoint 1", "return": a few words; of
				      * DEBUGGER_RUNNING a sentence about the resume
				      * where it was no request, else NULL */
	int hits[STOP_HITS_MAXIMUM]; /* ids of the breakpoints that stopped
				      * it */
	size_t hit_count;
	/* Of DEBUGGER_RUNNING only; as long as it runs: */
	enum resume_reason resumed_for;
	/* Whatever the state is: */
	struct breakpoint_binding *bindings;
	size_t binding_count;
};

void debugger_init(struct debugger *debugger);
/* Frees what it holds; it is then as after debugger_init. */
void debugger_clear(struct debugger *debugger);
/* All that it knows of breakpoints. */
void debugger_clear_bindings(struct debugger *debugger);
/* Lends a new one at the end: zeroed, path, message NULL. */
struct breakpoint_binding *debugger_add_binding(struct debugger *debugger);
/* Of a breakpoint whose number another one may get; no such binding is fine. */
void debugger_remove_binding(struct debugger *debugger, int id);
/*
 * Adds what an answer to setBreakpoints (a list of bindings) tells of those
 * that are not known, or were not set, nor refused: an event may have told more
 * since.
 */
void debugger_add_answer(struct debugger *debugger, const json_t *bindings);
/* "none" "waiting" "stale" "refused" "connecting" "running" "stopped"
 * "nested" "foreign" "lost" */
const char *debugger_state_name(enum debugger_state state);
const char *stop_reason_name(enum stop_reason reason); /* DAP's */
/* "request" "signal" "time limit" */
const char *resume_reason_name(enum resume_reason reason);
/* "line" …; NULL of STOP_AT_UNKNOWN */
const char *stop_event_name(enum stop_event event);
/* STOP_AT_UNKNOWN: it is none of them. */
enum stop_event stop_event_parse(const char *name);
/*
 * Appends one of those that the member `exception` tells of: "RuntimeError:
 * boom", and of what that came of "\nfrom ValueError: no" where relation is
 * "cause", else "\nwhile handling …". NULL: it is the first.
 */
void debugger_append_exception(struct buffer *out, const char *relation, const char *type,
			       const char *message);
/* The name of the event that tells it: "stopped", "continued", "debugger". */
enum event_kind debugger_event(const struct debugger *debugger);
/* "http", "pdb" or "ptrace" reaches it. */
bool debugger_is_of(const struct debugger *debugger, const char *backend);
/* We are connected, whatever it does. */
bool debugger_is_ours(const struct debugger *debugger);
json_t *debugger_to_json(const struct debugger *debugger);
/* Replaces what *debugger (after debugger_init) held; clear it after -1. */
int debugger_from_json(struct debugger *debugger, const json_t *json, struct error *error);

#endif
