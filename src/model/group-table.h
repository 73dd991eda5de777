/*
 * group-table: the process groups of torch.distributed, each with all of its members that were
 * read. A process tells only its own part of a group (protocol/collectives.h); the table joins the
 * parts of the session's ranks.
 *
 * Two processes name the same group if its name and its list of ranks are equal: disjoint groups
 * of one DeviceMesh dimension have one name. All pointers are borrowed from the session until it
 * changes.
 */
#ifndef MODEL_GROUP_TABLE_H
#define MODEL_GROUP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/rankset.h"

struct buffer;
struct collective_entry;
struct collectives;
struct map;
struct process_group;
struct rank;
struct session;

struct group_member {
	const struct rank *rank;
	const struct process_group *group; /* the rank's part of the group */
	/*
	 * Number of the newest collective that the rank has called; -1: unknown. Calls between two
	 * ranks do not count, so equal numbers mean the same collective.
	 */
	int64_t newest;
};

struct group_row {
	const struct process_group *group; /* the part of the first member that was read */
	struct group_member *members;	   /* by rising rank; only ranks that were read */
	size_t count, capacity;
	struct rankset ranks; /* all members; empty: unknown */
	int64_t newest;	      /* the largest of the members; -1: unknown */
	int64_t oldest;	      /* the smallest of the members; -1: unknown */
};

struct group_table {
	struct group_row *rows; /* the default group first, then by name */
	size_t count, capacity;
	struct map *by_part; /* rows by the address of a rank's part; NULL: empty */
};

/* Fills *table (uninitialised); clear it afterwards. */
void group_table_make(struct group_table *table, const struct session *session);
void group_table_clear(struct group_table *table);
/*
 * Finds the first row whose group has the name (group_has_name()), of those that the rank is in
 * (NULL: of all); NULL: none. Disjoint groups may have one name.
 */
const struct group_row *group_table_find(const struct group_table *table, const char *name,
					 const struct rank *rank);
/* The row of a rank's part of a group; NULL: none. */
const struct group_row *group_table_row(const struct group_table *table,
					const struct process_group *group);
/*
 * The entry of the member's collective number seq, by its Flight Recorder; NULL: it is not in the
 * ring any more, or not in the answer. Of several calls that were coalesced into one collective it
 * is the first.
 */
const struct collective_entry *group_member_entry(const struct group_member *member, int64_t seq);
/* The member's oldest collective that has not ended; NULL: none is known. */
const struct collective_entry *group_member_open(const struct group_member *member);
/* Returns the member with this number, borrowed; NULL: it was not read. */
const struct rank *group_row_rank(const struct group_row *row, int number);
/* True if a member is behind, or if members have made different calls as one collective. */
bool group_row_is_uneven(const struct group_row *row);
/* The members that have called fewer collectives than some other member. Clear the result. */
struct rankset group_row_behind(const struct group_row *row);

/* Members that have made the same call. */
struct call_class {
	const struct collective_entry *call; /* of the first member */
	struct rankset ranks;
};

struct call_classes {
	struct call_class *items; /* most ranks first */
	size_t count, capacity;
	bool has_majority; /* the first has more than half of the group's members */
};

/*
 * Fills *classes (uninitialised) with the calls that members have made as the collective seq, by
 * their Flight Recorders; more than one class is an error of the program. Clear it afterwards.
 */
void call_classes_make(struct call_classes *classes, const struct group_row *row, int64_t seq);
void call_classes_clear(struct call_classes *classes);
/*
 * Returns the smallest number of a collective as which members have made different calls, of those
 * that are still in the answers; -1: there is none.
 */
int64_t group_row_mismatch(const struct group_row *row);

/*
 * True if the group's sequence number counts the call: a collective of the backend that the group
 * names. A group for CPU and GPU tensors has two backends, which count on their own.
 */
bool collective_is_counted(const struct collectives *collectives,
			   const struct collective_entry *entry);

/* collective_call: what one collective is called with, for people and for comparison. */

/* True if the call has completed, or if torch no longer tracks it. */
bool collective_call_has_ended(const struct collective_entry *entry);
/* The name of the operation without the backend's: "all_reduce". Borrowed. */
const char *collective_call_name(const struct collective_entry *entry);
/* The arguments of the operation that no Flight Recorder has: "src"; NULL: all are there. */
const char *collective_call_unrecorded(const struct collective_entry *call);
/*
 * True if two ranks' calls of one collective fit together: the same operation and, for operations
 * that demand it of all members (all_reduce, broadcast, reduce …), the same element types and
 * numbers of elements. Shapes may differ.
 */
bool collective_calls_match(const struct collective_entry *a, const struct collective_entry *b);
/* Appends "all_reduce [128, 3] Float", sizes and types only if known. */
void collective_call_append(struct buffer *out, const struct collective_entry *entry);
/* True for a group's description ("tp"), its name in torch's tables ("1"), and "group 1". */
bool group_has_name(const struct process_group *group, const char *name);
/* Appends "default_pg", else "group 0". */
void group_append_name(struct buffer *out, const struct process_group *group);

#endif
