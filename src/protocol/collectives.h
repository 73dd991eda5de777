/*
 * collectives: the process groups of torch.distributed in one process, and the collectives that the
 * process has called last; the answer to the request `collectives`.
 *
 * A process group counts its collectives: equal numbers (`seq`) on two ranks of a group mean the
 * same collective, so a rank whose group has a smaller number has not called what the others wait
 * in. Entries are those of torch's Flight Recorder (FlightRecorder.hpp), a ring of the last calls
 * on all groups.
 */
#ifndef PROTOCOL_COLLECTIVES_H
#define PROTOCOL_COLLECTIVES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct stack;
struct stack_table;

#define COLLECTIVE_GROUPS_MAXIMUM 4096
#define COLLECTIVE_ENTRIES_MAXIMUM 4096
#define COLLECTIVE_GROUP_RANKS_MAXIMUM 65536

/* A process group that this process is a member of. */
struct process_group {
	char *name;	   /* key in torch.distributed's tables, equal on all members: "0" */
	char *description; /* "default_pg"; NULL: unknown */
	char *backend;	   /* "gloo", "nccl"; NULL: unknown */
	int64_t *ranks;	   /* the members' global ranks, by their rank in the group */
	size_t rank_count;
	int rank;	 /* rank of this process in the group; -1: unknown */
	int size;	 /* number of members; 0: unknown */
	bool is_default; /* the group of all ranks, made by init_process_group() */
	/*
	 * Sequence number of the backend: the number of collectives that this process has called
	 * on the group; -1: unknown. Point-to-point calls may count, too.
	 */
	int64_t seq;
	/* Number of the newest collective that was called, has started, has ended; -1: unknown. */
	int64_t enqueued;
	int64_t started;
	int64_t completed;
	int64_t unfinished; /* number of calls that have not ended; -1: unknown */
	char *operation;    /* the oldest call that has not ended: "ALLREDUCE"; NULL: unknown */
};

/* One entry of the Flight Recorder. */
struct collective_entry {
	uint64_t id; /* number of the entry in the process, from 0 */
	int group;   /* index into groups; -1: the process has no such group any more */
	int64_t seq; /* number of the collective in its group, from 1; 0: only point-to-point calls
		      * so far */
	int64_t p2p_seq; /* number of point-to-point calls in the group so far */
	int64_t op_id;	 /* number of the operation in the group: several may be coalesced into one
			  * collective */
	char *operation; /* "gloo:all_reduce" */
	bool is_p2p;
	bool is_retired;	   /* torch no longer tracks the call: it has ended */
	int64_t created;	   /* time of the call, nanoseconds since 1970 */
	int64_t started;	   /* nanoseconds since 1970; -1: unknown, always so for gloo */
	int64_t completed;	   /* nanoseconds since 1970; -1: unknown, always so for gloo */
	int64_t timeout;	   /* milliseconds */
	json_t *input_sizes;	   /* shapes of the tensors: [[128, 3]]; NULL: unknown */
	json_t *input_dtypes;	   /* "Float" (c10::ScalarType) for each tensor; NULL: unknown */
	json_t *output_sizes;	   /* like input_sizes */
	json_t *output_dtypes;	   /* like input_dtypes */
	uint64_t thread;	   /* pthread_t of the calling thread; 0: unknown */
	char *thread_name;	   /* NULL: unknown */
	const struct stack *stack; /* Python stack of the call, owned by stacks; NULL: unknown */
};

struct collectives {
	char *version; /* of torch; NULL: torch is not imported, or (a dump) unknown */
	struct process_group *groups;
	size_t group_count;
	size_t group_capacity;
	struct collective_entry *entries; /* oldest first */
	size_t entry_count;
	size_t entry_capacity;
	uint64_t recorded; /* number of entries ever recorded; the ring keeps the last ones */
	char *missing;	   /* why entries or numbers are missing; NULL: none are */
	struct stack_table *stacks; /* stacks of the entries; NULL: none */
};

#define COLLECTIVES_INIT { .version = NULL }

/* Frees the members; the struct is then empty and usable. */
void collectives_clear(struct collectives *collectives);
/* Append a group, and an entry, with unknown members; the results are borrowed until the next. */
struct process_group *collectives_add_group(struct collectives *collectives);
struct collective_entry *collectives_add_entry(struct collectives *collectives);
/* Removes the last entry. */
void collectives_drop_entry(struct collectives *collectives);
/*
 * Sets the shapes and types of an entry's tensors, all NULL before, from the members "input_sizes"
 * to "output_dtypes" of json: messages and torch's dumps have the same. The entry shares
 * these arrays with json. Returns 0; -1 and *error.
 */
int collective_entry_read_tensors(struct collective_entry *entry, const json_t *json,
				  struct error *error);
/* Returns the default group; NULL: none. */
const struct process_group *collectives_default_group(const struct collectives *collectives);
/*
 * Returns a new reference, with the newest entries, at most as many (SIZE_MAX: all), and all of
 * their stacks.
 */
json_t *collectives_to_json(const struct collectives *collectives, size_t newest);
/* Reads json into *collectives, which is cleared first. Returns 0; -1 and *error. */
int collectives_from_json(struct collectives *collectives, const json_t *json, struct error *error);

#endif
