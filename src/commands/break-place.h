/*
 * break-place: where a rank is to stop, as a person says it: "train.py:14",
 * "14" of the file looked at, "Net.forward", and what stands behind that: "if
 * CONDITION", "log TEXT".
 */
#ifndef COMMANDS_BREAK_PLACE_H
#define COMMANDS_BREAK_PLACE_H

struct arguments;
struct breakpoint;
struct error;
struct session;

#define BREAK_PLACE_TERMS "[if CONDITION] [log TEXT]"

/* Fills path and line, or function; files are found as the ranks know them. */
int break_place_read(struct breakpoint *breakpoint, const struct session *session, const char *text,
		     struct error *error);
/*
 * Fills condition and log from the words behind the place. The condition is as
 * it was typed; the text goes to the end of the line, without its quotes.
 */
int break_place_read_terms(struct breakpoint *breakpoint, const struct arguments *arguments,
			   struct error *error);

#endif
