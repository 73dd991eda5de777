/*
 * pdb-session-private: what the files of a session have of each other. Each group
 * is one file's.
 */
#ifndef BACKENDS_PDB_PDB_SESSION_PRIVATE_H
#define BACKENDS_PDB_PDB_SESSION_PRIVATE_H

#include "backends/pdb/pdb-session.h"

/* An answer that somebody waits for. */
#define ANSWER_SECONDS 10.0
/* Seconds to wait for the prompt after a typed line; after that the program counts as running. */
#define LINE_SECONDS 0.3
/* What waits behind a step, for the next stop. */
#define BEHIND_SECONDS 1.0
/* Text that may be the debugger's. */
#define HELD_MAXIMUM (64u << 10)

/* session.c: sends; -1 when that was the end of it. */
int pdb_session_send(struct pdb_session *session, const char *text);
/* The connection is over. */
void pdb_session_lose(struct pdb_session *session, const char *why);
void pdb_session_fail_orders(struct pdb_session *session, const char *why);
/* Those that were not begun. Lines of the console, which nobody waits for,
 * stay. */
void pdb_session_fail_waiting(struct pdb_session *session, const char *why);
/* why NULL: nothing need be said. */
void pdb_session_set_why(struct pdb_session *session, const char *why);
void pdb_session_tell_state(struct pdb_session *session, enum debugger_state state,
			    const char *why);

/* pdb-terminal.c: bytes that are nothing of ours. */
void session_show(struct pdb_session *session, const char *bytes, size_t length);
/* The same of the first of session.raw. */
void session_show_raw(struct pdb_session *session, size_t length);
/* Where the unfinished line is a prompt it is used up. */
void session_take_prompt(struct pdb_session *session);
/* What was held goes the way of all output. */
void session_release(struct pdb_session *session);
/* The same, but what the debugger says of the place where it stops. */
void session_release_program(struct pdb_session *session);
void session_drop_held(struct pdb_session *session);
/* A terminal may send back what it is sent. */
void session_expect_echo(struct pdb_session *session, const char *text);
/* Bytes of the beginning that are what was sent. */
size_t session_skip_echo(struct pdb_session *session, const char *bytes, size_t length);

/* pdb-session-state.c: enters the state; on_deadline after so many seconds, 0: never. */
void session_enter(struct pdb_session *session, enum pdb_session_state state, double seconds);
/* Moves the deadline of the state: so many seconds from now. */
void session_limit_state(struct pdb_session *session, double seconds);
/* on_quiet when no byte has come for so many seconds. */
void session_await_quiet(struct pdb_session *session, double seconds);
/* Bytes of the debugger, without echo and token. */
void session_take_bytes(struct pdb_session *session, const char *bytes, size_t length);

/* pdb-evaluate.c: asks where the debugger is (QUESTION_STATE). */
void session_probe(struct pdb_session *session);
/* The question was lost: its answer may still come. */
void session_probe_again(struct pdb_session *session);
/* Sends the next line of the question that was begun. */
void session_send_question(struct pdb_session *session);
/* ASKED: what came may be the answer. */
void session_look_for_answer(struct pdb_session *session);
/* ASKED: nothing came for a while. */
void session_look_for_refusal(struct pdb_session *session);
/* ASKED: a prompt has come since, whatever is behind the prompt. */
bool session_has_shown_prompt(const struct pdb_session *session);
/* ANSWERED: other threads' output comes, then the prompt. */
void session_look_for_prompt(struct pdb_session *session, bool is_quiet);

/* pdb-typing.c: a line for the prompt was the last that the debugger has read. */
bool session_was_typed(const struct pdb_session *session);
/* PROMPT: begins the next order, if any. */
void session_pump(struct pdb_session *session);
void session_put_first(struct pdb_session *session, struct order *owned_order);

/* Lines of the console that wait for a prompt go now: none will come. */
void session_type_all(struct pdb_session *session);

/* pdb-stop-requests.c: the probe was answered: it is at its prompt. */
void session_take_stop(struct pdb_session *session, const json_t *answer,
		       struct pdb_stop *owned_stop);

#endif
