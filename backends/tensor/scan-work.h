/*
 * scan-work: runs a query on a tensor's elements, in pieces on the loop's threads, while the node
 * serves other requests. The threads read with process_vm_readv(2) into some MB of memory, never
 * all elements at once.
 *
 * The process may run meanwhile. This module does not check whether the tensor's object has
 * changed: the caller checks that when done() is called.
 */
#ifndef BACKENDS_TENSOR_SCAN_WORK_H
#define BACKENDS_TENSOR_SCAN_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "protocol/tensor.h"

struct loop;
struct node;
struct tensor_layout;
struct tensor_query;
struct tensor_work;

/* If error is set, the other members are empty. */
struct tensor_result {
	/* Only statistics, share, histogram, hash and blocks are filled in. */
	struct tensor told;
	struct tensor_slice slice; /* slice.numbers is NULL unless the query has a slice */
	int64_t found;		   /* flat index of the found element; -1: none */
	uint8_t *data;		   /* NULL: the query has no data */
	size_t data_length;
	struct error error;
};

struct tensor_work_calls {
	/*
	 * Called once, from the loop, never within tensor_work_begin() or tensor_work_cancel(). The
	 * result is borrowed: done() may take members out by replacing them by NULL. The work is
	 * freed afterwards.
	 */
	void (*done)(struct tensor_result *result, void *data);
	/* Called some times per second with the number of bytes read so far and in all. NULL: not
	 * called. */
	void (*progress)(int64_t done, int64_t total, void *data);
	void *data;
};

/*
 * Starts a query; layout and query are copied. All failures, even an invalid layout or query, are
 * reported by done(). Several works that were started take turns.
 */
struct tensor_work *tensor_work_start(struct loop *loop, const struct tensor_layout *layout,
				      const struct tensor_query *query,
				      const struct tensor_work_calls *calls);
/*
 * Like tensor_work_start(); sends `progress` events with the title "tensor" if the work takes
 * long.
 */
struct tensor_work *tensor_work_begin(struct node *node, const struct tensor_layout *layout,
				      const struct tensor_query *query,
				      void (*done)(struct tensor_result *result, void *data),
				      void *data);
/* Cancels the work: done() will be called soon, with an error. Must not be called after done(). */
void tensor_work_cancel(struct tensor_work *work);
/*
 * Like tensor_work_cancel(), but done() is not called; for a caller that frees the callback's data.
 */
void tensor_work_forget(struct tensor_work *work);
/* Frees the members of a result: one into which the caller has moved members, or one that the
 * caller has made. */
void tensor_result_clear(struct tensor_result *result);

#endif
