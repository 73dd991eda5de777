/*
 * scan-work: what is wanted of a tensor's elements, done in pieces by the loop's
 * threads while the node serves others. It reads by process_vm_readv(2) of its
 * own, in memory of at most some MB, never all elements at once.
 *
 * The process runs on meanwhile, or stands: this is not known here, and
 * nothing is checked against the tensor's object: who asked does that when
 * done() is called.
 */
#ifndef BACKENDS_TENSOR_SCAN_WORK_H
#define BACKENDS_TENSOR_SCAN_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "protocol/tensor.h"
#include "protocol/tensorslice.h"

struct loop;
struct node;
struct tensor_layout;
struct tensor_query;
struct tensor_work;

/* error is set: nothing else is there. */
struct tensor_result {
	/* Only statistics, share, histogram, hash and blocks are filled in. */
	struct tensor told;
	struct tensor_slice slice; /* numbers: NULL without a query for one */
	int64_t found;		   /* a flat index; -1: none */
	uint8_t *data;		   /* NULL: none was wanted */
	size_t data_length;
	struct error error;
};

struct tensor_work_calls {
	/*
	 * Once, from the loop, never from within tensor_work_begin() or
	 * tensor_work_cancel(). The result is lent: what is taken out of it is
	 * replaced by NULL. The work is gone afterwards.
	 */
	void (*done)(struct tensor_result *result, void *data);
	/* Bytes, some times a second; NULL: not wanted. */
	void (*progress)(int64_t done, int64_t total, void *data);
	void *data;
};

/*
 * Layout and query are copied. A layout or query that makes no sense is told by
 * done(), as all failures are. Several may be begun at once: they take turns.
 */
struct tensor_work *tensor_work_start(struct loop *loop, const struct tensor_layout *layout,
				      const struct tensor_query *query,
				      const struct tensor_work_calls *calls);
/* The same with `progress` events, titled "tensor", when it takes long. */
struct tensor_work *tensor_work_begin(struct node *node, const struct tensor_layout *layout,
				      const struct tensor_query *query,
				      void (*done)(struct tensor_result *result, void *data),
				      void *data);
/* done() is called soon, with an error; not for what has ended. */
void tensor_work_cancel(struct tensor_work *work);
/*
 * The same, but done() is not called: what it would be given to is gone.
 */
void tensor_work_forget(struct tensor_work *work);
/* Of what was taken out of a result, or of one made elsewhere. */
void tensor_result_clear(struct tensor_result *result);

#endif
