/*
 * pairing: reads what two ranks have in one tensor, wherever they run, and
 * compares it: hashes of blocks of both first, then only the elements of
 * blocks that differ, a part at a time. What is read is bounded; the result
 * says what was not compared.
 */
#ifndef ENGINE_PAIRING_H
#define ENGINE_PAIRING_H

#include <stdbool.h>
#include <stdint.h>

#include "model/tensordiff.h"

struct engine;

/* Of each rank; what differs behind it is not looked at. */
#define PAIRING_BYTES_MAXIMUM (64 << 20)

struct pairing;

struct pairing_question {
	int rank;
	int against;
	const char *expression;
	int row_count; /* the largest grid of counts */
	int column_count;
};

/* More was compared, or it is over: pairing_free() may be called. */
typedef void pairing_moved(struct engine *engine, void *data);

/* Asks for the hashes. It may be over at once: then moved() is not called. */
struct pairing *pairing_new(struct engine *engine, const struct pairing_question *question,
			    pairing_moved *moved, void *data);
/* Answers still to come are dropped. NULL is fine. */
void pairing_free(struct pairing *pairing);
bool pairing_is_over(const struct pairing *pairing);
/* Lends why it failed; NULL: it did not. */
const char *pairing_error(const struct pairing *pairing);
/* Bytes read, and to be read; 0, 0: not known yet. */
void pairing_progress(const struct pairing *pairing, int64_t *done, int64_t *total);
/* Passes out what was found; all zero where it failed. */
void pairing_take(struct pairing *pairing, struct tensordiff *found);

#endif
