/*
 * pywriter: one value on its way to text, as repr() would print it. It knows
 * how long the text may grow, how many objects may still be looked at, and
 * which containers are open, so that a list that holds itself ends.
 */
#ifndef BACKENDS_CPYTHON_PYWRITER_H
#define BACKENDS_CPYTHON_PYWRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct pyreader;

#define PYWRITER_DEPTH 3 /* containers in containers */
#define PYWRITER_CUT "\xe2\x80\xa6"
#define PYWRITER_UNKNOWN "?"

struct pywriter {
	struct pyreader *reader;
	struct buffer *out;
	size_t limit; /* of out's length; a little more may follow */
	int objects;  /* that may still be written */
	int depth;
	uint64_t open[PYWRITER_DEPTH];
};

/* What stands around the items. */
struct pybrackets {
	const char *open;
	const char *close;
	const char *cycle; /* instead of all when already open */
	const char *empty; /* instead of all when there are no items */
};

void pywriter_init(struct pywriter *writer, struct pyreader *reader, struct buffer *out);
void pywriter_text(struct pywriter *writer, const char *text);
/* Bytes that may still be written. */
size_t pywriter_left(const struct pywriter *writer);
/* Writes any object. */
void pywriter_object(struct pywriter *writer, uint64_t address);
/*
 * Opens a container of count items: writes what comes before the first, or
 * all there is to write and returns false (empty, open already, too deep).
 */
bool pywriter_open(struct pywriter *writer, uint64_t address, int64_t count,
		   const struct pybrackets *brackets);
/* Before each item: writes ", " or, when it is enough, "…" and is false. */
bool pywriter_next(struct pywriter *writer, int64_t number);
void pywriter_close(struct pywriter *writer, const struct pybrackets *brackets);

#endif
