/*
 * flight-recorder: the ring of the last collectives, torch's FlightRecorder.hpp.
 *
 * The ring is an array of entries that grows to its maximum and is then overwritten from the start.
 * The program writes while it is read, so the bytes of the entries are fetched first, then
 * everything that they point to, then the bytes again: an entry whose bytes are equal was whole.
 */
#include <stdlib.h>
#include <string.h>

#include "backends/c10d/c10d-layout.h"
#include "backends/c10d/c10d-private.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/pycode.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pywalk.h"
#include "backends/linux/memory.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/json.h"
#include "protocol/collectives.h"
#include "protocol/stack.h"

#define SLOTS_MAXIMUM ((size_t)1 << 20) /* TORCH_FR_BUFFER_SIZE */
#define ROUNDS_MAXIMUM 4		/* reads of an entry that changes meanwhile */
#define TENSORS_MAXIMUM 1024
#define SIZES_MAXIMUM 8192
#define FRAMES_MAXIMUM 512
#define STATUSES_MAXIMUM 4096 /* nodes of the map of groups that are visited */
#define LOCKS_MAXIMUM 3

/* One entry that is being read. */
struct ring_entry {
	struct c10d_reading *reading;
	const struct c10d_layout *layout;
	const uint8_t *bytes;
	uint64_t address;
	struct collective_entry *out;
};

/* Names of c10::ScalarType by number (c10/core/ScalarType.h). */
static const char *const dtype_names[] = {
	"Byte",
	"Char",
	"Short",
	"Int",
	"Long",
	"Half",
	"Float",
	"Double",
	"ComplexHalf",
	"ComplexFloat",
	"ComplexDouble",
	"Bool",
	"QInt8",
	"QUInt8",
	"QInt32",
	"BFloat16",
	"QUInt4x2",
	"QUInt2x4",
	"Bits1x8",
	"Bits2x4",
	"Bits4x2",
	"Bits8",
	"Bits16",
	"Float8_e5m2",
	"Float8_e4m3fn",
	"Float8_e5m2fnuz",
	"Float8_e4m3fnuz",
	"UInt16",
	"UInt32",
	"UInt64",
};

static int64_t signed_word(const struct ring_entry *entry, int offset)
{
	return (int64_t)pyreader_word(entry->bytes, offset);
}

/*
 * The bytes of the ring
 */

void ring_clear(struct ring_copy *ring)
{
	free(ring->bytes);
	*ring = (struct ring_copy){ .address = 0 };
}

/* Fetches the entries from slot `first` on. */
static int fetch_slots(const struct ring_copy *ring, const struct c10d_layout *layout,
		       struct memory *memory, size_t first, size_t count, uint8_t *out)
{
	size_t size = (size_t)layout->entry_size;

	if (count == 0)
		return 0;
	return memory_fetch(memory, ring->entries + first * size, out, count * size);
}

static size_t oldest_slot(const struct ring_copy *ring)
{
	return (ring->next + ring->slot_count - ring->count) % ring->slot_count;
}

static int fetch_entries(const struct ring_copy *ring, const struct c10d_layout *layout,
			 struct memory *memory, uint8_t *out)
{
	size_t first, straight;

	if (ring->count == 0)
		return 0;
	first = oldest_slot(ring);
	straight = ring->slot_count - first;
	if (straight > ring->count)
		straight = ring->count;
	if (fetch_slots(ring, layout, memory, first, straight, out) < 0)
		return -1;
	return fetch_slots(ring, layout, memory, 0, ring->count - straight,
			   out + straight * (size_t)layout->entry_size);
}

/* Checks what must hold for each recorder. */
static int check_recorder(struct ring_copy *ring, const struct c10d_layout *layout,
			  const uint8_t *recorder)
{
	uint64_t maximum = pyreader_word(recorder, layout->recorder_maximum);

	ring->recorded = pyreader_word(recorder, layout->recorder_id);
	ring->next = (size_t)pyreader_word(recorder, layout->recorder_next);
	if (c10d_vector(recorder + layout->recorder_entries, (size_t)layout->entry_size,
			SLOTS_MAXIMUM, &ring->entries, &ring->slot_count) < 0 ||
	    ring->slot_count > maximum || ring->next > ring->slot_count ||
	    ring->recorded < ring->slot_count)
		return -1;
	/* Until the array is full, entries are appended, and next counts them, or (2.9) stays 0. */
	if (ring->slot_count < maximum && ring->next != ring->slot_count && ring->next != 0)
		return -1;
	if (ring->next == ring->slot_count)
		ring->next = 0;
	return 0;
}

/* Checks that neighbours have neighbouring numbers: the size of an entry is right. */
static int check_entries(const struct ring_copy *ring, const struct c10d_layout *layout)
{
	size_t size = (size_t)layout->entry_size;

	for (size_t i = 1; i < ring->count; i++) {
		uint64_t before = pyreader_word(ring->bytes + (i - 1) * size, layout->entry_id);

		if (pyreader_word(ring->bytes + i * size, layout->entry_id) != before + 1)
			return -1;
	}
	return 0;
}

static bool is_locked(const struct c10d_layout *layout, const uint8_t *recorder)
{
	uint32_t lock;

	memcpy(&lock, recorder + layout->recorder_mutex, sizeof(lock));
	return lock != 0;
}

int ring_fetch(struct ring_copy *ring, struct c10d_reading *reading, uint64_t pointer, size_t count)
{
	const struct c10d_layout *layout = reading->layout;
	struct memory *memory = reading->reader.memory;
	uint8_t recorder[C10D_RECORDER_BYTES];
	int tries = 0;

	*ring = (struct ring_copy){ .pointer = pointer };
	if (memory_fetch(memory, pointer, &ring->address, sizeof(ring->address)) < 0)
		return -1;
	if (ring->address == 0)
		return 1;
	do
		if (memory_fetch(memory, ring->address, recorder, (size_t)layout->recorder_size) <
		    0)
			return -1;
	while (is_locked(layout, recorder) && ++tries < LOCKS_MAXIMUM);
	if (recorder[layout->recorder_enabled] == 0)
		return 1;
	if (recorder[layout->recorder_enabled] != 1 || check_recorder(ring, layout, recorder) < 0)
		return -1;
	ring->count = count < ring->slot_count ? count : ring->slot_count;
	ring->bytes = xcalloc(ring->count + 1, (size_t)layout->entry_size);
	if (fetch_entries(ring, layout, memory, ring->bytes) == 0 &&
	    check_entries(ring, layout) == 0)
		return 0;
	ring_clear(ring);
	return -1;
}

/*
 * One entry
 */

static char *read_string(const struct ring_entry *entry, int offset)
{
	struct buffer text = BUFFER_INIT;
	char *copy = NULL;

	if (offset >= 0 &&
	    c10d_string(&entry->reading->reader, entry->layout, entry->bytes + offset,
			entry->address + (uint64_t)offset, &text) == 0)
		copy = xstrdup(text.data);
	buffer_clear(&text);
	return copy;
}

/*
 * Reads a c10::SmallVector<int64_t, N>: {pointer, uint32 size, uint32 capacity, N elements}; the
 * pointer leads to the elements there, unless they are more than N. Returns their number; -1:
 * malformed.
 */
static int read_small_vector(const struct ring_entry *entry, int offset, int64_t *out,
			     size_t maximum)
{
	uint64_t data = pyreader_word(entry->bytes, offset);
	uint32_t size;

	memcpy(&size, entry->bytes + offset + 8, sizeof(size));
	if (size > maximum)
		return -1;
	if (data == entry->address + (uint64_t)offset + 16) {
		if ((size_t)offset + 16 + size * sizeof(*out) > (size_t)entry->layout->entry_size)
			return -1;
		memcpy(out, entry->bytes + offset + 16, size * sizeof(*out));
		return (int)size;
	}
	if (size > 0 && pyreader_read(&entry->reading->reader, data, out, size * sizeof(*out)))
		return -1;
	return (int)size;
}

/* Cuts the sizes of all tensors, from *at on, into shapes. Returns NULL if they are too few. */
static json_t *cut_shapes(const int64_t *dimensions, int count, const int64_t *sizes,
			  int size_count, int *at)
{
	json_t *shapes = json_array();

	for (int i = 0; i < count; i++) {
		if (dimensions[i] < 0 || dimensions[i] > size_count - *at) {
			json_decref(shapes);
			return NULL;
		}
		json_array_append_new(shapes, json_integers(sizes + *at, (size_t)dimensions[i]));
		*at += (int)dimensions[i];
	}
	return shapes;
}

static void read_shapes(const struct ring_entry *entry)
{
	const struct c10d_layout *layout = entry->layout;
	int64_t *numbers = xcalloc(2 * TENSORS_MAXIMUM + SIZES_MAXIMUM, sizeof(*numbers));
	int64_t *outputs = numbers + TENSORS_MAXIMUM;
	int64_t *sizes = outputs + TENSORS_MAXIMUM;
	int input_count =
		read_small_vector(entry, layout->entry_input_dims, numbers, TENSORS_MAXIMUM);
	int output_count =
		read_small_vector(entry, layout->entry_output_dims, outputs, TENSORS_MAXIMUM);
	int size_count = read_small_vector(entry, layout->entry_sizes, sizes, SIZES_MAXIMUM);
	int at = 0;

	if (input_count >= 0 && output_count >= 0 && size_count >= 0) {
		entry->out->input_sizes = cut_shapes(numbers, input_count, sizes, size_count, &at);
		if (entry->out->input_sizes)
			entry->out->output_sizes =
				cut_shapes(outputs, output_count, sizes, size_count, &at);
	}
	free(numbers);
}

static json_t *name_dtype(uint8_t number)
{
	char text[16];

	if (number < ARRAY_LENGTH(dtype_names))
		return json_string(dtype_names[number]);
	snprintf(text, sizeof(text), "dtype %u", number);
	return json_string(text);
}

/* Reads a std::vector<c10::ScalarType>, whose elements are bytes. */
static json_t *read_dtypes(const struct ring_entry *entry, int offset)
{
	uint8_t numbers[TENSORS_MAXIMUM];
	uint64_t address;
	size_t count;
	json_t *names;

	if (c10d_vector(entry->bytes + offset, 1, sizeof(numbers), &address, &count) < 0 ||
	    (count > 0 && pyreader_read(&entry->reading->reader, address, numbers, count)))
		return NULL;
	names = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(names, name_dtype(numbers[i]));
	return names;
}

/* A number that torch counts up from 0; -1, unknown, if it is negative, and so none of torch's. */
static int64_t read_count(const struct ring_entry *entry, int offset)
{
	int64_t count = signed_word(entry, offset);

	return count < 0 ? -1 : count;
}

/* A std::optional<int64_t>: the value, then a flag. */
static int64_t read_optional(const struct ring_entry *entry, int offset)
{
	return entry->bytes[offset + 8] == 1 ? read_count(entry, offset) : -1;
}

/* An entry that names its group shows the number of the group in the ring's backend. */
static void learn_id(const struct ring_entry *entry)
{
	const struct c10d_reading *reading = entry->reading;
	const char *backend =
		entry->out->group >= 0 ? reading->out->groups[entry->out->group].backend : NULL;

	if (backend && reading->backend && strcmp(backend, reading->backend) == 0)
		reading->group_ids[entry->out->group] =
			signed_word(entry, entry->layout->entry_group_id);
}

static void read_entry(struct ring_entry *entry)
{
	const struct c10d_layout *layout = entry->layout;
	struct collective_entry *out = entry->out;
	char *name = read_string(entry, layout->entry_group_name);

	out->id = pyreader_word(entry->bytes, layout->entry_id);
	out->group = process_groups_find(entry->reading, signed_word(entry, layout->entry_group_id),
					 name);
	learn_id(entry);
	free(name);
	out->seq = read_count(entry, layout->entry_seq);
	out->p2p_seq = read_count(entry, layout->entry_p2p_seq);
	out->op_id = read_count(entry, layout->entry_op_id);
	out->operation = read_string(entry, layout->entry_operation);
	out->is_p2p = entry->bytes[layout->entry_is_p2p] == 1;
	out->is_retired = entry->bytes[layout->entry_retired] == 1;
	out->created = read_count(entry, layout->entry_created);
	out->started = read_optional(entry, layout->entry_started);
	out->completed = read_optional(entry, layout->entry_completed);
	out->timeout = read_count(entry, layout->entry_timeout);
	if (layout->entry_thread >= 0)
		out->thread = pyreader_word(entry->bytes, layout->entry_thread);
	out->thread_name = read_string(entry, layout->entry_thread_name);
	out->input_dtypes = read_dtypes(entry, layout->entry_input_dtypes);
	out->output_dtypes = read_dtypes(entry, layout->entry_output_dtypes);
	read_shapes(entry);
}

/*
 * Stacks
 */

/*
 * f_lasti as CapturedTraceback keeps it, the byte offset of the instruction, becomes the position
 * of pycode_line().
 */
static uint64_t position_of(const struct cpython *python, const struct pycode *code, int32_t lasti)
{
	if (python->minor >= 11)
		return code->first_instruction + (uint64_t)lasti;
	return python->minor == 10 ? (uint64_t)lasti / 2 : (uint64_t)lasti;
}

/* Reads the frames of a CapturedTraceback; none if it cannot be read. */
static void read_traceback(struct pywalk *walk, const struct ring_entry *entry)
{
	uint64_t traceback = pyreader_word(entry->bytes, entry->layout->entry_traceback);
	uint8_t bytes[FRAMES_MAXIMUM * 16];
	uint8_t vector[16];
	uint64_t address;
	size_t count;

	if (traceback == 0 ||
	    pyreader_read(&entry->reading->reader,
			  traceback + (uint64_t)entry->layout->traceback_frames, vector,
			  sizeof(vector)) ||
	    c10d_vector(vector, 16, FRAMES_MAXIMUM, &address, &count) < 0 ||
	    (count > 0 && pyreader_read(&entry->reading->reader, address, bytes, count * 16)))
		return;
	walk->frames = xcalloc(count + 1, sizeof(*walk->frames));
	walk->count = count;
	for (size_t i = 0; i < count; i++) {
		int32_t lasti;

		memcpy(&lasti, bytes + i * 16 + 8, sizeof(lasti));
		walk->frames[i].code = pyreader_word(bytes, (long)(i * 16));
		walk->frames[i].position = (uint64_t)(uint32_t)lasti;
	}
}

static const struct stack *name_stack(struct c10d_reading *reading, struct pywalk *walk)
{
	const struct stack *stack;
	bool is_known;

	if (walk->count == 0)
		return NULL;
	for (size_t i = 0; i < walk->count; i++) {
		struct pyframe *frame = &walk->frames[i];
		const struct pycode *code = pycode_find(reading->codes, frame->code);

		if (code)
			frame->position =
				position_of(reading->reader.python, code, (int32_t)frame->position);
	}
	stack = pycode_stack(reading->codes, reading->reader.python, walk, reading->stacks,
			     &is_known);
	return stack_table_copy(reading->out->stacks, stack);
}

/* Sets the stack of each entry from index `first` on; walks: their frames. */
static void name_stacks(struct c10d_reading *reading, struct pywalk *walks, size_t first)
{
	struct collectives *out = reading->out;
	uint64_t *addresses = NULL;
	size_t count = 0, capacity = 0;

	for (size_t i = first; i < out->entry_count; i++)
		for (size_t j = 0; j < walks[i - first].count; j++) {
			ARRAY_GROW(addresses, count, capacity);
			addresses[count++] = walks[i - first].frames[j].code;
		}
	pycode_prepare(reading->codes, addresses, count);
	free(addresses);
	for (size_t i = first; i < out->entry_count; i++)
		out->entries[i].stack = name_stack(reading, &walks[i - first]);
}

/*
 * All entries
 */

/* True for an entry to read: a new one, or one of a call that is open. */
static bool is_picked(const struct ring_copy *ring, const struct c10d_reading *reading, size_t i)
{
	const uint8_t *bytes = ring->bytes + i * (size_t)reading->layout->entry_size;

	return i + reading->newest >= ring->count || bytes[reading->layout->entry_retired] != 1;
}

/* Reads entry i of the copy into the last entry of reading->out. */
static void read_slot(const struct ring_copy *ring, struct c10d_reading *reading, size_t i,
		      struct pywalk *walk)
{
	size_t size = (size_t)reading->layout->entry_size;
	struct ring_entry entry = {
		.reading = reading,
		.layout = reading->layout,
		.bytes = ring->bytes + i * size,
		.address = ring->entries + (oldest_slot(ring) + i) % ring->slot_count * size,
		.out = collectives_add_entry(reading->out),
	};

	read_entry(&entry);
	read_traceback(walk, &entry);
}

/* Whether the bytes from..to of an entry differ. */
static bool differs(const uint8_t *a, const uint8_t *b, int from, int to)
{
	return memcmp(a + from, b + from, (size_t)(to - from)) != 0;
}

/*
 * Whether an entry has been overwritten. What torch changes in a finished entry does not count: its
 * events (behind the traceback), its duration, the times of its start and end, and retired_.
 */
static bool is_overwritten(const struct c10d_layout *layout, const uint8_t *before,
			   const uint8_t *after)
{
	return differs(before, after, 0, layout->entry_traceback + 16) ||
	       differs(before, after, layout->entry_created, layout->entry_is_p2p + 1) ||
	       differs(before, after, layout->entry_input_dims, layout->entry_retired);
}

/* Whether the entries are where they were, and unchanged. */
static bool are_whole(const struct ring_copy *ring, const struct c10d_reading *reading)
{
	const struct c10d_layout *layout = reading->layout;
	size_t size = (size_t)layout->entry_size;
	uint8_t *newer = xcalloc(ring->count + 1, size);
	bool are = fetch_entries(ring, layout, reading->reader.memory, newer) == 0;

	for (size_t i = 0; are && i < ring->count; i++)
		are = !is_picked(ring, reading, i) ||
		      !is_overwritten(layout, ring->bytes + i * size, newer + i * size);
	free(newer);
	return are;
}

static void clear_walks(struct pywalk *walks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		pywalk_clear(&walks[i]);
}

/* Reads the picked entries of the copy. Returns false, and adds none, if some were overwritten. */
static bool read_entries(const struct ring_copy *ring, struct c10d_reading *reading)
{
	struct pywalk *walks = xcalloc(ring->count + 1, sizeof(*walks));
	size_t first = reading->out->entry_count;
	size_t picked = 0;
	bool are;

	for (size_t i = 0; i < ring->count; i++)
		if (is_picked(ring, reading, i))
			read_slot(ring, reading, i, &walks[picked++]);
	are = are_whole(ring, reading);
	if (are)
		name_stacks(reading, walks, first);
	while (!are && reading->out->entry_count > first)
		collectives_drop_entry(reading->out);
	clear_walks(walks, ring->count);
	free(walks);
	return are;
}

/*
 * The status of each group: std::map<size_t, std::shared_ptr<ProcessGroupStatus>>, a tree of
 * {color, parent, left, right, key, pointer}.
 */

static void read_status(struct c10d_reading *reading, int64_t id, uint64_t status)
{
	const struct c10d_layout *layout = reading->layout;
	int i = process_groups_find(reading, id, NULL);
	struct process_group *group = i >= 0 ? &reading->out->groups[i] : NULL;
	uint8_t bytes[24];

	if (!group || pyreader_read(&reading->reader, status, bytes, sizeof(bytes)))
		return;
	group->enqueued = (int64_t)pyreader_word(bytes, layout->status_enqueued);
	group->started = (int64_t)pyreader_word(bytes, layout->status_started);
	group->completed = (int64_t)pyreader_word(bytes, layout->status_completed);
}

static void read_statuses(struct c10d_reading *reading, uint64_t map)
{
	uint64_t stack[64];
	size_t depth = 0;
	uint8_t node[48];

	/* The map's header begins behind the empty comparator: {color, root, …}. */
	if (pyreader_pointer(&reading->reader, map + 16, &stack[0]) == 0 && stack[0])
		depth = 1;
	for (size_t i = 0; depth > 0 && i < STATUSES_MAXIMUM; i++) {
		if (pyreader_read(&reading->reader, stack[--depth], node, sizeof(node)))
			return;
		read_status(reading, (int64_t)pyreader_word(node, 32), pyreader_word(node, 40));
		for (long at = 16; at <= 24; at += 8)
			if (pyreader_word(node, at) && depth < ARRAY_LENGTH(stack))
				stack[depth++] = pyreader_word(node, at);
	}
}

void ring_read(struct ring_copy *ring, struct c10d_reading *reading)
{
	size_t count = ring->count;
	uint64_t pointer = ring->pointer;
	int round = 0;

	/* The program overwrites the oldest entries first: each round reads half as many. */
	while (ring->count > 0 && !read_entries(ring, reading)) {
		count /= 2;
		ring_clear(ring);
		if (++round == ROUNDS_MAXIMUM || ring_fetch(ring, reading, pointer, count) != 0) {
			c10d_miss(reading, "the collectives were overwritten while they were read");
			return;
		}
		memory_begin(reading->reader.memory, true);
	}
	reading->out->recorded += ring->recorded;
	read_statuses(reading, ring->address + (uint64_t)reading->layout->recorder_statuses);
}
