/*
 * number-format: the format after the colon in "{loss:.3f}". int, float, bool and str are formatted
 * as by Python's format(): [[FILL]<>=^][+- ][#][0][WIDTH][,_][.DIGITS] and one of b d o x X e f g %
 * s.
 */
#ifndef BACKENDS_EXPRESSION_NUMBER_FORMAT_H
#define BACKENDS_EXPRESSION_NUMBER_FORMAT_H

#include <stdbool.h>

struct buffer;
struct error;

struct number_format {
	char kind;  /* one of "bdoxXefg%s"; '\0': the default for the value's type */
	char align; /* one of "<>=^"; '\0': none */
	char sign;  /* one of "+- "; '\0': like '-' */
	char group; /* ',' or '_' between digits; '\0': none */
	char fill;
	bool has_prefix; /* the format has a '#': prefix 0b, 0o or 0x */
	int width;
	int digits; /* precision, as in Python; -1: the default for kind */
};

/* Parses the format in text. Returns 0, or -1 and sets error. */
int number_format_read(struct number_format *format, const char *text, struct error *error);
/*
 * Appends the formatted number or str whose repr() is `value`. Returns 0, or -1 and sets error if
 * it is neither a number nor a str, or the format does not fit its type.
 */
int number_format_append(struct buffer *out, const struct number_format *format, const char *value,
			 struct error *error);
/* Like number_format_append(), but formats the repr itself, as in {x!r:>10}. */
int number_format_append_repr(struct buffer *out, const struct number_format *format,
			      const char *value, struct error *error);
/* Appends the characters of the str whose repr() is `value`. Returns -1 if `value` is not the repr
 * of a str. */
int number_format_append_text(struct buffer *out, const char *value);

#endif
