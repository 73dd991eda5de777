/*
 * command-break: the place of a breakpoint as a person types it ("train.py:14", "14" for the
 * selected frame's file, "Net.forward") and the terms after the place: "if CONDITION", "log TEXT".
 */
#ifndef COMMANDS_COMMAND_BREAK_H
#define COMMANDS_COMMAND_BREAK_H

struct arguments;
struct breakpoint;
struct error;
struct session;

#define BREAK_PLACE_TERMS "[if CONDITION] [log TEXT]"

/*
 * Fills path and line, or function, from text; a relative path is completed from the ranks' stacks.
 * -1: *error names the wrong part of text.
 */
int break_place_read(struct breakpoint *breakpoint, const struct session *session, const char *text,
		     struct error *error);
/*
 * Fills condition (as typed) and log (the rest of the line, without quotes) from the words after
 * the place. -1: *error names the word that does not fit.
 */
int break_place_read_terms(struct breakpoint *breakpoint, const struct arguments *arguments,
			   struct error *error);

#endif
