#include "backends/native/unwinding.h"

#include <stdbool.h>

#include "banned.h"

#include "backends/native/capture.h"
#include "backends/native/images.h"
#include "backends/native/progress.h"
#include "backends/native/unwinder.h"
#include "base/array.h"
#include "base/loop.h"

/* Age at which maps are read again: processes load and unload libraries. */
#define MAPS_SECONDS 2.0

/* The thread that is being unwound. */
struct thread {
	const struct unwinding *unwinding;
	struct unwound_process *process;
	struct capture *capture;
};

static bool unwinding_is_over(const struct unwinding *unwinding)
{
	return atomic_load(unwinding->is_cancelled) || loop_now() > unwinding->deadline;
}

static void read_maps(const struct unwinding *unwinding, struct unwound_process *process)
{
	maps_read(&process->maps, process->pid, process->interpreter);
	process->maps_time = loop_now();
	process->generation = images_generation(unwinding->images);
}

/*
 * Finds the mapping of pc. If there is none, its library may be new: reads the maps once more per
 * job.
 */
static struct mapping *find_mapping(const struct thread *thread, uint64_t pc)
{
	struct unwound_process *process = thread->process;
	struct mapping *mapping = maps_find(&process->maps, pc);

	if (mapping || process->maps_time >= thread->unwinding->began)
		return mapping;
	read_maps(thread->unwinding, process);
	return maps_find(&process->maps, pc);
}

static int unwinding_read_word(void *data, uint64_t address, uint64_t *word)
{
	struct thread *thread = data;

	return capture_word(thread->capture, thread->process->pid, address, word);
}

/* Opens the file that contains pc; NULL: the file is unavailable. */
static struct image *find_image(const struct thread *thread, uint64_t pc, struct mapping **mapping)
{
	*mapping = find_mapping(thread, pc);
	if (!*mapping)
		return NULL;
	return images_open(thread->unwinding->images, *mapping, thread->process->pid);
}

static uint64_t code_address(const struct registers *registers)
{
	return registers->pc - (registers->is_next ? 0 : 1);
}

static enum unwind_result unwinding_step(struct thread *thread, const struct registers *callee,
					 struct registers *caller)
{
	const struct unwind_memory memory = { unwinding_read_word, thread };
	struct mapping *mapping;
	struct image *image = find_image(thread, code_address(callee), &mapping);
	struct unwind_file *rules;

	if (!image)
		return UNWIND_NO_RULES;
	rules = image_rules(thread->unwinding->images, image);
	if (!rules)
		return UNWIND_NO_RULES;
	return thread->unwinding->module->step(rules, image_bias(image, mapping), callee, caller,
					       &memory);
}

static struct native_frame *unwinding_add_frame(struct capture *capture,
						const struct registers *registers)
{
	struct native_frame *frame;

	ARRAY_GROW(capture->frames, capture->frame_count, capture->frame_capacity);
	frame = &capture->frames[capture->frame_count++];
	*frame = (struct native_frame){
		.pc = code_address(registers),
		.low = registers->values[registers_stack_pointer()],
	};
	return frame;
}

static bool unwinding_is_same_place(const struct registers *a, const struct registers *b)
{
	int sp = registers_stack_pointer();

	return a->pc == b->pc && a->values[sp] == b->values[sp];
}

/*
 * The stack grows downwards: a caller whose part of the stack is not above the callee's is wrong. A
 * signal handler may have its own stack, so wrong rules may go in circles there: each place is
 * compared to a mark, an earlier place, which is moved when the number of frames is a power of two
 * (R. P. Brent, "An improved Monte Carlo factorization algorithm", 1980).
 */
static void unwind_one(struct thread *thread)
{
	struct capture *capture = thread->capture;
	struct registers registers = capture->registers;
	struct registers caller;
	struct registers mark = registers;

	capture->frame_count = 0;
	for (;;) {
		struct native_frame *frame = unwinding_add_frame(capture, &registers);
		enum unwind_result result = unwinding_step(thread, &registers, &caller);
		if (result != UNWIND_CALLER) {
			capture->end = result == UNWIND_OUTERMOST   ? NATIVE_OUTERMOST
				       : result == UNWIND_REGISTERS ? NATIVE_REGISTERS
								    : NATIVE_BROKEN;
			return;
		}
		frame->high = caller.values[registers_stack_pointer()];
		capture->end = NATIVE_BROKEN;
		if ((frame->high <= frame->low && !caller.is_next) ||
		    unwinding_is_same_place(&caller, &mark))
			return;
		capture->end = NATIVE_CUT;
		if (capture->frame_count == CAPTURE_FRAMES_MAXIMUM ||
		    unwinding_is_over(thread->unwinding))
			return;
		registers = caller;
		if ((capture->frame_count & (capture->frame_count - 1)) == 0)
			mark = caller;
	}
}

static bool unwinding_is_unread(const struct image *image, const struct mapping *mapping,
				const struct native_frame *frame)
{
	return image_is_unread(image, frame->pc - image_bias(image, mapping));
}

/* Counts the files of frames whose symbols are not read yet, each file once. */
static int count_unread(const struct thread *thread, size_t count)
{
	struct image *unread[64];
	size_t unread_count = 0;

	for (size_t i = 0; i < count; i++) {
		const struct capture *capture = &thread->capture[i];
		for (size_t j = 0; j < capture->frame_count; j++) {
			struct mapping *mapping;
			struct image *image = find_image(thread, capture->frames[j].pc, &mapping);
			size_t k = 0;
			if (!image || !unwinding_is_unread(image, mapping, &capture->frames[j]))
				continue;
			while (k < unread_count && unread[k] != image)
				k++;
			if (k == unread_count && k < ARRAY_LENGTH(unread))
				unread[unread_count++] = image;
		}
	}
	return (int)unread_count;
}

static void name_frame(const struct thread *thread, struct native_frame *frame)
{
	const struct unwinding *unwinding = thread->unwinding;
	const struct unwound_process *process = thread->process;
	struct mapping *mapping;
	struct image *image = find_image(thread, frame->pc, &mapping);

	if (!image)
		return;
	if (unwinding_is_unread(image, mapping, frame)) {
		image_index(unwinding->images, image, process->pid);
		progress_step(unwinding->progress);
	}
	frame->is_interpreter = process->maps.inode != 0 && mapping->inode == process->maps.inode &&
				mapping->device == process->maps.device;
	frame->name = image_name(unwinding->images, image, frame->pc - image_bias(image, mapping));
}

static void name_all(const struct thread *first, size_t count)
{
	struct progress *progress = first->unwinding->progress;

	progress_start(progress, count_unread(first, count));
	for (size_t i = 0; i < count && !unwinding_is_over(first->unwinding); i++) {
		struct capture *capture = &first->capture[i];
		for (size_t j = 0; j < capture->frame_count && !unwinding_is_over(first->unwinding);
		     j++)
			name_frame(first, &capture->frames[j]);
	}
	progress_start(progress, 0);
}

void unwinding_run(const struct unwinding *unwinding, struct unwound_process *process,
		   struct capture *captures, size_t count)
{
	struct thread thread = { unwinding, process, captures };

	images_tidy(unwinding->images);
	if (process->maps_time == 0 ||
	    process->generation != images_generation(unwinding->images) ||
	    loop_now() - process->maps_time > MAPS_SECONDS)
		read_maps(unwinding, process);
	for (size_t i = 0; i < count && !unwinding_is_over(unwinding); i++) {
		thread.capture = &captures[i];
		unwind_one(&thread);
	}
	thread.capture = captures;
	name_all(&thread, count);
}
