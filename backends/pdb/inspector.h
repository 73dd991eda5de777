/*
 * inspector: the questions to the debugger behind a prompt, as lines for the prompt, and the parser
 * of the answers. No I/O: the owner of the connection sends the lines and passes the received
 * bytes.
 *
 * Any class derived from pdb.Pdb works. A question is a line `p EXPRESSION`. The expression finds
 * the Pdb instance in the frames that evaluate it, installs inspector.py (embedded in this program)
 * as an attribute of the instance if it is missing, and prints one line of ASCII: a marker, a
 * number unique to the question, length, checksum, and JSON as base64. No name or module of the
 * user is changed; the attribute vanishes with the instance or with {"do": "clear"}. guard.py,
 * which resumes the program when its client has disconnected, is installed with it, and vanishes
 * with the streams, or with a "clear" after which the client stays.
 *
 * Received bytes are hostile: bounded and checked. A question whose answer is mixed with output of
 * other threads is sent again a few times.
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

#define INSPECTOR_LINE_MAXIMUM 4000		   /* bytes of a line, newline included */
#define INSPECTOR_ANSWER_MAXIMUM (8 * 1024 * 1024) /* bytes of an answer */

enum inspector_result {
	INSPECTOR_WAIT, /* the bytes have no answer yet */
	INSPECTOR_SEND, /* the line was answered; inspector_line() has the next line */
	INSPECTOR_LATE, /* the bytes have the answer to an earlier line: parse the bytes after it */
	INSPECTOR_DONE,
	INSPECTOR_FAILED,
};

struct inspector *inspector_new(void);
void inspector_free(struct inspector *inspector);
/* Starts a question; an unanswered question is dropped. */
void inspector_ask(struct inspector *inspector, json_t *owned_question);
/* Returns true if a question has no answer yet. */
bool inspector_is_asking(const struct inspector *inspector);
/*
 * Returns the next line for the prompt, with its newline (borrowed until the next call of any
 * inspector function); NULL: none. Each line is returned once. Send it only when the debugger is at
 * its prompt again.
 */
const char *inspector_line(struct inspector *inspector);
/*
 * Searches the received bytes (raw, with colours and \r\n) for the answer to the last line. The
 * same bytes may be passed again with more bytes behind them. Except for INSPECTOR_WAIT, *start to
 * *end are the bytes of the answer with its newline. INSPECTOR_DONE sets *owned_answer,
 * INSPECTOR_FAILED sets *error; both end the question.
 */
enum inspector_result inspector_take(struct inspector *inspector, const char *bytes, size_t length,
				     size_t *start, size_t *end, json_t **owned_answer,
				     struct error *error);
/*
 * Starts the question anew: another prompt than pdb's has read the last line, or the Pdb instance
 * may have changed.
 */
void inspector_again(struct inspector *inspector);
/*
 * A prompt came without an answer: the line was refused (`p` is an alias, for example), or its
 * answer was lost in other output. Starts the question anew with another print command and returns
 * INSPECTOR_SEND; INSPECTOR_FAILED: no command is left.
 */
enum inspector_result inspector_refused(struct inspector *inspector, struct error *error);

#endif
