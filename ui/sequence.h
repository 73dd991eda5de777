/*
 * sequence: a filter for untrusted bytes on their way to a terminal emulator, which is a large
 * parser (ECMA-48 and the common private modes of xterm, ctlseqs). Only text, line ends, tabs, and
 * sequences that move the cursor, erase, scroll, colour or query pass the filter; a sequence has at
 * most sixteen numbers of at most four digits. Strings for the terminal itself (titles, clipboards,
 * pictures) and other character sets are dropped; other control characters become ^X, invalid UTF-8
 * becomes <ff>.
 */
#ifndef UI_SEQUENCE_H
#define UI_SEQUENCE_H

#include <stddef.h>

struct buffer;

#define SEQUENCE_BYTES 64

enum sequence_state {
	SEQUENCE_TEXT,
	SEQUENCE_ESCAPE,	/* after ESC */
	SEQUENCE_INTERMEDIATE,	/* after ESC and an intermediate byte */
	SEQUENCE_CONTROL,	/* after ESC [ */
	SEQUENCE_STRING,	/* inside a string for the terminal, which is dropped */
	SEQUENCE_STRING_ESCAPE, /* after ESC inside a string */
};

/* The filter's state between calls; all zero at first. */
struct sequence {
	enum sequence_state state;
	char bytes[SEQUENCE_BYTES]; /* bytes of an incomplete control sequence or character */
	size_t length;
	size_t skipped; /* number of dropped bytes of the string */
	int combined;	/* number of combining characters on the last character */
};

/* Appends the bytes that may pass; line ends become CR LF. */
void sequence_pass(struct sequence *sequence, struct buffer *out, const char *bytes, size_t length);

#endif
