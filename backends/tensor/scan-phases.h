/*
 * scan-phases: what is wanted of a tensor's elements, as one thing after the other:
 * single elements (slice, data), a scan for statistics and hashes, one for the
 * histogram, whose bounds the first one finds, and one for an element that is
 * sought. scan-work.c lets threads do them.
 */
#ifndef BACKENDS_TENSOR_SCAN_PHASES_H
#define BACKENDS_TENSOR_SCAN_PHASES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "backends/cpython/tensor-layout.h"
#include "backends/tensor/scan-query.h"
#include "backends/tensor/scan-ranges.h"
#include "backends/tensor/scan-work.h"
#include "backends/tensor/scan.h"

enum phase {
	PHASE_PLACES,
	PHASE_SCAN,
	PHASE_HISTOGRAM,
	PHASE_FIND,
	PHASE_END,
};

struct scan_phases {
	struct tensor_layout layout;
	struct tensor_query query;
	struct tensor_result result;
	enum phase phase;
	const struct kernel *kernel;
	/* Of the phase. */
	struct scan scan;
	struct scan_ranges ranges; /* none: of single elements */
	bool is_sorted;		   /* not in the order of indices */
	bool is_ordered;	   /* no scan may be sorted: one failed */
	atomic_bool stop;
	atomic_llong done; /* bytes */
};

/* Copies both. -1 and a sentence: they do not go together. */
int scan_phases_init(struct scan_phases *phases, const struct tensor_layout *layout,
		     const struct tensor_query *query, struct error *error);
void scan_phases_clear(struct scan_phases *phases);
/* Bytes that all phases read. */
int64_t scan_phases_total(const struct scan_phases *phases);
/* Advances to the next that has something to do; PHASE_END: there is none. */
enum phase scan_phases_next(struct scan_phases *phases);
/* Reads the single elements; on a thread. */
int scan_phases_read_places(struct scan_phases *phases, struct error *error);
/* All parts of a scan are done: puts them together. */
void scan_phases_fold(struct scan_phases *phases);
/*
 * A part has failed. True: the scan is to be done again, in the order of
 * indices (only so it can be told which element it was).
 */
bool scan_phases_again(struct scan_phases *phases);
/* Whether no part that was not begun yet is needed. */
bool scan_phases_is_found(const struct scan_phases *phases);

#endif
