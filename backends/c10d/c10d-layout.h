/*
 * c10d-layout: byte offsets of the members of the C++ objects of c10d, the library of
 * torch.distributed, by torch version and by the ABI of libstdc++ (c10d-layout.inc, made by
 * c10d-gen.py of the headers in torch's wheels).
 */
#ifndef BACKENDS_C10D_C10D_LAYOUT_H
#define BACKENDS_C10D_C10D_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct pyreader;

/* Offsets and sizes in bytes; -1: this version has no such member. */
struct c10d_layout {
	int first, last; /* first and last version with this layout: 2013 is 2.13 */
	int string_size; /* sizeof(std::string): 32, or 8 with the ABI before C++11 */
	/* In a FlightRecorder. */
	int recorder_size, recorder_enabled, recorder_mutex, recorder_entries, recorder_maximum,
		recorder_next, recorder_id, recorder_statuses;
	/* In a FlightRecorder::Entry. */
	int entry_size, entry_id, entry_group_id, entry_group_name, entry_description, entry_seq,
		entry_p2p_seq, entry_op_id, entry_operation, entry_traceback, entry_created,
		entry_timeout, entry_is_p2p, entry_started, entry_completed, entry_input_dims,
		entry_input_dtypes, entry_output_dims, entry_output_dtypes, entry_sizes,
		entry_thread, entry_thread_name, entry_retired;
	int traceback_frames; /* in a CapturedTraceback: vector of {PyCodeObject *, int lasti} */
	int status_enqueued, status_started, status_completed;	       /* in a ProcessGroupStatus */
	int group_rank, group_size, group_description, group_backends; /* in a ProcessGroup */
	int wrapper_backend; /* in a ProcessGroupWrapper: the backend that it checks */
	int gloo_queue, gloo_running, gloo_seq, gloo_id; /* in a ProcessGroupGloo */
	int work_operation;				 /* in a Work: OpType */
	int work_seq;					 /* in a ProcessGroupGloo::AsyncWork */
};

#define C10D_ENTRY_BYTES 512	/* the largest entry_size */
#define C10D_RECORDER_BYTES 288 /* the largest recorder_size */

/*
 * Returns the layout of a torch version (2013 is 2.13); NULL: the version is not in the table.
 * has_old_strings: the library has the ABI before C++11.
 */
const struct c10d_layout *c10d_layout_find(int version, bool has_old_strings);
/* Appends the first and the last version in the table: "2.6 to 2.14". */
void c10d_layout_append_versions(struct buffer *out);

/*
 * c10d_string: std::string and std::vector in a process. Both return 0, or -1 if the object is
 * unreadable or malformed.
 */

/*
 * Appends a std::string's characters, at most 4096. bytes: the object, which was read from
 * address.
 */
int c10d_string(struct pyreader *reader, const struct c10d_layout *layout, const uint8_t *bytes,
		uint64_t address, struct buffer *out);
/*
 * Gets the elements' address and number of the std::vector in bytes; fails if there are more than
 * maximum.
 */
int c10d_vector(const uint8_t *bytes, size_t element_size, size_t maximum, uint64_t *address,
		size_t *count);

#endif
