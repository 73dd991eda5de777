/*
 * sequence: what of a stranger's bytes a terminal is told (ECMA-48 and the
 * common private modes of xterm, ctlseqs). A terminal emulator is a large
 * parser, and these bytes are anybody's: only text, line ends, tabs and
 * sequences that move the cursor, erase, scroll, colour and ask pass, with
 * numbers of at most four digits and at most sixteen of them. Strings for the
 * terminal itself (titles, clipboards, pictures) and other character sets are
 * left out; what else controls is shown as ^X, what is no UTF-8 as <ff>.
 */
#ifndef UI_SEQUENCE_H
#define UI_SEQUENCE_H

#include <stddef.h>

struct buffer;

#define SEQUENCE_BYTES 64

enum sequence_state {
	SEQUENCE_TEXT,
	SEQUENCE_ESCAPE,       /* behind ESC */
	SEQUENCE_INTERMEDIATE, /* behind ESC and an intermediate byte */
	SEQUENCE_CONTROL,      /* behind ESC [ */
	SEQUENCE_STRING,       /* left out up to its end */
	SEQUENCE_STRING_ESCAPE,
};

/* Where the bytes before ended. All zero is the beginning. */
struct sequence {
	enum sequence_state state;
	char bytes[SEQUENCE_BYTES]; /* of a control sequence, or a character
				     * that is not whole */
	size_t length;
	size_t skipped; /* bytes of the string */
	int combined;	/* characters on top of the last one */
};

/* Appends what passes of the bytes, line ends as CR LF. */
void sequence_pass(struct sequence *sequence, struct buffer *out, const char *bytes, size_t length);

#endif
