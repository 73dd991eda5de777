/*
 * breakplace: where a rank is to stop, as a person says it: "train.py:14",
 * "14" of the file looked at, "Net.forward", and what stands behind that: "if
 * CONDITION", "log TEXT".
 */
#ifndef ENGINE_BREAKPLACE_H
#define ENGINE_BREAKPLACE_H

struct breakpoint;
struct command_context;
struct error;
struct session;

#define BREAKPLACE_TERMS "[if CONDITION] [log TEXT]"

/* Fills path and line, or function; files are found as the ranks know them. */
int breakplace_read(struct breakpoint *breakpoint, const struct session *session, const char *text,
		    struct error *error);
/*
 * Fills condition and log from the words from argv[2] on. The condition is as
 * it was typed; the text goes to the end of the line, without its quotes.
 */
int breakplace_read_terms(struct breakpoint *breakpoint, const struct command_context *context,
			  int argc, char **argv, struct error *error);

#endif
