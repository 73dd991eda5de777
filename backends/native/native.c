#include "backends/native/native.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "banned.h"

#include "backends/native/capture.h"
#include "backends/native/images.h"
#include "backends/native/registers.h"
#include "backends/native/symbol-cache.h"
#include "backends/native/unwinder.h"
#include "backends/native/unwinding.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/loop.h"

#define WORK_NICENESS 10
#define SAY_SECONDS 0.1
#define JOB_SECONDS 20.0 /* frames that take longer stay without names */

struct native {
	struct loop *loop;
	void (*say)(const struct progress_state *state, void *data);
	void *data;
	const struct unwind_module *module; /* NULL: not opened yet */
	struct symbol_cache *cache;
	struct images *images;
	struct progress progress;
	atomic_bool is_cancelled;
	struct native_process **waiting; /* in order; NULL: the process was freed */
	size_t waiting_count;
	size_t waiting_capacity;
	struct native_process *running; /* NULL: none */
	bool is_saving;			/* a job that saves names is running */
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
	bool is_closed; /* to be freed when the running job ends */
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
		return error_set(error,
				 "Native frames are read on x86-64 only, not on this processor.");
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

/* Runs on the other thread, at a low priority, to leave the processors to the job. */
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

/* done() may start the next job of the process. */
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
