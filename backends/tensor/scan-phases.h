/*
 * scan-phases: divides a query into phases: single elements (slice, data), a scan for statistics
 * and hashes, a scan for the histogram, whose bounds are the statistics' minimum and maximum, and a
 * scan that finds an element. scan-work.c runs the phases on threads.
 */
#ifndef BACKENDS_TENSOR_SCAN_PHASES_H
#define BACKENDS_TENSOR_SCAN_PHASES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "backends/cpython/tensor-layout.h"
#include "backends/tensor/scan-query.h"
#include "backends/tensor/scan-work.h"
#include "backends/tensor/scan.h"

struct scan;
struct scan_ranges;
struct tensor;

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
	/* State of the current phase. */
	struct scan scan;
	struct scan_ranges ranges; /* empty in PHASE_PLACES */
	bool is_sorted;		   /* the phase scans in the order of memory, not of indices */
	bool is_ordered;	   /* a sorted scan failed: later scans use the order of indices */
	atomic_bool stop;
	atomic_llong done; /* bytes read */
};

/* Copies layout and query. Returns 0, or -1 and sets error if the query does not fit the layout. */
int scan_phases_init(struct scan_phases *phases, const struct tensor_layout *layout,
		     const struct tensor_query *query, struct error *error);
void scan_phases_clear(struct scan_phases *phases);
/* Returns the number of bytes that all phases together read. */
int64_t scan_phases_total(const struct scan_phases *phases);
/* Advances to the first phase that the query needs, the current phase included, and returns it;
 * PHASE_END: none. */
enum phase scan_phases_next(struct scan_phases *phases);
/* Reads slice and data. Called on another thread than the loop's. Returns 0, or -1 and sets
 * error. */
int scan_phases_read_places(struct scan_phases *phases, struct error *error);
/* Merges the results of all parts of a finished scan. */
void scan_phases_fold(struct scan_phases *phases);
/*
 * To be called after a part has failed. Returns true if the caller must scan again, in the order of
 * indices: only then does the error name the first unreadable element.
 */
bool scan_phases_again(struct scan_phases *phases);
/* Whether the element is already found, so that the parts that have not begun are not needed. */
bool scan_phases_is_found(const struct scan_phases *phases);

/*
 * fold: merges the results of a scan's parts, in the order of the parts, into the answer for the
 * tensor.
 */

/* Sets the statistics of *told, and the share of the element_count elements that was read. */
void fold_statistics(const struct scan *scan, const struct scan_ranges *ranges,
		     int64_t element_count, struct tensor *told);
/* Sets the hash of all elements in *told, and, if block_count is not 0, the hash of each block. */
void fold_hashes(const struct scan *scan, const struct scan_ranges *ranges, int64_t element_count,
		 int block_count, struct tensor *told);
/* Returns the flat index of the element that was found; -1: none. */
int64_t fold_find(const struct scan *scan, const struct scan_ranges *ranges);

#endif
