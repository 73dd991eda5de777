/*
 * inspector: what is asked of the debugger behind a prompt, as lines for that
 * prompt, and its answers. It does no I/O: the owner of the connection sends
 * the lines and shows it what came back.
 *
 * Any class derived from pdb.Pdb will do. A question is a line `p EXPRESSION`
 * whose expression finds the Pdb instance by the frames that evaluate it, puts
 * our inspector (inspector.py, carried in this program) onto that instance
 * where it is not there yet, and answers in one line of ASCII: a marker, a
 * number that only this question has, a length, a checksum, base64 of JSON.
 * Nothing stays in the user's names or modules: it goes away with the
 * instance, or with {"do": "clear"}. What lets the program go on when its
 * client is gone (guard.py) comes with it, and goes with the streams, or with
 * a "clear" that no leaving follows.
 *
 * What comes back is hostile: bounded, checked, and where it was mixed with
 * the output of other threads, asked for again some times.
 *
 * Questions: {"do": "state" | "variables" | "children" | "evaluate" |
 * "breakpoints" | "select" | "source" | "clear", …}; inspector.py says what
 * each takes and answers.
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
	INSPECTOR_WAIT, /* no answer in these bytes yet */
	INSPECTOR_SEND, /* one was there, and inspector_line has the next */
	INSPECTOR_LATE, /* one to a line before: what is behind it counts */
	INSPECTOR_DONE,
	INSPECTOR_FAILED,
};

struct inspector *inspector_new(void);
void inspector_free(struct inspector *inspector);
/* Begins a question, instead of one that had no answer yet. */
void inspector_ask(struct inspector *inspector, json_t *owned_question);
/* Whether a question was begun that has no answer yet. */
bool inspector_is_asking(const struct inspector *inspector);
/*
 * Lends the next line to send to a prompt, newline included, until the next
 * call of any of these; NULL: none now. Each is lent once, and the one after
 * it only when the debugger is at its prompt again.
 */
const char *inspector_line(struct inspector *inspector);
/*
 * Looks for the answer to the line sent last in what came back (raw, with
 * colours and \r\n as they come; the same bytes may be shown again with more
 * behind them). Of every result but INSPECTOR_WAIT, *start to *end are the
 * bytes that the answer takes, with its line's end. *owned_answer is set of
 * INSPECTOR_DONE, error of INSPECTOR_FAILED: the question is over then.
 */
enum inspector_result inspector_take(struct inspector *inspector, const char *bytes, size_t length,
				     size_t *start, size_t *end, json_t **owned_answer,
				     struct error *error);
/*
 * The line sent last was thrown away by a prompt that is none of pdb's, or the
 * instance may be another by now: the question begins anew.
 */
void inspector_again(struct inspector *inspector);
/*
 * A prompt came without an answer before it: the line was refused (an alias
 * of `p`, say), or its answer was lost in other output. The question begins
 * anew in another way, INSPECTOR_SEND; INSPECTOR_FAILED where none is left.
 */
enum inspector_result inspector_refused(struct inspector *inspector, struct error *error);

#endif
