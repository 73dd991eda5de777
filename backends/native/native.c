#include "backends/native/native.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backends/native/capture.h"
#include "backends/native/images.h"
#include "backends/native/registers.h"
#include "backends/native/symbol-cache.h"
#include "backends/native/unwinder.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/loop.h"

#define WORK_NICENESS 10
#define SAY_SECONDS 0.1
/* time limit of a job; frames that are not named by then stay without names */
#define JOB_SECONDS 20.0

struct native {
	struct loop *loop;
	void (*say)(const struct progress_state *state, void *data);
	void *data;
	const struct unwind_module *module; /* NULL: not opened yet */
	struct symbol_cache *cache;
	struct images *images;
	struct progress progress;
	atomic_bool is_cancelled;
	/* in the order of their jobs; an entry NULL: the process was freed */
	struct native_process **waiting;
	size_t waiting_count;
	size_t waiting_capacity;
	struct native_process *running; /* process whose job is running; NULL: none */
	bool is_saving;			/* true: a job that saves names is running */
	struct loop_timer *timer;	/* set while jobs are running */
	bool has_said;
	bool is_closed;
};

struct native_process {
	struct native *native;
	void (*done)(struct capture_set *captures, void *data);
	void *data;
	struct unwound_process process;
	struct capture_set captures;
	bool is_busy;
	bool is_closed; /* true: to be freed when the running job ends */
};

struct native *native_new(struct loop *loop,
			  void (*say)(const struct progress_state *state, void *data), void *data)
{
	struct native *native = xcalloc(1, sizeof(*native));

	native->loop = loop;
	native->say = say;
	native->data = data;
	progress_init(&native->progress);
	return native;
}

static void free_now(struct native *native)
{
	images_free(native->images);
	symbol_cache_free(native->cache);
	progress_clear(&native->progress);
	free(native->waiting);
	free(native);
}

static void native_stop_timer(struct native *native)
{
	if (native->timer)
		loop_timer_stop(native->timer);
	native->timer = NULL;
}

void native_free(struct native *native)
{
	if (!native)
		return;
	native_stop_timer(native);
	atomic_store(&native->is_cancelled, true);
	native->is_closed = true;
	if (!native->running && !native->is_saving)
		free_now(native);
}

int native_open(struct native *native, struct error *error)
{
	if (native->module)
		return 0;
	if (!registers_can_unwind())
		return error_set(error, "native frames are supported on x86-64 only");
	native->module = unwinder_open(error);
	if (!native->module)
		return -1;
	native->cache = symbol_cache_new();
	native->images =
		images_new(native->module, native->cache, &native->is_cancelled, &native->progress);
	return 0;
}

struct native_process *native_process_new(struct native *native, pid_t pid, uint64_t interpreter,
					  void (*done)(struct capture_set *captures, void *data),
					  void *data)
{
	struct native_process *process = xcalloc(1, sizeof(*process));

	process->native = native;
	process->done = done;
	process->data = data;
	process->process.pid = pid;
	process->process.interpreter = interpreter;
	return process;
}

static void free_process(struct native_process *process)
{
	capture_set_clear(&process->captures);
	maps_clear(&process->process.maps);
	free(process);
}

void native_process_free(struct native_process *process)
{
	if (!process)
		return;
	struct native *native = process->native;

	process->is_closed = true;
	if (native->running == process)
		return;
	for (size_t i = 0; i < native->waiting_count; i++)
		if (native->waiting[i] == process)
			native->waiting[i] = NULL;
	free_process(process);
}

bool native_is_busy(const struct native_process *process)
{
	return process->is_busy;
}

/*
 * Runs on another thread than the loop, at a low priority, to leave the processors to the debugged
 * job.
 */
static void run_job(void *data)
{
	struct native_process *process = data;
	struct native *native = process->native;
	double now = loop_now();
	struct unwinding unwinding = {
		.module = native->module,
		.images = native->images,
		.is_cancelled = &native->is_cancelled,
		.progress = &native->progress,
		.began = now,
		.deadline = now + JOB_SECONDS,
	};

	setpriority(PRIO_PROCESS, (id_t)gettid(), WORK_NICENESS);
	symbol_cache_open(native->cache);
	unwinding_run(&unwinding, &process->process, process->captures.captures,
		      process->captures.count);
}

static void start_next(struct native *native);

/*
 * done() may start the next job of the process, so running, captures and is_busy are reset before
 * the call.
 */
static void native_end_job(void *data)
{
	struct native_process *process = data;
	struct native *native = process->native;
	struct capture_set captures = process->captures;

	assert(native->running == process);
	native->running = NULL;
	process->captures = (struct capture_set){ .captures = NULL };
	process->is_busy = false;
	if (process->is_closed)
		free_process(process);
	else if (!native->is_closed)
		process->done(&captures, process->data);
	capture_set_clear(&captures);
	if (native->is_closed)
		free_now(native);
	else
		start_next(native);
}

static void on_say(void *data)
{
	struct native *native = data;
	struct progress_state state = progress_get(&native->progress);

	if (state.total == 0 && !native->has_said)
		return;
	native->has_said = state.total > 0;
	native->say(&state, native->data);
}

static void run_saving(void *data)
{
	struct native *native = data;

	images_save(native->images);
}

static void end_saving(void *data)
{
	struct native *native = data;

	native->is_saving = false;
	if (native->is_closed)
		free_now(native);
	else
		start_next(native);
}

/* Starts to save the names; called only when no process waits for a stack. */
static void native_save(struct native *native)
{
	if (!images_are_unsaved(native->images))
		return;
	native->is_saving = true;
	loop_work(native->loop, run_saving, end_saving, native);
}

static void start_next(struct native *native)
{
	struct native_process *next = NULL;

	if (native->running || native->is_saving)
		return;
	while (native->waiting_count > 0 && !next) {
		next = native->waiting[0];
		native->waiting_count--;
		memmove(native->waiting, native->waiting + 1,
			native->waiting_count * sizeof(*native->waiting));
	}
	if (!next) {
		on_say(native);
		native_stop_timer(native);
		native_save(native);
		return;
	}
	native->running = next;
	if (!native->timer)
		native->timer = loop_timer(native->loop, SAY_SECONDS, SAY_SECONDS, on_say, native);
	loop_work(native->loop, run_job, native_end_job, next);
}

void native_start(struct native_process *process, struct capture_set *captures)
{
	struct native *native = process->native;

	assert(!process->is_busy && native->module);
	process->is_busy = true;
	process->captures = *captures;
	*captures = (struct capture_set){ .may_hold = captures->may_hold };
	ARRAY_GROW(native->waiting, native->waiting_count, native->waiting_capacity);
	native->waiting[native->waiting_count++] = process;
	start_next(native);
}

/* Age in seconds at which maps are read again: processes load and unload libraries. */
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
 * Finds the mapping of pc. If there is none, the library may be new: the maps are read again, at
 * most once in a job.
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
 * The stack grows downwards, so a caller whose part of the stack is not above the callee's part is
 * wrong. A signal handler may have its own stack, where wrong rules may go in circles: so each
 * place is also compared to a mark, an earlier place, which is moved when the number of frames is a
 * power of two (R. P. Brent, "An improved Monte Carlo factorization algorithm", 1980).
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

void progress_init(struct progress *progress)
{
	*progress = (struct progress){ .mutex = PTHREAD_MUTEX_INITIALIZER };
}

void progress_clear(struct progress *progress)
{
	pthread_mutex_destroy(&progress->mutex);
}

void progress_start(struct progress *progress, int total)
{
	pthread_mutex_lock(&progress->mutex);
	progress->state = (struct progress_state){ .total = total };
	pthread_mutex_unlock(&progress->mutex);
}

void progress_say(struct progress *progress, const char *what)
{
	pthread_mutex_lock(&progress->mutex);
	snprintf(progress->state.what, sizeof(progress->state.what), "%s", what);
	pthread_mutex_unlock(&progress->mutex);
}

void progress_step(struct progress *progress)
{
	pthread_mutex_lock(&progress->mutex);
	progress->state.done++;
	pthread_mutex_unlock(&progress->mutex);
}

struct progress_state progress_get(struct progress *progress)
{
	struct progress_state state;

	pthread_mutex_lock(&progress->mutex);
	state = progress->state;
	pthread_mutex_unlock(&progress->mutex);
	return state;
}
