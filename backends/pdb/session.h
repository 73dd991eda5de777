/*
 * session: one connection to a debugger that was written for a person at a
 * keyboard.
 *
 * Nothing tells when such a debugger waits for a command but the unfinished
 * line that it has written, which a program can write as well. So a prompt is
 * believed only once a hidden question behind it was answered (inspector.h);
 * until then the question just waits in the socket. Nothing else is sent
 * meanwhile, but the question again where it may be lost: only the answer to
 * the newest counts. Phases:
 *
 *	CONNECTING -> LISTENING -> ASKING -> RETURNING -> PROMPT
 *	                  ^          ^                      |  |
 *	                  |          +------ a question ----+  |
 *	                  +----------------- a command --------+
 *
 * RETURNING is between an answer and the prompt that follows it, which nobody
 * is shown. What a person is told of all that is in debugger.state.
 *
 * Requests that can be served wait in orders until the prompt is free.
 */
#ifndef BACKENDS_PDB_SESSION_H
#define BACKENDS_PDB_SESSION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/backend.h"
#include "backends/pdb/pdbprompt.h"
#include "backends/pdb/token.h"
#include "base/buffer.h"
#include "protocol/debugger.h"
#include "protocol/message.h"

struct error;
struct inspector;
struct loop_timer;
struct map;
struct outflow;
struct stop;
struct target;
struct pdbtranscript;
struct wire;

enum phase {
	PHASE_CONNECTING,
	PHASE_LISTENING,
	PHASE_ASKING,
	PHASE_RETURNING,
	PHASE_PROMPT,
	PHASE_LOST,
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
	RESUMED_BY_TYPING, /* a line for the prompt, whatever it does */
};

struct session {
	struct connection base;
	struct debugger debugger; /* as it was told, or will be next */
	struct wire *wire;	  /* NULL: lost */
	struct inspector *inspector;
	struct pdbtranscript *transcript;
	struct outflow *output;
	struct pdbprompt prompt; /* of what is shown */
	struct stop *stop;	 /* the newest; NULL: there was none */
	struct map *addresses;	 /* of objects that were told of in this stop */
	json_t *breakpoints;	 /* wanted, not told to the debugger yet; NULL */
	double stopped_at;
	uint64_t epoch; /* of the newest sample that it was put into */

	enum phase phase;
	struct loop_timer *deadline; /* of the phase; NULL: none */
	struct loop_timer *quiet;    /* runs while bytes come; NULL: not */
	struct token_talk token_talk;
	struct buffer raw;  /* what came since a question, not shown yet */
	struct buffer echo; /* what was sent and may come back */
	size_t echoed;	    /* bytes of it that did */
	bool is_echoing;    /* it did come back before */
	struct buffer held; /* printed, perhaps not by the program */
	bool is_holding;
	enum resumed_by resumed_by;
	bool is_guarded;      /* it resumes at the end of its input (guard.py) */
	bool is_quitting;     /* it was told to, and may ask back */
	bool is_late;	      /* typing takes long, and is waited for */
	bool is_half_typed;   /* in the console, without a line's end */
	struct order *asking; /* whose question is on its way; NULL: a probe */
	bool is_given_up;     /* the answer to that question is dropped */
	unsigned lost_count;  /* of probes, since one was answered */
	struct order *typing; /* whose line was typed, unanswered; NULL */
	struct order *orders; /* those that wait, oldest first */
	size_t order_count;
};

/* NULL and why not. */
struct session *session_new(struct node *node, const struct process *process,
			    const struct target *target, struct error *error);
/* Leaves the debugger politely. */
void session_free(struct session *session);
/* Takes an order on; -1: there are too many. */
int session_add(struct session *session, struct order *owned_order, struct error *error);
/* Sends what a person typed, line by line; -1: it cannot be. */
int session_type(struct session *session, const char *text, struct error *error);
/* Tells `debugger`, `stopped` or `continued`, after the output before it. */
void session_tell(struct session *session);
/* The same as `debugger`: it stands where it stood. */
void session_tell_again(struct session *session);
/* Sets debugger.leaving by all that is known. */
void session_weigh_leaving(struct session *session);

#endif
