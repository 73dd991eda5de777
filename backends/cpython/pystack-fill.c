#include "backends/cpython/pystack-private.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "banned.h"

#include "backends/cpython/cpython.h"
#include "backends/cpython/pyasyncio.h"
#include "backends/cpython/pycode.h"
#include "backends/cpython/pyexception.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pytask.h"
#include "backends/cpython/pytstate.h"
#include "backends/linux/file-locks.h"
#include "backends/linux/memory.h"
#include "backends/native/capture.h"
#include "backends/tracer/freezer.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "protocol/sample.h"
#include "protocol/stack.h"

/* System calls that file_locks_holder() makes at least. */
#define LOCKS_CALLS 3
/* Prefix of the agent's thread names, set in agent/probetui/server.py. */
#define AGENT_THREADS "probetui-"

static bool pystack_fill_is_main(const struct pystack *pystack, const struct pytask *pytask)
{
	return pytask->task.tid == pystack->pid && pytask->state.number == 0;
}

static void pystack_fill_take_name(uint64_t ident, const char *name, void *data)
{
	struct pystack *pystack = data;

	for (size_t i = 0; i < pystack->task_count; i++) {
		struct pytask *pytask = pystack->tasks[i];
		if (pytask->state.ident != ident)
			continue;
		free(pytask->name);
		pytask->name = xstrdup(name);
	}
}

static bool has_nameless(const struct pystack *pystack)
{
	for (size_t i = 0; i < pystack->task_count; i++)
		if (!pystack->tasks[i]->name)
			return true;
	return false;
}

void pystack_use_names(struct pystack *pystack, bool has_names)
{
	pystack->has_no_names = !has_names;
}

/*
 * A new thread has a thread state first, and enters threading's table shortly afterwards, so names
 * are read in several samples.
 */
static void pystack_fill_read_names(struct pystack *pystack)
{
	struct pyreader reader;

	if (pystack->has_no_names || pystack->name_tries == 0 || !has_nameless(pystack))
		return;
	pystack->name_tries--;
	for (size_t i = 0; i < pystack->gil_count; i++) {
		pyreader_init(&reader, pystack->memory, pystack->python);
		pythread_names(&reader, pystack->gils[i].interpreter, pystack_fill_take_name,
			       pystack);
	}
}
static void pystack_fill_prepare_codes(struct pystack *pystack)
{
	size_t count = 0;

	for (size_t i = 0; i < pystack->task_count; i++) {
		const struct pywalk *walk = pystack->tasks[i]->walk;
		pystack->addresses =
			array_grow(pystack->addresses, count + walk->count,
				   &pystack->address_capacity, sizeof(*pystack->addresses));
		for (size_t j = 0; j < walk->count; j++)
			pystack->addresses[count++] = walk->frames[j].code;
	}
	memory_take_failure(pystack->memory);
	pycode_prepare(pystack->codes, pystack->addresses, count);
	pystack->code_failure = memory_take_failure(pystack->memory);
}

/* If /proc/PID/task/TID/syscall is unreadable, only the kernel's state letter is known. */
static enum thread_state state_by_letter(struct pytask *pytask)
{
	switch (task_letter(&pytask->task)) {
	case 'R':
		return THREAD_RUNNING;
	case 'S':
	case 'D':
		return THREAD_BLOCKED;
	case 'T':
	case 't':
		return THREAD_STOPPED;
	}
	return THREAD_UNKNOWN;
}

static enum thread_state judge_state(const struct pystack *pystack, struct pytask *pytask,
				     const struct pygil *gil)
{
	const struct task_state *seen = &pytask->seen;

	/*
	 * Without the kernel's state letter nothing is known: the thread may be stopped in any
	 * system call.
	 */
	if (pytask->task.is_letter_unread)
		return THREAD_UNKNOWN;
	if (!seen->is_known)
		return state_by_letter(pytask);
	if (pytask->is_stopped ||
	    (seen->is_blocked && seen->syscall < 0 && pytask_is_stopped(pytask)))
		return THREAD_STOPPED;
	if (seen->is_blocked && seen->syscall == SYS_futex && gil &&
	    pygil_contains(gil, pystack->python, seen->argument))
		return THREAD_GIL;
	if (gil && gil->is_collecting && gil->holder == pytask->state.address)
		return THREAD_GC;
	return seen->is_blocked ? THREAD_BLOCKED : THREAD_RUNNING;
}

/* Sets Python's name of the thread, or else the kernel's name, which is read once. */
static void fill_name(const struct pystack *pystack, struct pytask *pytask,
		      struct thread_sample *thread)
{
	if (pystack->has_no_names)
		return;
	if (!pytask->name && !pytask->comm[0])
		task_name(&pytask->task, pytask->comm, sizeof(pytask->comm));
	if (pytask->name || pytask->comm[0])
		thread->name = xstrdup(pytask->name ? pytask->name : pytask->comm);
}

/*
 * True for a thread of the agent in the process, unless the thread holds the GIL: then other
 * threads wait for it.
 */
bool pystack_is_of_agent(const struct pystack *pystack, const struct pytask *pytask)
{
	const struct pygil *gil = pystack_gil(pystack, pytask->state.interpreter);

	return pytask->name && strncmp(pytask->name, AGENT_THREADS, strlen(AGENT_THREADS)) == 0 &&
	       !(gil && gil->holder == pytask->state.address);
}

/* number: errno of the failed read; 0: the values read were malformed. */
static char *say_missing(const char *what, int number)
{
	return xasprintf("%s could not be read: %s", what,
			 number ? strerror(number) : "invalid addresses");
}

/*
 * The frames of a running thread change while they are read: a broken chain of such a thread is no
 * failure.
 */
static char *describe_missing(const struct pystack *pystack, const struct pytask *pytask,
			      const struct pygil *gil, enum thread_state state)
{
	const struct task *task = &pytask->task;
	bool is_broken = pytask->is_broken && (pytask->failure || state != THREAD_RUNNING);

	if (task->missing)
		return say_missing(task->missing, task->failure);
	if (is_broken)
		return say_missing("the frames", pytask->failure);
	if (pytask->has_unknown)
		return say_missing("the code of the frames", pystack->code_failure);
	if (gil && gil->failure)
		return say_missing("the GIL", gil->failure);
	return NULL;
}

/*
 * A thread that blocks, or that runs without the GIL, is in C code. A thread that holds the GIL
 * runs Python or C code: probably C code, if it is at the same place as in the sample before.
 */
static bool is_in_c(struct pytask *pytask, const struct thread_sample *thread)
{
	bool is_at_same_place = pytask_note_place(pytask);

	switch (thread->state) {
	case THREAD_BLOCKED:
		return true;
	case THREAD_STOPPED:
		return pytask->seen.is_blocked;
	case THREAD_RUNNING:
		return thread->is_gil_known && (!thread->has_gil || is_at_same_place);
	case THREAD_GIL:
	case THREAD_GC:
	case THREAD_UNKNOWN:
		break;
	}
	return false;
}

/* Names the child of a thread that waits for one. A process of another pid namespace is unknown. */
static void fill_awaited(struct pystack *pystack, struct thread_sample *thread)
{
	pid_t pid = (pid_t)thread->argument;
	struct task child;
	char comm[16];

	if (thread->state != THREAD_BLOCKED || thread->syscall != SYS_wait4 || pid <= 0 ||
	    pystack->is_namespaced)
		return;
	task_init(&child, pid, pid);
	task_name(&child, comm, sizeof(comm));
	pystack->other_calls += child.calls;
	task_clear(&child);
	if (comm[0])
		thread->awaited = xstrdup(comm);
}

/*
 * To be read anew each time: a process that waits behind another one does not run when that one
 * gets the lock.
 */
static void fill_holder(struct pystack *pystack, struct thread_sample *thread)
{
	if (thread->state != THREAD_BLOCKED ||
	    (thread->syscall != SYS_flock && thread->syscall != SYS_fcntl))
		return;
	thread->holder = file_locks_holder(pystack->pid);
	pystack->other_calls += LOCKS_CALLS;
}

/* True if the main thread is in no frame of the program, as it shuts down. */
static bool has_left_program(const struct thread_sample *thread)
{
	const struct stack *stack = thread->stack;

	if (!thread->is_main || !stack)
		return false;
	return stack->frame_count == 0 ||
	       !pycode_is_first(stack->frames[stack->frame_count - 1].code->func);
}

/* The exception's traceback as a stack, owned by the table; NULL: it has none. */
static const struct stack *traceback_stack(struct pystack *pystack, struct pyreader *reader,
					   uint64_t exception)
{
	struct pywalk walk = { .frames = NULL };
	const struct stack *stack = NULL;
	bool is_known;

	pyexception_walk(reader, exception, &walk);
	if (walk.count > 0)
		stack = pycode_stack(pystack->codes, pystack->python, &walk, pystack->table,
				     &is_known);
	pywalk_clear(&walk);
	return stack;
}

/*
 * Reads the exception that has ended the program, which CPython prints and keeps in
 * sys.last_value before it shuts down. A prompt and others keep there what ends nothing: test
 * runners, callbacks called by C.
 */
static void fill_raised(struct pystack *pystack, uint64_t interpreter, struct thread_sample *thread)
{
	struct buffer text = BUFFER_INIT;
	struct pyreader reader;
	uint64_t value;

	if (!has_left_program(thread))
		return;
	pyreader_init(&reader, pystack->memory, pystack->python);
	if (!pystack->raised &&
	    pymodule_find(&reader, interpreter, "sys", "last_value", &value) == 0 &&
	    pyexception_has_left_program(&reader, value)) {
		pyexception_append(&reader, value, &text);
		pystack->raised = xstrdup_or_null(text.data);
		pystack->raised_stack = traceback_stack(pystack, &reader, value);
	}
	thread->raised = xstrdup_or_null(pystack->raised);
	thread->raised_stack = pystack->raised_stack;
	buffer_clear(&text);
}

static void fill_thread(struct pystack *pystack, struct pytask *pytask,
			struct process_sample *sample)
{
	struct thread_sample *thread = process_sample_add(sample);
	const struct pygil *gil = pystack_gil(pystack, pytask->state.interpreter);

	thread->tid = pytask->task.tid;
	fill_name(pystack, pytask, thread);
	thread->is_main = pystack_fill_is_main(pystack, pytask);
	thread->is_gil_known = gil && gil->is_known;
	thread->has_gil = gil && gil->holder == pytask->state.address;
	thread->state = judge_state(pystack, pytask, gil);
	/* Ptrace-stopped by this node: its debugger reports the state of the thread. */
	if (thread->state == THREAD_STOPPED && freezer_traces(pystack->holds, thread->tid))
		thread->state = THREAD_RUNNING;
	thread->interpreter = pytask->state.number;
	thread->syscall = pytask->seen.syscall;
	thread->argument = pytask->seen.argument;
	thread->cpu_ns = pytask->seen.cpu_ns;
	thread->switches = pytask->seen.switches;
	snprintf(thread->wchan, sizeof(thread->wchan), "%s", pytask_wchan(pytask));
	thread->stack = pytask_resolve(pytask, pystack->python, pystack->codes, pystack->table);
	thread->exactness = pytask->exactness;
	if (is_in_c(pytask, thread)) {
		thread->call = xstrdup_or_null(pytask_call(pytask, pystack->calls));
		thread->values = pytask_values(pytask, pystack->calls);
	}
	fill_awaited(pystack, thread);
	fill_raised(pystack, pytask->state.interpreter, thread);
	fill_holder(pystack, thread);
	thread->missing = describe_missing(pystack, pytask, gil, thread->state);
	if (pystack->captures && pytask->native.is_current &&
	    pytask->native.python == thread->stack)
		thread->native = pytask->native.stack;
	if (pytask->is_broken)
		thread->error = xasprintf(
			"the stack is incomplete: the chain of frames is broken after %zu frames",
			pytask->walk->count);
}

/*
 * Only the thread of the event loop runs a task, so a consistent task is as exact as that thread.
 */
static void fill_task(struct pystack *pystack, const struct pyasyncio_task *task,
		      struct process_sample *sample)
{
	const struct pytask *pytask = pystack_find_state(pystack, task->thread);
	struct pywalk walk = pystack_walk_of(pystack, task, pytask);
	struct thread_sample *thread = process_sample_add(sample);
	bool is_known;

	thread->tid = -task->number;
	thread->loop_tid = pytask ? pytask->task.tid : 0;
	thread->name = xasprintf("task %s", task->name ? task->name : "?");
	thread->state = THREAD_BLOCKED;
	if (task->is_running)
		thread->state = pytask && pytask->seen.is_blocked ? THREAD_BLOCKED : THREAD_RUNNING;
	thread->exactness = task->exactness;
	if (pytask && (task->is_running || task->exactness == CONSISTENT))
		thread->exactness = pytask->exactness;
	thread->stack =
		pycode_stack(pystack->codes, pystack->python, &walk, pystack->table, &is_known);
	if (!is_known)
		thread->exactness = TORN;
	if (task->is_broken && !task->is_running)
		thread->error = xasprintf("the stack is incomplete: the chain of awaited "
					  "coroutines is broken after %zu coroutines",
					  walk.count);
}

static void fill_tasks(struct pystack *pystack, struct process_sample *sample)
{
	const struct pyasyncio_task *task;
	size_t place = 0;

	if (pystack->has_no_names)
		return;
	pyasyncio_read(pystack->asyncio, &pystack->states);
	while ((task = pyasyncio_next(pystack->asyncio, &place)) != NULL &&
	       sample->thread_count < SAMPLE_THREADS_MAXIMUM)
		fill_task(pystack, task, sample);
}

static void fill_memory(struct pystack *pystack, struct process_sample *sample)
{
	char text[128];
	uint64_t pages;

	if (pystack->statm < 0) {
		snprintf(text, sizeof(text), "/proc/%d/statm", (int)pystack->pid);
		pystack->statm = open(text, O_RDONLY | O_CLOEXEC);
		pystack->other_calls++;
	}
	pystack->other_calls++;
	ssize_t got = pread(pystack->statm, text, sizeof(text) - 1, 0);
	text[got > 0 ? got : 0] = '\0';
	if (sscanf(text, "%*u %" SCNu64, &pages) == 1)
		sample->memory = pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void pystack_fill(struct pystack *pystack, struct process_sample *sample)
{
	if (pystack->captures) {
		pystack_capture(pystack);
		sample->held_ns += pystack->captures->held_ns;
	}
	pystack_fill_prepare_codes(pystack);
	pystack_fill_read_names(pystack);
	for (size_t i = 0; i < pystack->task_count; i++) {
		struct pytask *pytask = pystack->tasks[i];
		pytask->is_left_out = pystack_is_of_agent(pystack, pytask);
		if (!pytask->is_gone && !pytask->is_left_out)
			fill_thread(pystack, pytask, sample);
	}
	if (pystack->captures)
		pystack_name_captures(pystack);
	fill_tasks(pystack, sample);
	fill_memory(pystack, sample);
}
