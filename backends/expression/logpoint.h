/*
 * logpoint: a text that a breakpoint logs instead of stopping, with the values of {expressions}
 * (pyexpression.h): {x:.3f} with a format (number-format.h), {x!r} by repr(), {x=} with the
 * expression's text before the value; {{ and }} are braces.
 */
#ifndef BACKENDS_EXPRESSION_LOGPOINT_H
#define BACKENDS_EXPRESSION_LOGPOINT_H

struct buffer;
struct error;
struct logpoint;
struct pyobject_frame;
struct pyreader;

/* Parses the text. NULL: *error is set. */
struct logpoint *logpoint_parse(const char *text, struct error *error);
void logpoint_free(struct logpoint *logpoint);
/* Appends one line; for a value that cannot be read, <the reason>. */
void logpoint_say(const struct logpoint *logpoint, struct pyreader *reader,
		  const struct pyobject_frame *frame, struct buffer *out);

#endif
