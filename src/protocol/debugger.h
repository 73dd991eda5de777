/*
 * debugger: the state of a process's debugger: which debugger, whether probetui is connected, and
 * where the process is stopped. It is the body (with "pid" and "rank") of the events `debugger`,
 * `stopped` and `continued`; each event has the whole state.
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
	DEBUGGER_NONE,	     /* no debugger is known */
	DEBUGGER_WAITING,    /* it waits for a client; probetui is not connected */
	DEBUGGER_STALE,	     /* its socket exists, but no process listens */
	DEBUGGER_REFUSED,    /* it cannot be connected to; why has the reason */
	DEBUGGER_CONNECTING, /* probetui has connected, and no answer came yet */
	DEBUGGER_RUNNING,    /* the process runs or evaluates */
	DEBUGGER_STOPPED,    /* the process is stopped at the debugger's prompt */
	/* the debugger is at another prompt (interact, "..."): only the console is of use */
	DEBUGGER_NESTED,
	DEBUGGER_FOREIGN, /* the peer answers, but not as pdb: only the console is of use */
	DEBUGGER_LOST,	  /* the connection was lost; why has the reason */
};

/* DAP's reasons of `stopped`. */
enum stop_reason {
	STOP_ENTRY, /* stopped before probetui connected, or by set_trace() */
	STOP_STEP,
	STOP_BREAKPOINT,
	STOP_DATA_BREAKPOINT,
	STOP_PAUSE,
	STOP_EXCEPTION,
};

/* Why a process resumed: `reason` of `continued`. */
enum resume_reason {
	RESUME_REQUEST,	   /* a request of a person, or an unknown reason */
	RESUME_SIGNAL,	   /* a signal (SIGCONT) from another process */
	RESUME_TIME_LIMIT, /* the time limit of a stop was over */
};

/* Event of pdb at the stop. */
enum stop_event {
	STOP_AT_UNKNOWN,
	STOP_AT_LINE,
	STOP_AT_CALL,
	STOP_AT_RETURN,
	STOP_AT_EXCEPTION,
};

/* A breakpoint in the debugger of one process. */
struct breakpoint_binding {
	int id;	    /* number in the session (struct breakpoint); 0: not set by probetui */
	int number; /* number in the debugger; 0: not set, message has the reason */
	char *path; /* path where the breakpoint was set; NULL: not set */
	int line;
	int hits; /* number of stops at it; for id 0: bdb's count of hits */
	bool is_disabled;
	bool is_temporary;
	bool is_refused; /* true: it can never be set as it is */
	char *watch;	 /* expression of a data breakpoint; NULL: another kind */
	char *condition; /* NULL: none */
	char *message;	 /* why it is not set; NULL: it is set */
};

#define BREAKPOINT_BINDINGS_MAXIMUM 1000
#define STOP_HITS_MAXIMUM 16

struct debugger {
	enum debugger_state state;
	char *backend; /* "pdb", "http" or "ptrace"; NULL: DEBUGGER_NONE */
	char *target;  /* address that `connect` takes: "pdb:unix:/tmp/pdb.sock.1" */
	char *dialect; /* "pdb", "ipdb", "remote-pdb", "probetui" …; NULL: unknown */
	char *why;     /* sentence that explains the state; NULL: none */
	/* sentence on the effect of disconnecting on the process; NULL: none or unknown */
	char *leaving;
	bool is_taken;	     /* DEBUGGER_REFUSED: another client is connected */
	bool is_post_mortem; /* true: frames can be read, not stepped */
	int slots;	     /* hardware watchpoints per thread; 0: none needed, or unknown */
	int slots_free;	     /* free watchpoints in the thread with the fewest */
	/*
	 * seconds until the debugger resumes the process by itself, when sent; -1: never, or
	 * unknown
	 */
	double lease;
	/* true: the node limits the lease, because a collective of the peers would time out */
	bool is_limited;
	/* seconds that the peers wait for the process before the job fails; -1: unknown */
	double watchdog;
	/* The following members are valid only in DEBUGGER_STOPPED: */
	uint64_t stops; /* number of stops on this connection, from 1 */
	enum stop_reason reason;
	enum stop_event at;
	pid_t tid;   /* stopped thread; 0: unknown */
	double held; /* seconds since the stop, when sent */
	/*
	 * time of the stop on the monotonic clock of the samples, seconds; -1: not known to the
	 * millisecond
	 */
	double stopped_at;
	char *value; /* value returned or raised; NULL: unknown */
	/*
	 * post-mortem: "RuntimeError: boom", then a line for each earlier exception: "from
	 * ValueError: no", "while handling KeyError"
	 */
	char *exception;
	/*
	 * a few words on the stop: "breakpoint 1", "return"; in DEBUGGER_RUNNING a sentence if no
	 * request resumed the process, else NULL
	 */
	char *description;
	int hits[STOP_HITS_MAXIMUM]; /* ids of the breakpoints of this stop */
	size_t hit_count;
	/* valid only in DEBUGGER_RUNNING, until the next stop: */
	enum resume_reason resumed_for;
	/* The following members are valid in every state: */
	struct breakpoint_binding *bindings;
	size_t binding_count;
};

void debugger_init(struct debugger *debugger);
/* Frees the members; the struct is then as after debugger_init(). */
void debugger_clear(struct debugger *debugger);
/* Frees the bindings. */
void debugger_clear_bindings(struct debugger *debugger);
/* Appends a zeroed binding and returns it (borrowed until the next one is added). */
struct breakpoint_binding *debugger_add_binding(struct debugger *debugger);
/*
 * Removes the binding of breakpoint id, whose number can be used again; does nothing if there is
 * none.
 */
void debugger_remove_binding(struct debugger *debugger, int id);
/*
 * Adds the bindings of an answer to setBreakpoints. An event can be newer than the answer: a
 * binding that is set is kept, and a refused one unless the answer also refuses or sets it.
 */
void debugger_add_answer(struct debugger *debugger, const json_t *bindings);
/* "none" "waiting" "stale" "refused" "connecting" "running" "stopped"
 * "nested" "foreign" "lost" */
const char *debugger_state_name(enum debugger_state state);
const char *stop_reason_name(enum stop_reason reason); /* "entry", "step", …, as in DAP */
/* "request" "signal" "time limit" */
const char *resume_reason_name(enum resume_reason reason);
/* "line", "call", "return", "exception"; NULL: STOP_AT_UNKNOWN */
const char *stop_event_name(enum stop_event event);
/* STOP_AT_UNKNOWN: name is none of them. */
enum stop_event stop_event_parse(const char *name);
/*
 * Appends one exception of the member `exception`: "RuntimeError: boom", for an earlier one
 * "\nfrom ValueError: no" if relation is "cause", else "\nwhile handling …". relation NULL: the
 * first one.
 */
void debugger_append_exception(struct buffer *out, const char *relation, const char *type,
			       const char *message);
/* The event that sends this state: EVENT_STOPPED, EVENT_CONTINUED or EVENT_DEBUGGER. */
enum event_kind debugger_event(const struct debugger *debugger);
/* True if backend is the debugger's ("http", "pdb", "ptrace"). */
bool debugger_is_of(const struct debugger *debugger, const char *backend);
/* True if probetui is connected, in whatever state. */
bool debugger_is_ours(const struct debugger *debugger);
json_t *debugger_to_json(const struct debugger *debugger);
/*
 * Replaces the contents of *debugger (after debugger_init()). -1: *error is set; clear it
 * nevertheless.
 */
int debugger_from_json(struct debugger *debugger, const json_t *json, struct error *error);

/*
 * One breakpoint as a person set it, sent in `setBreakpoints`. Its state in each
 * process is a breakpoint_binding (debugger.h).
 */

#define BREAKPOINTS_MAXIMUM 500

struct breakpoint {
	int id;		/* number in the session, from 1 */
	char *path;	/* path of the file, "train.py" or absolute; NULL: no line breakpoint */
	int line;	/* line; 0: no line breakpoint */
	char *function; /* "train", "Net.forward", "module.f"; NULL: a line or data breakpoint */
	/*
	 * Expression of a data breakpoint (DAP's word; the command is `watch`), which stops when
	 * the value changes. "*0xADDRESS:LENGTH" watches memory. NULL: a breakpoint by line or
	 * function.
	 */
	char *watch;
	int depth; /* depth of the frame that evaluates watch when the breakpoint is set */
	/*
	 * true: a watch that stops once, when its value becomes NaN or infinite, in any frame of
	 * the function that has the name; only an agent can do this, while the process runs
	 */
	bool is_nan;
	char *condition; /* Python expression; NULL: none */
	/* text to print instead of a stop, {expressions} replaced by values; NULL: stop */
	char *log;
	int ignore; /* number of hits that do not stop */
	bool is_disabled;
	bool is_temporary; /* true: deleted at its first stop */
};

/* Frees the strings and zeroes the struct. */
void breakpoint_clear(struct breakpoint *breakpoint);
void breakpoint_copy(struct breakpoint *to, const struct breakpoint *from);
json_t *breakpoint_to_json(const struct breakpoint *breakpoint);
/* Reads json into a cleared breakpoint. -1: *error is set; clear the breakpoint nevertheless. */
int breakpoint_from_json(struct breakpoint *breakpoint, const json_t *json, struct error *error);
/*
 * Checks the list of a `setBreakpoints` request. -1, *error: an entry is not valid, or there are
 * too many.
 */
int breakpoints_check(const json_t *list, struct error *error);

#endif
