/*
 * pdb-session: one connection to a debugger that was written for a person at a terminal.
 *
 * The only sign that such a debugger waits for a command is an unfinished line of output, and a
 * program can write the same text. So the session takes a line for a prompt only after the debugger
 * has answered a hidden question (inspector.h); until the debugger reads the question, it waits in
 * the socket. Meanwhile nothing is sent but the same question again if it may be lost; only the
 * answer to the newest question counts.
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
 * pdb-session-state.c has the table state x (bytes, quiet, deadline) -> action. A session has two
 * more states, each with its own enum:
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
 * The booleans are facts that hold in several states: about the debugger at the other end
 * (is_guarded, is_echoing), the console's line (is_half_typed) and the output (is_holding: kept in
 * `held`, not passed on). debugger.state is the state that the screen shows.
 *
 * Requests that can be served wait in the list `orders` until the prompt is free.
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
	PDB_SESSION_PROMPT,   /* the prompt is free for the next order */
	PDB_SESSION_LOST,
};

enum question {
	QUESTION_NONE,
	QUESTION_STATE,	  /* the state and location of the debugger */
	QUESTION_ORDER,	  /* the question of session.asking */
	QUESTION_DROPPED, /* the question of a failed order: its answer is ignored */
};

/* A request to the debugger, turned into a question and a line. */
struct order {
	struct order *next;
	struct message request; /* name NULL: no answer is needed */
	enum request_kind kind;
	json_t *question; /* hidden question, sent first; NULL: none */
	char *line;	  /* line typed after the question; NULL: none */
};

/* The kind of order whose line has resumed the program. */
enum resumed_by {
	RESUMED_BY_NOBODY,
	RESUMED_BY_STEP,
	RESUMED_BY_CONTINUE,
	RESUMED_BY_QUIT,   /* the debugger may ask for confirmation */
	RESUMED_BY_TYPING, /* a line that the user typed at the prompt, which may do anything */
	/* like TYPING: a line that evaluates, takes long and needs an answer */
	RESUMED_BY_LATE_EVALUATION,
};

struct pdb_session {
	struct connection base;
	struct debugger debugger; /* state as last reported, or to be reported next */
	struct pdb_socket *wire;  /* NULL: connection lost */
	struct inspector *inspector;
	struct pdbtranscript *transcript;
	struct output_stream *output;
	struct pdbprompt prompt; /* parser of the shown output */
	struct pdb_stop *stop;	 /* newest stop; NULL: none yet */
	struct map *addresses;	 /* addresses of the objects reported in this stop */
	json_t *breakpoints;	 /* requested breakpoints that were not sent to the debugger yet;
				  * NULL: none */
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
	size_t echoed;	      /* number of bytes of `echo` that have come back */
	bool is_echoing;      /* the peer echoes its input */
	struct buffer held;   /* output that may be the debugger's */
	bool is_holding;      /* output is kept in `held`, not passed on */
	bool is_guarded;      /* the debugger resumes at the end of input (guard.py) */
	bool is_half_typed;   /* the console has typed a part of a line */
	struct order *asking; /* order of QUESTION_ORDER; else NULL */
	unsigned lost_count;  /* number of state questions lost since the last answered one */
	struct order *typing; /* order whose line was typed and that has no answer yet; NULL:
			       * none */
	struct order *orders; /* waiting orders, oldest first */
	size_t order_count;
};

/* Connects to target. Returns NULL and sets error on failure. */
struct pdb_session *pdb_session_new(struct node *node, const struct process *process,
				    const struct target *target, struct error *error);
/* Disconnects and frees the session; the program is resumed if that is possible. */
void pdb_session_free(struct pdb_session *session);
/* Queues an order. Returns -1 and sets error if too many orders are waiting. */
int pdb_session_add(struct pdb_session *session, struct order *owned_order, struct error *error);
/* Sends typed text line by line. Returns -1 and sets error on failure. */
int pdb_session_type(struct pdb_session *session, const char *text, struct error *error);
/* Sends the event `debugger`, `stopped` or `continued`, after the output that came before. */
void pdb_session_tell(struct pdb_session *session);
/* Sends the event `debugger`, for changes that leave the location unchanged. */
void pdb_session_tell_again(struct pdb_session *session);
/* Sets debugger.leaving (the effect of disconnecting) according to the current state. */
void pdb_session_weigh_leaving(struct pdb_session *session);

#endif
