/*
 * logpoint: a text that a breakpoint logs instead of stopping, with the values of {expressions}
 * (pyexpression.h): {x:.3f} uses a format (number-format.h), {x!r} uses repr(), {x=} writes the
 * expression's text before the value; {{ and }} stand for braces.
 */
#ifndef BACKENDS_EXPRESSION_LOGPOINT_H
#define BACKENDS_EXPRESSION_LOGPOINT_H

struct buffer;
struct error;
struct logpoint;
struct pyobject_frame;
struct pyreader;

/* Parses the text. Returns NULL and sets error on failure. */
struct logpoint *logpoint_parse(const char *text, struct error *error);
void logpoint_free(struct logpoint *logpoint);
/* Appends the text with its values as one line; a value that cannot be read is replaced by <the
 * reason>. */
void logpoint_say(const struct logpoint *logpoint, struct pyreader *reader,
		  const struct pyobject_frame *frame, struct buffer *out);

#endif
