/*
 * number-format: what follows the colon in "{loss:.3f}", as Python's format()
 * writes int, float, bool and str with it:
 * [[FILL]<>=^][+- ][#][0][WIDTH][,_][.DIGITS] and one of b d o x X e f g % s.
 */
#ifndef BACKENDS_EXPRESSION_NUMBER_FORMAT_H
#define BACKENDS_EXPRESSION_NUMBER_FORMAT_H

#include <stdbool.h>

struct buffer;
struct error;

struct number_format {
	char kind;  /* 'd' …; '\0': as the value is written */
	char align; /* one of "<>=^"; '\0': none */
	char sign;  /* one of "+- "; '\0': as '-' */
	char group; /* ',' or '_' between digits; '\0': none */
	char fill;
	bool has_prefix; /* # stands there: 0x */
	int width;
	int digits; /* behind the point, of g: of all; -1: as Python does */
};

/* -1 and a sentence. */
int number_format_read(struct number_format *format, const char *text, struct error *error);
/*
 * Appends a value that repr() writes as this text; -1 and a sentence: it is no
 * number or str, or none that can be written so.
 */
int number_format_append(struct buffer *out, const struct number_format *format, const char *value,
			 struct error *error);
/* The same of the text itself, as {x!r:>10}. */
int number_format_append_repr(struct buffer *out, const struct number_format *format,
			      const char *value, struct error *error);
/* Appends the characters of a str that repr() writes as value; -1: none. */
int number_format_append_text(struct buffer *out, const char *value);

#endif
