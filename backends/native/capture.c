#include "backends/native/capture.h"

#include <sys/uio.h>

#include "banned.h"

#include "backends/linux/memory.h"
#include "base/alloc.h"
#include "base/array.h"

/* Bytes below the stack pointer that a leaf function may use (System V ABI). */
#define RED_ZONE 128u
/* FNV-1a, 64 bits, by words: http://www.isthe.com/chongo/tech/comp/fnv/ */
#define HASH_START 0xcbf29ce484222325u
#define HASH_PRIME 0x100000001b3u

void capture_clear(struct capture *capture)
{
	free(capture->stack);
	free(capture->python);
	free(capture->frames);
	*capture = (struct capture){ .tid = 0 };
}

void capture_set_clear(struct capture_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		capture_clear(&set->captures[i]);
	free(set->captures);
	set->captures = NULL;
	set->count = 0;
	set->capacity = 0;
	set->held_ns = 0;
}

struct capture *capture_set_add(struct capture_set *set)
{
	ARRAY_GROW(set->captures, set->count, set->capacity);
	set->captures[set->count] = (struct capture){ .tid = 0 };
	return &set->captures[set->count++];
}

void capture_set_drop(struct capture_set *set)
{
	capture_set_remove(set, set->count - 1);
}

void capture_set_remove(struct capture_set *set, size_t index)
{
	struct capture *gone = &set->captures[index];

	capture_clear(gone);
	set->count--;
	memmove(gone, gone + 1, (set->count - index) * sizeof(*gone));
}

uint64_t capture_fingerprint(const struct capture *capture)
{
	uint64_t hash = HASH_START;
	size_t length = capture->stack_length;
	uint64_t word;

	hash = (hash ^ capture->registers.pc) * HASH_PRIME;
	hash = (hash ^ capture->stack_start) * HASH_PRIME;
	if (length > CAPTURE_FINGERPRINT_BYTES)
		length = CAPTURE_FINGERPRINT_BYTES;
	/* Memory below the stack pointer is not in use: it is not hashed. */
	for (size_t i = RED_ZONE; i + sizeof(word) <= length; i += sizeof(word)) {
		memcpy(&word, capture->stack + i, sizeof(word));
		hash = (hash ^ word) * HASH_PRIME;
	}
	return hash | 1;
}

/* memset() touches the memory now, so that no page fault happens while the thread is frozen. */
void capture_prepare(struct capture *capture, size_t size)
{
	free(capture->stack);
	capture->stack = xmalloc(size);
	memset(capture->stack, 0, size);
	capture->stack_capacity = size;
	capture->stack_length = 0;
}

int capture_stack(struct capture *capture, struct memory *memory, size_t size)
{
	uint64_t start = capture->registers.values[registers_stack_pointer()];

	if (start < RED_ZONE || start > UINT64_MAX - CAPTURE_STACK_MAXIMUM)
		return -1;
	capture->stack_start = start - RED_ZONE;
	capture->stack_length =
		memory_fetch_run(memory, capture->stack_start, capture->stack, size);
	return capture->stack_length > 0 ? 0 : -1;
}

void capture_rest(struct capture *capture, struct memory *memory)
{
	size_t length = capture->stack_length;

	capture->stack_length +=
		memory_fetch_run(memory, capture->stack_start + length, capture->stack + length,
				 capture->stack_capacity - length);
}

/* Fetches CAPTURE_STACK_BYTES more from the end of the copy on. */
static int fetch_more(struct capture *capture, pid_t pid)
{
	size_t length = capture->stack_length;
	struct iovec here;
	struct iovec there;
	ssize_t got;

	if (capture->is_fixed || length + CAPTURE_STACK_BYTES > CAPTURE_STACK_MAXIMUM)
		return -1;
	capture->stack_capacity = length + CAPTURE_STACK_BYTES;
	capture->stack = xrealloc(capture->stack, capture->stack_capacity);
	here = (struct iovec){ capture->stack + length, CAPTURE_STACK_BYTES };
	there = (struct iovec){
		(void *)(uintptr_t)(capture->stack_start + length),
		CAPTURE_STACK_BYTES,
	};
	got = process_vm_readv(pid, &here, 1, &there, 1, 0);
	if (got > 0)
		capture->stack_length += (size_t)got;
	/* A short read means that the stack ends there. */
	if (got < (ssize_t)CAPTURE_STACK_BYTES)
		capture->is_fixed = true;
	return got > 0 ? 0 : -1;
}

int capture_word(struct capture *capture, pid_t pid, uint64_t address, uint64_t *word)
{
	uint64_t at = address - capture->stack_start;

	if (address < capture->stack_start || at >= CAPTURE_STACK_MAXIMUM)
		return -1;
	while (at + sizeof(*word) > capture->stack_length)
		if (fetch_more(capture, pid) < 0)
			return -1;
	memcpy(word, capture->stack + at, sizeof(*word));
	return 0;
}
