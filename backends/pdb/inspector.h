/*
 * inspector: questions to a debugger that waits at its prompt: makes the lines to type at the
 * prompt, and parses the answers. Does no I/O: the owner of the connection sends the lines and
 * passes on the received bytes.
 *
 * Any class derived from pdb.Pdb works. A question is a line `p EXPRESSION`. The expression finds
 * the Pdb instance in the frames that evaluate it, installs inspector.py (embedded in this program)
 * as an attribute of the instance if it is missing, and prints one line of ASCII: a marker, a
 * number unique to the question, length, checksum, and JSON as base64. No name or module of the
 * user is changed; the attribute disappears with the instance or by {"do": "clear"}. guard.py,
 * which resumes the program when the client has disconnected, is installed at the same time; it
 * disappears with the debugger's streams, or by a "clear" after which the client stays connected.
 *
 * Received bytes are not trusted: they are bounded and checked. A question whose answer is mixed
 * with output of other threads is sent again a few times.
 *
 * Questions: {"do": "state" | "variables" | "children" | "evaluate" | "breakpoints" | "select" |
 * "source" | "clear", …}; inspector.py documents their arguments and answers.
 */
#ifndef BACKENDS_PDB_INSPECTOR_H
#define BACKENDS_PDB_INSPECTOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct error;
struct inspector;

#define INSPECTOR_LINE_MAXIMUM 4000		   /* bytes of a line, with its newline */
#define INSPECTOR_ANSWER_MAXIMUM (8 * 1024 * 1024) /* bytes of an answer */

enum inspector_result {
	INSPECTOR_WAIT, /* the bytes have no answer yet */
	INSPECTOR_SEND, /* the line was answered; inspector_line() returns the next line */
	INSPECTOR_LATE, /* the bytes contain the answer to an earlier line: call again with the
			 * bytes after that */
	INSPECTOR_DONE,
	INSPECTOR_FAILED,
};

struct inspector *inspector_new(void);
void inspector_free(struct inspector *inspector);
/* Starts a question; drops an earlier question that is not answered yet. */
void inspector_ask(struct inspector *inspector, json_t *owned_question);
/* Returns true if a question has no answer yet. */
bool inspector_is_asking(const struct inspector *inspector);
/*
 * Returns the next line for the prompt, with its newline (borrowed until the next call of any
 * inspector function); NULL: none. Each line is returned once, and may be sent only when the
 * debugger is at its prompt again.
 */
const char *inspector_line(struct inspector *inspector);
/*
 * Searches the received bytes (raw, with colours and \r\n) for the answer to the last line. After
 * INSPECTOR_WAIT the caller passes the same bytes again, with more bytes behind them. With every
 * other result, sets *start and *end to the begin and end of the answer, with its newline.
 * INSPECTOR_DONE sets *owned_answer, INSPECTOR_FAILED sets *error; both end the question.
 */
enum inspector_result inspector_take(struct inspector *inspector, const char *bytes, size_t length,
				     size_t *start, size_t *end, json_t **owned_answer,
				     struct error *error);
/*
 * Restarts the question, because another prompt than pdb's has read the last line, or the Pdb
 * instance may have changed.
 */
void inspector_again(struct inspector *inspector);
/*
 * To be called when a prompt has come without an answer: the line was refused (`p` is an alias, for
 * example), or its answer was lost in other output. Restarts the question with another print
 * command and returns INSPECTOR_SEND; returns INSPECTOR_FAILED if no command is left.
 */
enum inspector_result inspector_refused(struct inspector *inspector, struct error *error);

#endif
