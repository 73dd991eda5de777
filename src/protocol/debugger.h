/*
 * debugger: the state of a process's debugger: which debugger it is, whether probetui is connected,
 * and where the process is stopped. The state is the body (with "pid" and "rank") of the events
 * `debugger`, `stopped` and `continued`; each event has the whole state.
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
	DEBUGGER_WAITING,    /* the debugger waits for a client; probetui is not connected */
	DEBUGGER_STALE,	     /* the debugger's socket exists, but no process listens on it */
	DEBUGGER_REFUSED,    /* the debugger cannot be connected to; `why` has the reason */
	DEBUGGER_CONNECTING, /* probetui has connected, and no answer came yet */
	DEBUGGER_RUNNING,    /* connected; the process runs, or evaluates an expression */
	DEBUGGER_STOPPED,    /* connected; the process is stopped at the prompt */
	/* the debugger is at another prompt (interact, "..."): only the console is of use */
	DEBUGGER_NESTED,
	DEBUGGER_FOREIGN, /* the peer answers, but not as pdb: only the console is of use */
	DEBUGGER_LOST,	  /* the connection was lost; `why` has the reason */
};

/* The reasons of DAP's event `stopped`. */
enum stop_reason {
	STOP_ENTRY, /* stopped before probetui connected, or by set_trace() */
	STOP_STEP,
	STOP_BREAKPOINT,
	STOP_DATA_BREAKPOINT,
	STOP_PAUSE,
	STOP_EXCEPTION,
};

/* Why a process resumed: `reason` of the event `continued`. */
enum resume_reason {
	RESUME_REQUEST,	   /* a request of a person, or an unknown reason */
	RESUME_SIGNAL,	   /* a signal (SIGCONT) from another process */
	RESUME_TIME_LIMIT, /* the time limit of a stop was over */
};

/* The event (of sys.settrace()) at which pdb stopped. */
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
	int number; /* number in the debugger; 0: not set, `message` has the reason */
	char *path; /* path where the breakpoint was set; NULL: not set */
	int line;
	int hits; /* number of stops at the breakpoint; for id 0: bdb's count of hits */
	bool is_disabled;
	bool is_temporary;
	bool is_refused; /* true: the breakpoint can never be set unless it is changed */
	char *watch;	 /* expression of a data breakpoint; NULL: another kind */
	char *condition; /* NULL: none */
	char *message;	 /* why the breakpoint is not set; NULL: it is set */
};

#define BREAKPOINT_BINDINGS_MAXIMUM 1000
#define STOP_HITS_MAXIMUM 16

struct debugger {
	enum debugger_state state;
	char *backend; /* "pdb", "http" or "ptrace"; NULL: DEBUGGER_NONE */
	char *target;  /* address for the request `connect`: "pdb:unix:/tmp/pdb.sock.1" */
	char *dialect; /* "pdb", "ipdb", "remote-pdb", "probetui" …; NULL: unknown */
	char *why;     /* sentence that explains the state; NULL: none */
	/* what disconnecting does to the process, a sentence; NULL: nothing or unknown */
	char *leaving;
	bool is_taken;	     /* DEBUGGER_REFUSED: another client is connected */
	bool is_post_mortem; /* true: frames can be read, but not stepped */
	int slots;	     /* hardware watchpoints per thread; 0: none needed, or unknown */
	int slots_free;	     /* free watchpoints in the thread with the fewest */
	/*
	 * seconds, from the sending of this state, until the debugger resumes the process by
	 * itself; -1: never, or unknown
	 */
	double lease;
	/*
	 * true: the node has shortened the lease, because a collective of the peers would time out
	 */
	bool is_limited;
	/*
	 * seconds that the peers wait in a collective for the process before the job fails; -1:
	 * unknown
	 */
	double watchdog;
	/* The following members, up to hit_count, are valid only in DEBUGGER_STOPPED. */
	uint64_t stops; /* number of stops on this connection, from 1 */
	enum stop_reason reason;
	enum stop_event at;
	pid_t tid;   /* stopped thread; 0: unknown */
	double held; /* seconds from the stop to the sending of this state */
	/* time of the stop, seconds on the monotonic clock of the samples; -1: not known exactly */
	double stopped_at;
	char *value; /* value returned or raised; NULL: unknown */
	/*
	 * is_post_mortem: "RuntimeError: boom", then a line for each earlier exception in its
	 * chain: "from ValueError: no", "while handling KeyError"
	 */
	char *exception;
	/*
	 * what stopped the process: "breakpoint 1", "return"; in DEBUGGER_RUNNING why the process
	 * resumed without a request, a sentence, else NULL
	 */
	char *description;
	int hits[STOP_HITS_MAXIMUM]; /* ids of the breakpoints of this stop */
	size_t hit_count;
	/* valid only in DEBUGGER_RUNNING */
	enum resume_reason resumed_for;
	/* The following members are valid in every state. */
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
/* Removes the binding of the breakpoint with this id, if there is one: the id can be reused. */
void debugger_remove_binding(struct debugger *debugger, int id);
/*
 * Merges the bindings of an answer to setBreakpoints. The present bindings may be newer, from an
 * event: a present binding that is set is kept, and a refused one is kept unless the answer sets or
 * refuses the breakpoint, too.
 */
void debugger_add_answer(struct debugger *debugger, const json_t *bindings);
/*
 * Returns "none" "waiting" "stale" "refused" "connecting" "running" "stopped" "nested" "foreign"
 * "lost".
 */
const char *debugger_state_name(enum debugger_state state);
const char *stop_reason_name(enum stop_reason reason); /* "entry", "step", …, as in DAP */
/* Returns "request" "signal" "time limit". */
const char *resume_reason_name(enum resume_reason reason);
/* Returns "line", "call", "return" or "exception"; NULL for STOP_AT_UNKNOWN. */
const char *stop_event_name(enum stop_event event);
/* Returns the event with this name; STOP_AT_UNKNOWN: there is none. */
enum stop_event stop_event_parse(const char *name);
/*
 * Appends a line of the member `exception`. relation NULL: the raised exception, "RuntimeError:
 * boom"; "cause": an earlier one, "\nfrom ValueError: no"; else "\nwhile handling …".
 */
void debugger_append_exception(struct buffer *out, const char *relation, const char *type,
			       const char *message);
/* Returns the event that reports this state: EVENT_STOPPED, EVENT_CONTINUED or EVENT_DEBUGGER. */
enum event_kind debugger_event(const struct debugger *debugger);
/* True if the debugger's backend is this one ("http", "pdb", "ptrace"). */
bool debugger_is_of(const struct debugger *debugger, const char *backend);
/* True if probetui is connected to the debugger, in any of the connected states. */
bool debugger_is_ours(const struct debugger *debugger);
json_t *debugger_to_json(const struct debugger *debugger);
/*
 * Replaces the contents of *debugger (after debugger_init()). Returns 0; -1 and *error. Call
 * debugger_clear() in both cases.
 */
int debugger_from_json(struct debugger *debugger, const json_t *json, struct error *error);

/*
 * breakpoint: one breakpoint as a person has set it; sent in `setBreakpoints`. The state of the
 * breakpoint in each process is a struct breakpoint_binding.
 */

#define BREAKPOINTS_MAXIMUM 500

struct breakpoint {
	int id;		/* number in the session, from 1 */
	char *path;	/* path of the file, "train.py" or absolute; NULL: not a line breakpoint */
	int line;	/* line number; 0: not a line breakpoint */
	char *function; /* "train", "Net.forward", "module.f"; NULL: a line or data breakpoint */
	/*
	 * Expression of a data breakpoint (DAP's word; the command is `watch`), which stops when
	 * the value changes. "*0xADDRESS:LENGTH" watches memory. NULL: a breakpoint by line or
	 * function.
	 */
	char *watch;
	/* depth of the frame in which the expression `watch` is evaluated when the breakpoint is
	 * set */
	int depth;
	/*
	 * true: watch stops once, when its value becomes NaN or infinite in any frame of the
	 * function that has the variable; only an agent can do this, set while the process runs
	 */
	bool is_nan;
	char *condition; /* Python expression; NULL: none */
	/*
	 * log point: text to print instead of stopping, with {expressions} replaced by their
	 * values; NULL: stop
	 */
	char *log;
	int ignore; /* number of hits that do not stop */
	bool is_disabled;
	bool is_temporary; /* true: deleted at its first stop */
};

/* Frees the strings and zeroes the struct. */
void breakpoint_clear(struct breakpoint *breakpoint);
void breakpoint_copy(struct breakpoint *to, const struct breakpoint *from);
json_t *breakpoint_to_json(const struct breakpoint *breakpoint);
/*
 * Reads json into a cleared breakpoint. Returns 0; -1 and *error. Call breakpoint_clear() in both
 * cases.
 */
int breakpoint_from_json(struct breakpoint *breakpoint, const json_t *json, struct error *error);
/*
 * Checks the list of a `setBreakpoints` request. Returns 0; -1 and *error: an entry is not valid,
 * or there are too many.
 */
int breakpoints_check(const json_t *list, struct error *error);

#endif
