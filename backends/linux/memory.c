#include "backends/linux/memory.h"

#include <errno.h>
#include <limits.h>
#include <sys/uio.h>

#include "banned.h"

#include "base/alloc.h"
#include "base/array.h"

#define BLOCK_BYTES 512u
#define BLOCKS_MAXIMUM (64u * 1024 * 1024 / BLOCK_BYTES) /* blocks of a snapshot: 64 MB */
#define PARTS_AT_ONCE 1024				 /* IOV_MAX */
#define NO_BLOCK UINT32_MAX
/*
 * WORK_MAXIMUM: budget of a snapshot, some 0.1 s. A block that is read costs 1, a block that is
 * copied again costs 1, and a system call costs CALL_WORK in addition.
 */
#define WORK_MAXIMUM 4000000u
#define CALL_WORK 32u
/* Budget of memory_begin_short(), some 0.2 ms. */
#define SHORT_WORK 4096u
#define SHORT_BLOCKS 1024u
#define SHORT_CALLS 16u
/* Budget of memory_begin_held(), some 0.3 ms. */
#define HELD_WORK 12000u
#define HELD_BLOCKS 2048u
#define HELD_CALLS 64u
/*
 * A block is prefetched in each stand (a snapshot while a thread is stopped at a trap, see
 * memory_begin_stand()) until AHEAD_STANDS stands in a row have not used the block.
 */
#define AHEAD_STANDS 8
/* Maximum number of blocks that are prefetched in a stand. */
#define AHEAD_BLOCKS 128u
#define PAGE_BYTES 4096u

struct block {
	uint64_t number;
	uint32_t group;
	bool is_used;	/* read in this snapshot */
	uint8_t unused; /* number of stands since the block was used */
	bool has[2];	/* the block was read into copy 0 and copy 1, respectively */
};

/*
 * Block i is at byte i * BLOCK_BYTES of each copy. Prefetched blocks are sorted, so that blocks
 * that are neighbours in the process are neighbours in the copy, and are read as one part.
 */
struct memory {
	pid_t pid;
	int copy;
	uint32_t group;
	uint64_t calls;
	uint64_t work; /* work done in this snapshot */
	uint64_t work_end;
	uint64_t calls_end;
	bool is_cut;	   /* a read was refused because the budget was spent */
	bool is_standing;  /* from memory_begin_stand() to memory_end_stand() */
	bool is_ahead_due; /* the blocks of the stand are to be prefetched by the next
			    * memory_fetch_parts() */
	int failure;	   /* see memory_take_failure() */
	struct block *blocks;
	size_t block_count;
	size_t block_capacity;
	uint8_t *copies[2];
	uint32_t *slots; /* hash table from block number to index in blocks; NO_BLOCK: empty */
	size_t slot_count;
	struct memory_part *parts;
	size_t part_capacity;
};

struct memory *memory_new(pid_t pid)
{
	struct memory *memory = xcalloc(1, sizeof(*memory));

	memory->pid = pid;
	return memory;
}

void memory_free(struct memory *memory)
{
	if (!memory)
		return;
	free(memory->parts);
	free(memory->slots);
	free(memory->copies[1]);
	free(memory->copies[0]);
	free(memory->blocks);
	free(memory);
}

pid_t memory_pid(const struct memory *memory)
{
	return memory->pid;
}

uint64_t memory_calls(const struct memory *memory)
{
	return memory->calls;
}

void memory_note_failure(struct memory *memory, int number)
{
	if (memory->failure == 0 && number != EFAULT)
		memory->failure = number;
}

int memory_take_failure(struct memory *memory)
{
	int failure = memory->failure;

	memory->failure = 0;
	return failure;
}

/* Reads count parts, at most PARTS_AT_ONCE, with one system call. */
static ssize_t memory_read_some(struct memory *memory, struct memory_part *parts, size_t count)
{
	struct iovec local[PARTS_AT_ONCE];
	struct iovec remote[PARTS_AT_ONCE];
	ssize_t got;

	for (size_t i = 0; i < count; i++) {
		local[i].iov_base = parts[i].out;
		local[i].iov_len = parts[i].length;
		remote[i].iov_base = (void *)(uintptr_t)parts[i].address;
		remote[i].iov_len = parts[i].length;
	}
	memory->calls++;
	got = process_vm_readv(memory->pid, local, count, remote, count, 0);
	if (got < 0)
		memory_note_failure(memory, errno);
	return got;
}

/*
 * Reads all parts. The kernel stops at the first unreadable page: the next call continues with the
 * part after that.
 */
static void fetch_parts(struct memory *memory, struct memory_part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		parts[i].done = 0;
	for (size_t first = 0; first < count;) {
		size_t some = count - first;
		if (some > PARTS_AT_ONCE)
			some = PARTS_AT_ONCE;
		ssize_t got = memory_read_some(memory, parts + first, some);
		if (got < 0 && errno != EFAULT)
			return;
		size_t left = got < 0 ? 0 : (size_t)got;
		size_t end = first + some;
		while (first < end && left >= parts[first].length) {
			parts[first].done = parts[first].length;
			left -= parts[first++].length;
		}
		if (first < end)
			parts[first++].done = left;
	}
}

int memory_fetch(struct memory *memory, uint64_t address, void *out, size_t length)
{
	struct memory_part part = { address, out, length, 0 };

	ssize_t got = memory_read_some(memory, &part, 1);
	if (got < 0)
		return -1;
	if ((size_t)got == length)
		return 0;
	errno = EFAULT;
	return -1;
}

size_t memory_fetch_run(struct memory *memory, uint64_t address, void *out, size_t length)
{
	struct memory_part parts[PARTS_AT_ONCE / 4];
	size_t count = 0;
	ssize_t got;

	for (size_t at = 0; at < length && count < ARRAY_LENGTH(parts);) {
		size_t some = PAGE_BYTES - (address + at) % PAGE_BYTES;
		if (some > length - at)
			some = length - at;
		parts[count++] = (struct memory_part){
			.address = address + at,
			.out = (uint8_t *)out + at,
			.length = some,
		};
		at += some;
	}
	got = memory_read_some(memory, parts, count);
	return got < 0 ? 0 : (size_t)got;
}

static size_t slot_of(const struct memory *memory, uint64_t number)
{
	size_t slot = (number * 0x9e3779b97f4a7c15u) >> 32;

	for (;; slot++) {
		uint32_t index = memory->slots[slot & (memory->slot_count - 1)];
		if (index == NO_BLOCK || memory->blocks[index].number == number)
			return slot & (memory->slot_count - 1);
	}
}

static void forget_slots(struct memory *memory)
{
	if (memory->slots)
		memset(memory->slots, 0xff, memory->slot_count * sizeof(*memory->slots));
}

static void make_room(struct memory *memory)
{
	if (memory->block_count < memory->block_capacity)
		return;
	ARRAY_GROW(memory->blocks, memory->block_count, memory->block_capacity);
	for (int i = 0; i < 2; i++)
		memory->copies[i] =
			xrealloc(memory->copies[i], memory->block_capacity * BLOCK_BYTES);
	memory->slot_count = 64;
	while (memory->slot_count < memory->block_capacity * 2)
		memory->slot_count *= 2;
	memory->slots = xrealloc(memory->slots, memory->slot_count * sizeof(uint32_t));
	forget_slots(memory);
	for (size_t i = 0; i < memory->block_count; i++)
		memory->slots[slot_of(memory, memory->blocks[i].number)] = (uint32_t)i;
}

/* Returns the index of a block, which is added if it is missing; NO_BLOCK: too many blocks. */
static uint32_t block_index(struct memory *memory, uint64_t number)
{
	if (memory->slots) {
		uint32_t index = memory->slots[slot_of(memory, number)];
		if (index != NO_BLOCK)
			return index;
	}
	if (memory->block_count >= BLOCKS_MAXIMUM)
		return NO_BLOCK;
	make_room(memory);
	uint32_t index = (uint32_t)memory->block_count++;
	memory->blocks[index] = (struct block){ .number = number };
	memory->slots[slot_of(memory, number)] = index;
	return index;
}

/*
 * Adds parts that read blocks into a copy: all blocks, or (only_group) those of the newest group.
 * Neighbouring blocks become one part.
 */
static size_t add_parts(struct memory *memory, int copy, bool only_group, size_t count)
{
	size_t last = SIZE_MAX;

	for (size_t i = 0; i < memory->block_count; i++) {
		const struct block *block = &memory->blocks[i];
		if (only_group && block->group != memory->group)
			continue;
		if (last != SIZE_MAX && last + 1 == i &&
		    memory->blocks[last].number + 1 == block->number) {
			memory->parts[count - 1].length += BLOCK_BYTES;
		} else {
			ARRAY_GROW(memory->parts, count, memory->part_capacity);
			memory->parts[count++] = (struct memory_part){
				.address = block->number * BLOCK_BYTES,
				.out = memory->copies[copy] + i * BLOCK_BYTES,
				.length = BLOCK_BYTES,
			};
		}
		last = i;
	}
	return count;
}

static void note_parts(struct memory *memory, int copy, size_t first, size_t count)
{
	for (size_t i = first; i < count; i++) {
		const struct memory_part *part = &memory->parts[i];
		size_t at = (size_t)((uint8_t *)part->out - memory->copies[copy]);
		for (size_t j = 0; j < part->length; j += BLOCK_BYTES)
			memory->blocks[(at + j) / BLOCK_BYTES].has[copy] =
				j + BLOCK_BYTES <= part->done;
	}
}

/* Fetches all blocks of copy 0 before any block of copy 1, even if this takes several calls. */
static void fetch_copies(struct memory *memory, bool only_group, int copies)
{
	size_t middle = add_parts(memory, 0, only_group, 0);
	size_t count = copies > 1 ? add_parts(memory, 1, only_group, middle) : middle;
	int failure = memory->failure;

	fetch_parts(memory, memory->parts, count);
	memory->failure = failure;
	memory->work += CALL_WORK;
	for (size_t i = 0; i < count; i++)
		memory->work += memory->parts[i].length / BLOCK_BYTES;
	note_parts(memory, 0, 0, middle);
	note_parts(memory, 1, middle, count);
}

/* Fetches the parts, then prefetches the blocks of the stand, in the same system calls. */
static void fetch_with_ahead(struct memory *memory, const struct memory_part *parts, size_t count)
{
	size_t middle = 0;
	size_t end;

	memory->is_ahead_due = false;
	while (middle < count) {
		ARRAY_GROW(memory->parts, middle, memory->part_capacity);
		memory->parts[middle] = parts[middle];
		middle++;
	}
	end = add_parts(memory, 0, false, middle);
	fetch_parts(memory, memory->parts, end);
	note_parts(memory, 0, middle, end);
}

void memory_fetch_parts(struct memory *memory, struct memory_part *parts, size_t count)
{
	if (!memory->is_ahead_due) {
		fetch_parts(memory, parts, count);
		return;
	}
	fetch_with_ahead(memory, parts, count);
	for (size_t i = 0; i < count; i++)
		parts[i].done = memory->parts[i].done;
}

static int compare_blocks(const void *a, const void *b)
{
	uint64_t left = ((const struct block *)a)->number;
	uint64_t right = ((const struct block *)b)->number;

	return left < right ? -1 : left > right;
}

static void begin(struct memory *memory, bool prefetch, int copies)
{
	size_t wanted = 0;

	for (size_t i = 0; prefetch && i < memory->block_count; i++)
		if (memory->blocks[i].is_used)
			memory->blocks[wanted++] = (struct block){
				.number = memory->blocks[i].number,
			};
	memory->is_standing = false;
	memory->is_ahead_due = false;
	memory->block_count = wanted;
	memory->copy = 0;
	memory->group = 0;
	memory->work = 0;
	memory->is_cut = false;
	forget_slots(memory);
	if (!wanted)
		return;
	qsort(memory->blocks, wanted, sizeof(*memory->blocks), compare_blocks);
	for (size_t i = 0; i < wanted; i++)
		memory->slots[slot_of(memory, memory->blocks[i].number)] = (uint32_t)i;
	fetch_copies(memory, false, copies);
}

void memory_begin(struct memory *memory, bool prefetch)
{
	memory->work_end = WORK_MAXIMUM;
	memory->calls_end = UINT64_MAX;
	begin(memory, prefetch, 2);
}

void memory_begin_short(struct memory *memory)
{
	memory->work_end = SHORT_WORK;
	begin(memory, memory->block_count <= SHORT_BLOCKS, 1);
	memory->calls_end = memory->calls + SHORT_CALLS;
}

void memory_begin_held(struct memory *memory, bool is_bounded)
{
	memory->work_end = is_bounded ? HELD_WORK : WORK_MAXIMUM;
	memory->calls_end = UINT64_MAX;
	begin(memory, memory->block_count <= HELD_BLOCKS, 1);
	if (is_bounded)
		memory->calls_end = memory->calls + HELD_CALLS;
	/* The work of prefetching is not part of the budget. */
	memory->work = 0;
}

static bool are_sorted(const struct memory *memory)
{
	for (size_t i = 1; i < memory->block_count; i++)
		if (memory->blocks[i].number < memory->blocks[i - 1].number)
			return false;
	return true;
}

/* Keeps the first count blocks, and sorts them by address, so that neighbours become one part. */
static void sort_blocks(struct memory *memory, size_t count)
{
	memory->block_count = count;
	forget_slots(memory);
	if (!are_sorted(memory))
		qsort(memory->blocks, count, sizeof(*memory->blocks), compare_blocks);
	for (size_t i = 0; i < count; i++)
		memory->slots[slot_of(memory, memory->blocks[i].number)] = (uint32_t)i;
}

void memory_begin_stand(struct memory *memory)
{
	size_t kept = 0;

	for (size_t i = 0; i < memory->block_count; i++) {
		const struct block *block = &memory->blocks[i];
		unsigned unused = block->is_used ? 0 : block->unused + 1u;

		if (block->has[0] && unused <= AHEAD_STANDS && kept < AHEAD_BLOCKS)
			memory->blocks[kept++] = (struct block){
				.number = block->number,
				.unused = (uint8_t)unused,
			};
	}
	memory->is_standing = true;
	memory->is_ahead_due = kept > 0;
	memory->copy = 0;
	memory->group = 0;
	memory->work_end = WORK_MAXIMUM;
	memory->calls_end = UINT64_MAX;
	memory_renew(memory);
	if (kept > 0 || memory->block_count > 0)
		sort_blocks(memory, kept);
}

void memory_end_stand(struct memory *memory)
{
	memory->is_standing = false;
	memory->is_ahead_due = false;
}

bool memory_is_standing(const struct memory *memory)
{
	return memory->is_standing;
}

void memory_renew(struct memory *memory)
{
	memory->work = 0;
	memory->is_cut = false;
}

bool memory_was_cut(const struct memory *memory)
{
	return memory->is_cut;
}

void memory_group(struct memory *memory)
{
	memory->group++;
}

void memory_again(struct memory *memory)
{
	if (memory->work <= memory->work_end)
		fetch_copies(memory, true, 2);
}

void memory_use(struct memory *memory, int copy)
{
	memory->copy = copy;
}

int memory_look(struct memory *memory, uint64_t address, void *out, size_t length)
{
	return memory->is_standing ? memory_read(memory, address, out, length)
				   : memory_fetch(memory, address, out, length);
}

static bool may_call(const struct memory *memory)
{
	return memory->calls < memory->calls_end;
}

static int read_block(struct memory *memory, uint64_t number, size_t offset, void *out,
		      size_t length)
{
	uint32_t index;

	if (memory->is_ahead_due)
		fetch_with_ahead(memory, NULL, 0);
	if (++memory->work > memory->work_end) {
		memory->is_cut = true;
		errno = EFAULT;
		return -1;
	}
	index = block_index(memory, number);
	if (index == NO_BLOCK) {
		memory->work += CALL_WORK;
		return memory_fetch(memory, number * BLOCK_BYTES + offset, out, length);
	}
	uint8_t *bytes = memory->copies[memory->copy] + (size_t)index * BLOCK_BYTES;
	struct block *block = &memory->blocks[index];
	if (!block->has[memory->copy]) {
		if (!may_call(memory)) {
			memory->is_cut = true;
			errno = EFAULT;
			return -1;
		}
		memory->work += CALL_WORK;
		if (memory_fetch(memory, number * BLOCK_BYTES, bytes, BLOCK_BYTES) < 0)
			return -1;
		block->has[memory->copy] = true;
	}
	block->is_used = true;
	block->group = memory->group;
	memcpy(out, bytes + offset, length);
	return 0;
}

int memory_read(struct memory *memory, uint64_t address, void *out, size_t length)
{
	uint8_t *to = out;

	if (address > UINT64_MAX - length) {
		errno = EFAULT;
		return -1;
	}
	while (length > 0) {
		size_t offset = address % BLOCK_BYTES;
		size_t some = BLOCK_BYTES - offset;
		if (some > length)
			some = length;
		if (read_block(memory, address / BLOCK_BYTES, offset, to, some) < 0)
			return -1;
		to += some;
		address += some;
		length -= some;
	}
	return 0;
}

int memory_read_u64(struct memory *memory, uint64_t address, uint64_t *out)
{
	return memory_read(memory, address, out, sizeof(*out));
}

int memory_read_u32(struct memory *memory, uint64_t address, uint32_t *out)
{
	return memory_read(memory, address, out, sizeof(*out));
}

int memory_read_u8(struct memory *memory, uint64_t address, uint8_t *out)
{
	return memory_read(memory, address, out, sizeof(*out));
}
