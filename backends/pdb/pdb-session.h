/*
 * pdb-session: one connection to a debugger that was written for a person at a
 * keyboard.
 *
 * The only sign that such a debugger waits for a command is an unfinished line
 * of output, and a program can write the same line. So the session takes a line
 * for a prompt only after the debugger has answered a hidden question
 * (inspector.h); until then the question waits in the socket. Meanwhile nothing
 * else is sent, except the question again where it may be lost: only the answer
 * to the newest question counts.
 *
 *	            connected         a prompt?         answer            prompt
 *	CONNECTING ----------> RUNNING -------> ASKED --------> ANSWERED --------> PROMPT
 *	                          ^               ^                |                |  |
 *	                          |               +-- a question --|----------------+  |
 *	                          +-- no prompt in time -----------+                   |
 *	                          +-- a command, or another prompt --------------------+
 *
 *	each state --> LOST: the connection is over
 *
 * pdb-session-state.c has the table state x (bytes, quiet, deadline) -> action.
 * Beside the state stand two more, each with an enum of its own:
 *
 *	question    what the hidden question is for. NONE unless ASKED, or
 *		    ANSWERED between two lines of one question.
 *			NONE -> STATE | ORDER -> NONE
 *				ORDER -> DROPPED (too late) -> NONE
 *	resumed_by  the line that the debugger has read last. NOBODY from a
 *		    stop on.
 *			NOBODY -> STEP | CONTINUE | QUIT | TYPING -> NOBODY
 *				QUIT -> CONTINUE (confirmed)
 *				TYPING -> LATE_EVALUATION (runs on) -> NOBODY
 *
 * Booleans are facts that hold in several states: is_guarded and is_echoing of
 * the debugger at the other end, is_half_typed of the console's line,
 * is_holding of the output (kept in held, or passed on). debugger.state is the
 * state that the screen shows.
 *
 * Requests that can be served wait in orders until the prompt is free.
 */
#ifndef BACKENDS_PDB_PDB_SESSION_H
#define BACKENDS_PDB_PDB_SESSION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"
#include "backends/pdb/pdb-socket.h"
#include "backends/pdb/pdbprompt.h"
#include "base/buffer.h"
#include "protocol/debugger.h"
#include "protocol/message.h"

struct error;
struct inspector;
struct loop_timer;
struct map;
struct output_stream;
struct pdb_stop;
struct target;
struct pdbtranscript;
struct pdb_socket;

enum pdb_session_state {
	PDB_SESSION_CONNECTING,
	PDB_SESSION_RUNNING,  /* the program or a command runs; no prompt is known */
	PDB_SESSION_ASKED,    /* the hidden question was sent */
	PDB_SESSION_ANSWERED, /* the prompt after the answer has not come yet */
	PDB_SESSION_PROMPT,   /* free for the next order */
	PDB_SESSION_LOST,
};

enum question {
	QUESTION_NONE,
	QUESTION_STATE,	  /* the state and location of the debugger */
	QUESTION_ORDER,	  /* the question of session.asking */
	QUESTION_DROPPED, /* the question of a failed order: its answer is ignored */
};

/* A request, as a question and a line for the debugger. */
struct order {
	struct order *next;
	struct message request; /* name NULL: no answer is needed */
	enum request_kind kind;
	json_t *question; /* hidden question, sent first; NULL: none */
	char *line;	  /* line typed after the question; NULL: none */
};

/* The order whose line resumed the program. */
enum resumed_by {
	RESUMED_BY_NOBODY,
	RESUMED_BY_STEP,
	RESUMED_BY_CONTINUE,
	RESUMED_BY_QUIT,   /* the debugger may ask for confirmation */
	RESUMED_BY_TYPING, /* a line for the prompt, which may do anything */
	/* like TYPING, for an evaluation that takes long and needs an answer */
	RESUMED_BY_LATE_EVALUATION,
};

struct pdb_session {
	struct connection base;
	struct debugger debugger; /* state that was reported last, or will be next */
	struct pdb_socket *wire;  /* NULL: connection lost */
	struct inspector *inspector;
	struct pdbtranscript *transcript;
	struct output_stream *output;
	struct pdbprompt prompt; /* parser of the shown output */
	struct pdb_stop *stop;	 /* newest stop; NULL: none yet */
	struct map *addresses;	 /* addresses of the objects reported in this stop */
	json_t *breakpoints;	 /* requested, not sent to the debugger yet; NULL: none */
	double stopped_at;
	uint64_t epoch; /* epoch of the newest sample that has this stop */

	enum pdb_session_state state;
	enum question question;
	enum resumed_by resumed_by;
	struct loop_timer *deadline; /* timer of the state; NULL: none */
	struct loop_timer *quiet;    /* runs while bytes come; NULL: not running */
	struct socket_token_talk token_talk;
	struct buffer raw;    /* bytes received since a question, not shown yet */
	struct buffer echo;   /* sent bytes that may be echoed */
	size_t echoed;	      /* bytes of echo that came back */
	bool is_echoing;      /* true: the peer echoes its input */
	struct buffer held;   /* output that may be the debugger's */
	bool is_holding;      /* true: output is kept in held */
	bool is_guarded;      /* the debugger resumes at the end of input (guard.py) */
	bool is_half_typed;   /* true: the console has typed a part of a line */
	struct order *asking; /* order of QUESTION_ORDER; else NULL */
	unsigned lost_count;  /* probes lost since the last answered one */
	struct order *typing; /* order whose line was typed and has no answer; NULL: none */
	struct order *orders; /* waiting orders, oldest first */
	size_t order_count;
};

/* Connects to target. NULL: *error says why not. */
struct pdb_session *pdb_session_new(struct node *node, const struct process *process,
				    const struct target *target, struct error *error);
/* Disconnects and frees the session; the program is resumed if that is possible. */
void pdb_session_free(struct pdb_session *session);
/* Queues an order; -1, *error: too many are waiting. */
int pdb_session_add(struct pdb_session *session, struct order *owned_order, struct error *error);
/* Sends typed text line by line. -1: *error says why not. */
int pdb_session_type(struct pdb_session *session, const char *text, struct error *error);
/* Sends `debugger`, `stopped` or `continued`, after the earlier output. */
void pdb_session_tell(struct pdb_session *session);
/* Sends the event `debugger`: the location is unchanged. */
void pdb_session_tell_again(struct pdb_session *session);
/* Sets debugger.leaving from the current state. */
void pdb_session_weigh_leaving(struct pdb_session *session);

#endif
