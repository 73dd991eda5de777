/*
 * pdbprompt: splits a debugger's output into complete lines, which are the program's output, and
 * the unfinished line at the end, which may be a prompt.
 *
 * Bytes come in pieces of any size and are not trusted. Escape sequences are removed, "\r\n" ends a
 * line, NULs are dropped. Of the unfinished line, the last PDBPROMPT_LINE_MAXIMUM bytes are kept.
 * Does no I/O.
 */
#ifndef BACKENDS_PDB_PDBPROMPT_H
#define BACKENDS_PDB_PDBPROMPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

#define PDBPROMPT_LINE_MAXIMUM (64u << 10)
#define PDBPROMPT_MAXIMUM 256

/* Kind of the unfinished line. */
enum pdbprompt_kind {
	PDBPROMPT_NONE,	   /* empty */
	PDBPROMPT_LEARNED, /* ends in the learned prompt */
	PDBPROMPT_LIKELY,  /* looks like a prompt of pdb: "(Pdb) ", "ipdb> " */
	PDBPROMPT_CONFIRM, /* asks yes or no: "Quit anyway? [y/n] " */
	PDBPROMPT_OTHER,   /* another prompt of Python: ">>> ", "... ", "In [1]: " */
	PDBPROMPT_MAYBE,   /* something else */
};

/* Where in an escape sequence the received bytes end. */
enum pdbprompt_escape {
	ESCAPE_NONE,
	ESCAPE_BEGUN,	    /* ESC */
	ESCAPE_ONE_MORE,    /* ESC ( and the like: one more byte follows */
	ESCAPE_CONTROL,	    /* ESC [ */
	ESCAPE_STRING,	    /* ESC ] and the like: ends with BEL or ESC \ */
	ESCAPE_STRING_ENDS, /* ESC within ESCAPE_STRING */
};

struct pdbprompt {
	struct buffer line; /* the unfinished line, without escape sequences */
	size_t told;	    /* number of bytes of `line` that were output already */
	enum pdbprompt_escape escape;
	size_t escape_length;
	bool has_return; /* the last byte was "\r", so "\n" may follow */
	bool has_passed; /* a complete line contained the learned prompt */
	char learned[PDBPROMPT_MAXIMUM];
};

void pdbprompt_init(struct pdbprompt *prompt);
/* Frees the line, and resets the struct as pdbprompt_init() does. */
void pdbprompt_clear(struct pdbprompt *prompt);
/* Sets the learned prompt to text, cut to PDBPROMPT_MAXIMUM - 1 bytes. */
void pdbprompt_learn(struct pdbprompt *prompt, const char *text);
/* Sets the learned prompt to the unfinished line. */
void pdbprompt_learn_line(struct pdbprompt *prompt);
/* Takes received bytes, and appends the lines that are complete now to out. */
void pdbprompt_feed(struct pdbprompt *prompt, const char *bytes, size_t length, struct buffer *out);
enum pdbprompt_kind pdbprompt_kind(const struct pdbprompt *prompt);
/*
 * Removes the prompt of this kind from the end of the unfinished line, and appends the text before
 * the prompt to out.
 */
void pdbprompt_take(struct pdbprompt *prompt, enum pdbprompt_kind kind, struct buffer *out);
/*
 * Returns true if the learned prompt, followed by other text, has come since the last
 * pdbprompt_take() or pdbprompt_forget_passed(): another thread has printed, or the program has
 * printed text that looks like the prompt.
 */
bool pdbprompt_has_passed(const struct pdbprompt *prompt);
void pdbprompt_forget_passed(struct pdbprompt *prompt);
/* Appends the unfinished line to out, because no more text will come. */
void pdbprompt_flush(struct pdbprompt *prompt, struct buffer *out);

#endif
