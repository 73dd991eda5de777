/*
 * logpoint: text that a breakpoint says instead of stopping, with {expressions}
 * filled in (pyexpression.h), as {x:.3f} in a format (number-format.h), as
 * {x!r} by repr(), as {x=} behind their own text; {{ and }} are braces.
 */
#ifndef BACKENDS_EXPRESSION_LOGPOINT_H
#define BACKENDS_EXPRESSION_LOGPOINT_H

struct buffer;
struct error;
struct logpoint;
struct pyobject_frame;
struct pyreader;

/* NULL and a sentence. */
struct logpoint *logpoint_parse(const char *text, struct error *error);
void logpoint_free(struct logpoint *logpoint);
/* Appends one line; what cannot be told stands there as <why>. */
void logpoint_say(const struct logpoint *logpoint, struct pyreader *reader,
		  const struct pyobject_frame *frame, struct buffer *out);

#endif
