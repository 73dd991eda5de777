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

/* Asks for the hashes; lends nothing. A grid of at most so many cells. */
struct pairing *pairing_new(struct engine *engine, int rank, int against, const char *expression,
			    int row_count, int column_count);
/* Answers still to come are dropped. NULL frees nothing. */
void pairing_free(struct pairing *pairing, struct engine *engine);
/*
 * Takes what has come and asks for more; at each turn of the loop. True: it is
 * over.
 */
bool pairing_turn(struct pairing *pairing, struct engine *engine);
bool pairing_is_over(const struct pairing *pairing);
/* Lends why it failed; NULL: it did not. */
const char *pairing_error(const struct pairing *pairing);
/* Bytes read, and to be read; 0, 0: not known yet. */
void pairing_progress(const struct pairing *pairing, int64_t *done, int64_t *total);
/* Passes out what was found; all zero where it failed. */
void pairing_take(struct pairing *pairing, struct tensordiff *found);

#endif
