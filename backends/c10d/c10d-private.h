/*
 * c10d-private: the declarations that the files of c10d share: process-groups.c reads the process
 * groups, flight-recorder.c the entries, c10d.c calls both.
 */
#ifndef BACKENDS_C10D_C10D_PRIVATE_H
#define BACKENDS_C10D_C10D_PRIVATE_H

#include "backends/c10d/c10d.h"

#include <stdbool.h>

#include "backends/c10d/c10d-library.h"
#include "backends/cpython/pyobject.h"
#include "base/buffer.h"

struct c10d_layout;
struct pycode_cache;
struct stack_table;

/* One read of a process. */
struct c10d_reading {
	struct pyreader reader;
	uint64_t interpreter;
	const struct c10d_layout *layout;
	const struct c10d_libraries *libraries;
	struct pycode_cache *codes;
	struct stack_table *stacks; /* of codes */
	struct collectives *out;
	size_t newest; /* number of a ring's newest entries; of older ones only open calls are read
			*/
	/*
	 * For each group of out: the number by which entries of the ring of its backend name it,
	 * Entry::pg_id_; -1: unknown. NCCL and gloo number their groups on their own.
	 */
	int64_t *group_ids;
	size_t group_id_capacity;
	const char *backend;   /* of the ring that is read: "gloo", "nccl" */
	struct buffer missing; /* sentences for out->missing */
};

/* Appends a sentence to reading->missing. */
__attribute__((format(printf, 2, 3))) void c10d_miss(struct c10d_reading *reading,
						     const char *format, ...);

/* True if the process has imported torch.distributed, with which process groups are made. */
bool process_groups_are_imported(struct c10d_reading *reading);
/*
 * Adds the process groups that torch.distributed has registered, and sets reading->group_ids.
 * Groups that have been destroyed are not registered.
 */
void process_groups_read(struct c10d_reading *reading);
/*
 * Returns the index of the group with the number id in reading->backend or, if the group's number
 * is unknown, the name; -1: none.
 */
int process_groups_find(const struct c10d_reading *reading, int64_t id, const char *name);

/* The bytes of the last entries of one Flight Recorder, as fetched at one time. */
struct ring_copy {
	uint64_t pointer;  /* address of the variable that points to the recorder */
	uint64_t address;  /* of the recorder */
	uint64_t recorded; /* number of entries ever recorded */
	uint64_t entries;  /* address of the array of entries */
	size_t slot_count; /* entries in the array */
	size_t next;	   /* slot of the next entry */
	size_t count;	   /* number of entries in bytes */
	uint8_t *bytes;	   /* the last entries, oldest first */
};

/*
 * Fetches the last `count` entries of the recorder to which the variable at pointer points. Returns
 * 0; 1: the program has not made the recorder, or has turned it off; -1: no recorder of this
 * layout.
 */
int ring_fetch(struct ring_copy *ring, struct c10d_reading *reading, uint64_t pointer,
	       size_t count);
void ring_clear(struct ring_copy *ring);
/*
 * Adds the fetched entries to reading->out, of those before the newest only open calls, and what
 * the recorder says of each group. If entries are overwritten meanwhile, fetches and reads again, a
 * limited number of times. To be called after process_groups_read(), within a snapshot of memory
 * that was begun after ring_fetch().
 */
void ring_read(struct ring_copy *ring, struct c10d_reading *reading);

#endif
