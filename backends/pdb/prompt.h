/*
 * prompt: what a debugger writes to its client, taken apart into what the
 * program prints and the unfinished line behind it, which may be a prompt.
 *
 * Bytes come in pieces of any size, from anybody. Escape sequences are taken
 * out, "\r\n" is a line's end, NULs are dropped. The unfinished line is kept to
 * PROMPT_LINE_MAXIMUM bytes: of a longer one the end. Does no I/O.
 */
#ifndef BACKENDS_PDB_PROMPT_H
#define BACKENDS_PDB_PROMPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

#define PROMPT_LINE_MAXIMUM (64u << 10)
#define PROMPT_MAXIMUM 256

/* What the unfinished line may be. */
enum prompt_kind {
	PROMPT_NONE,	/* it is empty */
	PROMPT_LEARNED, /* it ends in the prompt that was learned */
	PROMPT_LIKELY,	/* it looks like a pdb's: "(Pdb) ", "ipdb> " */
	PROMPT_CONFIRM, /* it wants a yes or no: "Quit anyway? [y/n] " */
	PROMPT_OTHER,	/* it is one of Python's: ">>> ", "... ", "In [1]: " */
	PROMPT_MAYBE,	/* something else */
};

/* Where in an escape sequence the bytes ended. */
enum prompt_escape {
	ESCAPE_NONE,
	ESCAPE_BEGUN,	    /* ESC */
	ESCAPE_ONE_MORE,    /* ESC ( and the like: one byte follows */
	ESCAPE_CONTROL,	    /* ESC [ */
	ESCAPE_STRING,	    /* ESC ] and the like: up to BEL or ESC \ */
	ESCAPE_STRING_ENDS, /* ESC within one */
};

struct prompt {
	struct buffer line; /* without escape sequences */
	size_t told;	    /* bytes of it that went out already */
	enum prompt_escape escape;
	size_t escape_length;
	bool has_return; /* a "\r" came last: "\n" may follow */
	bool has_passed; /* a line that has ended had the prompt in it */
	char learned[PROMPT_MAXIMUM];
};

void prompt_init(struct prompt *prompt);
/* Frees the line; it is as after prompt_init. */
void prompt_clear(struct prompt *prompt);
/* What the prompt is; cut where it is too long to be one. */
void prompt_learn(struct prompt *prompt, const char *text);
/* The unfinished line is the prompt. */
void prompt_learn_line(struct prompt *prompt);
/* Appends the lines that have ended to out. */
void prompt_feed(struct prompt *prompt, const char *bytes, size_t length,
		 struct buffer *out);
enum prompt_kind prompt_kind(const struct prompt *prompt);
/*
 * The unfinished line ends in a prompt (of this kind): that is dropped, and
 * what is before it goes to out.
 */
void prompt_take(struct prompt *prompt, enum prompt_kind kind,
		 struct buffer *out);
/*
 * Since the last prompt that was taken, or prompt_forget_passed, the learned
 * one came with something behind it: what another thread printed, or text of
 * the program that looks like a prompt.
 */
bool prompt_has_passed(const struct prompt *prompt);
void prompt_forget_passed(struct prompt *prompt);
/* What there is of the unfinished line goes to out now: nothing follows. */
void prompt_flush(struct prompt *prompt, struct buffer *out);

#endif
