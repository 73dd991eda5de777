/*
 * numberformat: what follows the colon in "{loss:.3f}": [+][0][WIDTH][.DIGITS]
 * and one of d f e g x, as Python writes numbers with it.
 */
#ifndef BACKENDS_CONTROL_NUMBERFORMAT_H
#define BACKENDS_CONTROL_NUMBERFORMAT_H

#include <stdbool.h>

struct buffer;
struct error;

struct numberformat {
	char kind; /* 'd' …; '\0': only the width counts */
	bool has_sign; /* + stands there, too */
	bool has_zeros; /* the width is filled with them */
	int width;
	int digits; /* behind the point, of g: of all; -1: as Python does */
};

/* -1 and a sentence. */
int numberformat_read(struct numberformat *format, const char *text,
		      struct error *error);
/* Appends a value that is shown as this text; -1 and a sentence: it is no
 * number, or none that can be written so. */
int numberformat_append(struct buffer *out, const struct numberformat *format,
			const char *value, struct error *error);

#endif
