#include "backends/cpython/pywalk.h"

#include "backends/cpython/cpython.h"
#include "backends/cpython/offsets.h"
#include "backends/cpython/pyreader.h"
#include "backends/linux/memory.h"
#include "banned.h"
#include "base/array.h"
#include "protocol/stack.h"

/* frames with this owner, or a greater one, belong to the interpreter itself */
#define OWNER_SHIM 3
#define CHAIN_MAXIMUM 200000 /* a chain of more frames is a cycle */

void pywalk_clear(struct pywalk *walk)
{
	free(walk->frames);
	*walk = (struct pywalk){ .frames = NULL };
}

/* Reads the address of the innermost frame, which each version stores in another place. */
static int read_top(struct memory *memory, const struct offsets *offsets, uint64_t tstate,
		    uint64_t *frame)
{
	uint64_t cframe;

	if (offsets->ts_current_frame >= 0)
		return memory_read_u64(memory, tstate + (uint64_t)offsets->ts_current_frame, frame);
	if (offsets->cframe_current_frame < 0)
		return memory_read_u64(memory, tstate + (uint64_t)offsets->ts_frame, frame);
	if (memory_read_u64(memory, tstate + (uint64_t)offsets->ts_cframe, &cframe) < 0)
		return -1;
	return memory_read_u64(memory, cframe + (uint64_t)offsets->cframe_current_frame, frame);
}

struct link {
	struct pyframe frame;
	uint64_t previous;
	bool is_shim;
	bool was_shim; /* true: the frame read just before, the callee, was a shim */
};

static int read_link(struct link *link, struct memory *memory, const struct cpython *python)
{
	const struct offsets *offsets = &python->offsets;
	uint8_t bytes[OFFSETS_FRAME_BYTES];
	size_t size = (size_t)offsets->if_localsplus;

	if (size > sizeof(bytes))
		size = sizeof(bytes);
	if (memory_read(memory, link->frame.address, bytes, size) < 0)
		return -1;
	link->frame.code = pyreader_untag(python->minor, pyreader_word(bytes, offsets->if_code));
	link->previous = pyreader_word(bytes, offsets->if_previous);
	link->is_shim = python->minor >= 12 && bytes[offsets->if_owner] >= OWNER_SHIM;
	link->frame.is_entry = offsets->if_is_entry >= 0 && bytes[offsets->if_is_entry];
	if (offsets->if_instr >= 0)
		link->frame.position = pyreader_word(bytes, offsets->if_instr);
	else
		link->frame.position = pyreader_word(bytes, offsets->if_lasti) & UINT32_MAX;
	return 0;
}

bool pywalk_is_trampoline(const struct cpython *python, uint64_t code, uint64_t position)
{
	return python->minor >= 13 && code &&
	       position == code + (uint64_t)python->offsets.co_code_adaptive;
}

/*
 * Sets the anchor of the frames that a shim's evaluation loop runs: the frames from index first on.
 */
static void anchor(struct pywalk *walk, size_t first, uint64_t address)
{
	for (size_t i = first; i < walk->count; i++)
		walk->frames[i].anchor = address;
}

int pywalk_read(struct pywalk *walk, struct memory *memory, const struct cpython *python,
		uint64_t tstate)
{
	struct link link = { .is_shim = false };
	size_t inside = 0; /* index of the innermost frame without an anchor */

	walk->count = 0;
	walk->dropped_count = 0;
	if (read_top(memory, &python->offsets, tstate, &link.frame.address) < 0)
		return -1;
	for (int i = 0; link.frame.address; i++) {
		if (i >= CHAIN_MAXIMUM || read_link(&link, memory, python) < 0)
			return -1;
		bool is_popped = link.frame.code == 0 && walk->count == 0;
		bool is_called = i > 0 && !link.was_shim;
		link.was_shim = link.is_shim;
		if (is_called && !link.is_shim &&
		    pywalk_is_trampoline(python, link.frame.code, link.frame.position)) {
			link.frame.address = link.previous;
			continue;
		}
		if (link.frame.code == 0 && !link.is_shim && !is_popped)
			return -1;
		if (walk->count == STACK_FRAMES_MAXIMUM) {
			walk->dropped_count += !link.is_shim;
		} else if (!link.is_shim && !is_popped) {
			ARRAY_GROW(walk->frames, walk->count, walk->capacity);
			walk->frames[walk->count++] = link.frame;
		}
		if (link.is_shim) {
			anchor(walk, inside, link.frame.address);
			inside = walk->count;
		}
		link.frame.address = link.previous;
	}
	return 0;
}

bool pywalk_agrees(const struct pywalk *a, const struct pywalk *b)
{
	if (a->count != b->count || a->dropped_count != b->dropped_count)
		return false;
	for (size_t i = 0; i < a->count; i++) {
		const struct pyframe *left = &a->frames[i];
		const struct pyframe *right = &b->frames[i];
		if (left->address != right->address || left->code != right->code ||
		    (i > 0 && left->position != right->position))
			return false;
	}
	return true;
}

void pyanchor_fill(struct pywalk *walk, struct memory *memory, const struct cpython *python,
		   uint64_t tstate)
{
	const struct offsets *offsets = &python->offsets;
	uint64_t cframe;

	if (python->minor >= 12 || offsets->cframe_previous < 0 ||
	    memory_read_u64(memory, tstate + (uint64_t)offsets->ts_cframe, &cframe) < 0)
		return;
	for (size_t i = 0; i < walk->count && cframe; i++) {
		struct pyframe *frame = &walk->frames[i];
		frame->anchor = cframe;
		if (offsets->if_is_entry >= 0 && !frame->is_entry)
			continue;
		if (memory_read_u64(memory, cframe + (uint64_t)offsets->cframe_previous, &cframe) <
		    0)
			return;
	}
}
