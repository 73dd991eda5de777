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
#include "backends/pdb/pdbprompt.h"
#include "backends/pdb/socket-token.h"
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
	PDB_SESSION_RUNNING,  /* the program, or a command; no prompt is known */
	PDB_SESSION_ASKED,    /* the hidden question was sent */
	PDB_SESSION_ANSWERED, /* the prompt behind the answer is still to come */
	PDB_SESSION_PROMPT,   /* free for the next order */
	PDB_SESSION_LOST,
};

enum question {
	QUESTION_NONE,
	QUESTION_STATE,	  /* where the debugger is */
	QUESTION_ORDER,	  /* of session.asking */
	QUESTION_DROPPED, /* of an order that has failed: the answer counts for nothing */
};

/* What is asked of the debugger for one request. */
struct order {
	struct order *next;
	struct message request; /* name NULL: no answer is due */
	enum request_kind kind;
	json_t *question; /* hidden, asked first; NULL: none */
	char *line;	  /* typed then; NULL: none */
};

/* Which request resumed the program. */
enum resumed_by {
	RESUMED_BY_NOBODY,
	RESUMED_BY_STEP,
	RESUMED_BY_CONTINUE,
	RESUMED_BY_QUIT,	    /* a debugger may ask back */
	RESUMED_BY_TYPING,	    /* a line for the prompt, whatever it does */
	RESUMED_BY_LATE_EVALUATION, /* the same; takes long, and an answer is due */
};

struct pdb_session {
	struct connection base;
	struct debugger debugger; /* as it was told, or will be next */
	struct pdb_socket *wire;  /* NULL: lost */
	struct inspector *inspector;
	struct pdbtranscript *transcript;
	struct output_stream *output;
	struct pdbprompt prompt; /* of what is shown */
	struct pdb_stop *stop;	 /* the newest; NULL: there was none */
	struct map *addresses;	 /* of objects that were told of in this stop */
	json_t *breakpoints;	 /* wanted, not told to the debugger yet; NULL */
	double stopped_at;
	uint64_t epoch; /* of the newest sample that it was put into */

	enum pdb_session_state state;
	enum question question;
	enum resumed_by resumed_by;
	struct loop_timer *deadline; /* of the state; NULL: none */
	struct loop_timer *quiet;    /* runs while bytes come; NULL: not */
	struct socket_token_talk token_talk;
	struct buffer raw;    /* what came since a question, not shown yet */
	struct buffer echo;   /* what was sent and may come back */
	size_t echoed;	      /* bytes of it that did */
	bool is_echoing;      /* the other end sends back what it reads */
	struct buffer held;   /* printed, perhaps not by the program */
	bool is_holding;      /* output goes to held */
	bool is_guarded;      /* the debugger resumes at the end of input (guard.py) */
	bool is_half_typed;   /* the console has a line without an end */
	struct order *asking; /* of QUESTION_ORDER, else NULL */
	unsigned lost_count;  /* of probes, since one was answered */
	struct order *typing; /* whose line was typed, unanswered; NULL */
	struct order *orders; /* those that wait, oldest first */
	size_t order_count;
};

/* NULL and why not. */
struct pdb_session *pdb_session_new(struct node *node, const struct process *process,
				    const struct target *target, struct error *error);
/* Leaves the debugger politely. */
void pdb_session_free(struct pdb_session *session);
/* Takes an order on; -1: there are too many. */
int pdb_session_add(struct pdb_session *session, struct order *owned_order, struct error *error);
/* Sends what a person typed, line by line; -1: it cannot be. */
int pdb_session_type(struct pdb_session *session, const char *text, struct error *error);
/* Tells `debugger`, `stopped` or `continued`, after the output before it. */
void pdb_session_tell(struct pdb_session *session);
/* The same as `debugger`: it stands where it stood. */
void pdb_session_tell_again(struct pdb_session *session);
/* Sets debugger.leaving by all that is known. */
void pdb_session_weigh_leaving(struct pdb_session *session);

#endif
