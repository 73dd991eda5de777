/* pdb-session-private: the functions that the files of a session share, grouped by file. */
#ifndef BACKENDS_PDB_PDB_SESSION_PRIVATE_H
#define BACKENDS_PDB_PDB_SESSION_PRIVATE_H

#include "backends/pdb/pdb-session.h"

/* Seconds to wait for an answer to a hidden question that a request needs. */
#define ANSWER_SECONDS 10.0
/* Seconds to wait for the prompt after a typed line; after that the program counts as running. */
#define LINE_SECONDS 0.3
/* Seconds for which orders that were queued behind a step wait for the next stop. */
#define BEHIND_SECONDS 1.0
/* Bytes of output, at most, that are held back because they may be the debugger's own output. */
#define HELD_MAXIMUM (64u << 10)

/* pdb-session.c: sends text. Returns -1 if the connection has ended. */
int pdb_session_send(struct pdb_session *session, const char *text);
/* To be called when the connection has ended: fails all orders and reports why. */
void pdb_session_lose(struct pdb_session *session, const char *why);
void pdb_session_fail_orders(struct pdb_session *session, const char *why);
/* Fails the orders that have not begun, except the console's lines, which need no answer. */
void pdb_session_fail_waiting(struct pdb_session *session, const char *why);
/* why NULL: no explanation. */
void pdb_session_set_why(struct pdb_session *session, const char *why);
void pdb_session_tell_state(struct pdb_session *session, enum debugger_state state,
			    const char *why);

/* pdb-terminal.c: passes on, to transcript and output stream, bytes that belong to no question. */
void session_show(struct pdb_session *session, const char *bytes, size_t length);
/* Passes on the first length bytes of session.raw. */
void session_show_raw(struct pdb_session *session, size_t length);
/* If the unfinished line is a prompt, removes the prompt. */
void session_take_prompt(struct pdb_session *session);
/* Passes on the held output to the output stream. */
void session_release(struct pdb_session *session);
/* Like session_release(), but leaves out the debugger's location lines. */
void session_release_program(struct pdb_session *session);
void session_drop_held(struct pdb_session *session);
/* Notes that an echo of text may come: a terminal may send back its input. */
void session_expect_echo(struct pdb_session *session, const char *text);
/* Returns the number of leading bytes that are an echo of sent text. */
size_t session_skip_echo(struct pdb_session *session, const char *bytes, size_t length);

/* pdb-session-state.c: enters a state whose deadline is `seconds` from now; 0: no deadline. */
void session_enter(struct pdb_session *session, enum pdb_session_state state, double seconds);
/* Sets the deadline of the current state: `seconds` from now. */
void session_limit_state(struct pdb_session *session, double seconds);
/* Has on_quiet() called when no byte has come for `seconds`. */
void session_await_quiet(struct pdb_session *session, double seconds);
/* Handles bytes from the debugger, from which echo and token exchange were removed. */
void session_take_bytes(struct pdb_session *session, const char *bytes, size_t length);

/* pdb-evaluate.c: sends the question about the debugger's state (QUESTION_STATE). */
void session_probe(struct pdb_session *session);
/* Sends that question again, because it may be lost; the first answer may still come. */
void session_probe_again(struct pdb_session *session);
/* Sends the next line of the current question. */
void session_send_question(struct pdb_session *session);
/* In the state ASKED: checks whether the received bytes contain the answer. */
void session_look_for_answer(struct pdb_session *session);
/* In the state ASKED, when nothing has come for a while: checks whether the question was
 * refused. */
void session_look_for_refusal(struct pdb_session *session);
/* In the state ASKED: returns true if a prompt has come since the question, even if output follows
 * the prompt. */
bool session_has_shown_prompt(const struct pdb_session *session);
/* In the state ANSWERED: checks whether the prompt has come; before the prompt, output of other
 * threads may come. */
void session_look_for_prompt(struct pdb_session *session, bool is_quiet);

/* pdb-terminal.c: returns true if the last line that the debugger has read was typed at the
 * prompt. */
bool session_was_typed(const struct pdb_session *session);
/* In the state PROMPT: begins the next order, if there is one. */
void session_pump(struct pdb_session *session);
void session_put_first(struct pdb_session *session, struct order *owned_order);

/* Types all lines of the console that wait for a prompt, because no prompt will come. */
void session_type_all(struct pdb_session *session);

/* pdb-stop.c: to be called when the debugger has answered QUESTION_STATE and so is at its
 * prompt. */
void session_take_stop(struct pdb_session *session, const json_t *answer,
		       struct pdb_stop *owned_stop);

#endif
