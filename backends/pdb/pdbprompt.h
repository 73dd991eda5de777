/*
 * pdbprompt: what a debugger writes to its client, taken apart into what the
 * program prints and the unfinished line behind it, which may be a prompt.
 *
 * Bytes come in pieces of any size, from anybody. Escape sequences are taken
 * out, "\r\n" is a line's end, NULs are dropped. The unfinished line is kept to
 * PDBPROMPT_LINE_MAXIMUM bytes: of a longer one the end. Does no I/O.
 */
#ifndef BACKENDS_PDB_PDBPROMPT_H
#define BACKENDS_PDB_PDBPROMPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

#define PDBPROMPT_LINE_MAXIMUM (64u << 10)
#define PDBPROMPT_MAXIMUM 256

/* What the unfinished line may be. */
enum pdbprompt_kind {
	PDBPROMPT_NONE,	   /* it is empty */
	PDBPROMPT_LEARNED, /* it ends in the prompt that was learned */
	PDBPROMPT_LIKELY,  /* it looks like a pdb's: "(Pdb) ", "ipdb> " */
	PDBPROMPT_CONFIRM, /* it wants a yes or no: "Quit anyway? [y/n] " */
	PDBPROMPT_OTHER,   /* it is one of Python's: ">>> ", "... ", "In [1]: " */
	PDBPROMPT_MAYBE,   /* something else */
};

/* Where in an escape sequence the bytes ended. */
enum pdbprompt_escape {
	ESCAPE_NONE,
	ESCAPE_BEGUN,	    /* ESC */
	ESCAPE_ONE_MORE,    /* ESC ( and the like: one byte follows */
	ESCAPE_CONTROL,	    /* ESC [ */
	ESCAPE_STRING,	    /* ESC ] and the like: up to BEL or ESC \ */
	ESCAPE_STRING_ENDS, /* ESC within one */
};

struct pdbprompt {
	struct buffer line; /* without escape sequences */
	size_t told;	    /* bytes of it that went out already */
	enum pdbprompt_escape escape;
	size_t escape_length;
	bool has_return; /* a "\r" came last: "\n" may follow */
	bool has_passed; /* a line that has ended had the prompt in it */
	char learned[PDBPROMPT_MAXIMUM];
};

void pdbprompt_init(struct pdbprompt *prompt);
/* Frees the line; it is as after pdbprompt_init. */
void pdbprompt_clear(struct pdbprompt *prompt);
/* What the prompt is; cut where it is too long to be one. */
void pdbprompt_learn(struct pdbprompt *prompt, const char *text);
/* The unfinished line is the prompt. */
void pdbprompt_learn_line(struct pdbprompt *prompt);
/* Appends the lines that have ended to out. */
void pdbprompt_feed(struct pdbprompt *prompt, const char *bytes, size_t length, struct buffer *out);
enum pdbprompt_kind pdbprompt_kind(const struct pdbprompt *prompt);
/*
 * The unfinished line ends in a prompt (of this kind): that is dropped, and
 * what is before it goes to out.
 */
void pdbprompt_take(struct pdbprompt *prompt, enum pdbprompt_kind kind, struct buffer *out);
/*
 * Since the last prompt that was taken, or pdbprompt_forget_passed, the learned
 * one came with something behind it: what another thread printed, or text of
 * the program that looks like a prompt.
 */
bool pdbprompt_has_passed(const struct pdbprompt *prompt);
void pdbprompt_forget_passed(struct pdbprompt *prompt);
/* What there is of the unfinished line goes to out now: nothing follows. */
void pdbprompt_flush(struct pdbprompt *prompt, struct buffer *out);

#endif
