#include "backends/tracer/tracee-private.h"

#include <elf.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "banned.h"

#include "backends/linux/task.h"
#include "backends/native/registers.h"
#include "backends/tracer/attachable.h"
#include "backends/tracer/ptrace-ops.h"
#include "backends/tracer/waits.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/loop.h"

#define LOOK_NS 50000000u
/* SIGCANCEL and SIGSETXID of glibc (nptl(7)): 32 and 33. */
#define C_LIBRARY_SIGNALS (INT64_C(3) << 31)

bool tracee_is_detaching(const struct tracee *tracee)
{
	return tracee->detaching != DETACHING_NOT;
}

void tracee_pass(const struct tracee *tracee, const char *point)
{
	if (tracee->calls.passing)
		tracee->calls.passing(point, tracee->calls.data);
}

/*
 * Threads
 */

static void tracee_put_in(struct tracee *tracee, struct thread *thread, bool is_child)
{
	thread->tracee = tracee;
	thread->is_child = is_child;
	if (is_child) {
		ARRAY_GROW(tracee->children, tracee->child_count, tracee->child_capacity);
		tracee->children[tracee->child_count++] = thread;
	} else {
		ARRAY_GROW(tracee->threads, tracee->thread_count, tracee->thread_capacity);
		tracee->threads[tracee->thread_count++] = thread;
	}
}

struct thread *thread_add(struct tracee *tracee, pid_t tid, bool is_child)
{
	struct thread *thread = xcalloc(1, sizeof(*thread));

	thread->tid = tid;
	thread->forced = FORCED_NOT;
	debug_registers_init(&thread->slots);
	tracee_put_in(tracee, thread, is_child);
	waits_add(tracee->waits, tid, thread_changed, thread);
	return thread;
}

static void take_out(struct thread **threads, size_t *count, const struct thread *thread)
{
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++)
		if (threads[i] != thread)
			threads[kept++] = threads[i];
	*count = kept;
}

static void leave_list(const struct thread *thread)
{
	struct tracee *tracee = thread->tracee;

	if (thread->is_child)
		take_out(tracee->children, &tracee->child_count, thread);
	else
		take_out(tracee->threads, &tracee->thread_count, thread);
}

void thread_move(struct thread *thread, struct tracee *to)
{
	leave_list(thread);
	tracee_put_in(to, thread, false);
}

void thread_remove(struct thread *thread)
{
	leave_list(thread);
	waits_forget(thread->tracee->waits, thread->tid);
	debug_registers_clear(&thread->slots);
	free(thread->remote);
	free(thread->own_trap);
	free(thread);
}

bool thread_is_of(pid_t pid, pid_t tid)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return access(path, F_OK) == 0;
}

struct thread *thread_find(const struct tracee *tracee, pid_t tid)
{
	for (size_t i = 0; i < tracee->thread_count; i++)
		if (tracee->threads[i]->tid == tid)
			return tracee->threads[i];
	return NULL;
}

void thread_interrupt(struct thread *thread)
{
	syscall_restart_note(&thread->restart, thread->tracee->pid, thread->tid);
	ptrace(PTRACE_INTERRUPT, thread->tid, 0, 0);
}

void thread_note_stop(struct thread *thread, int status)
{
	if (WIFSTOPPED(status) && WSTOPSIG(status) != SYSCALL_STOP)
		syscall_restart_stood(&thread->restart, thread->tracee->pid, thread->tid,
				      WSTOPSIG(status));
}

static void tracee_run(struct thread *thread, int signal_number)
{
	if (syscall_restart_go(&thread->restart, thread->tid))
		ptrace_syscall(thread->tid, signal_number);
	else
		ptrace_cont(thread->tid, signal_number);
}

/* Every stop consumes a pending PTRACE_INTERRUPT: requests another if a stop is due. */
void thread_go(struct thread *thread, int signal_number)
{
	if (thread->is_stop_due || thread->state == TRACEE_INTERRUPTED)
		ptrace(PTRACE_INTERRUPT, thread->tid, 0, 0);
	if (thread->state != TRACEE_INTERRUPTED)
		thread->state = TRACEE_RUNNING;
	tracee_run(thread, signal_number);
}

void thread_go_from_call(struct thread *thread)
{
	if (!syscall_restart_at_call(&thread->restart, thread->tid)) {
		thread_go(thread, 0);
		return;
	}
	if (thread->is_stop_due)
		ptrace(PTRACE_INTERRUPT, thread->tid, 0, 0);
	ptrace_syscall(thread->tid, 0);
}

void thread_release(struct thread *thread)
{
	if (thread->is_in_group_stop) {
		thread->state = TRACEE_LISTENING;
		ptrace(PTRACE_LISTEN, thread->tid, 0, 0);
		return;
	}
	thread->state = TRACEE_RUNNING;
	tracee_run(thread, 0);
}

void thread_note_signal(struct thread *thread, int status)
{
	int number;

	if (!WIFSTOPPED(status) || status >> 16 || thread->is_child)
		return;
	number = WSTOPSIG(status);
	/* Other numbers are those of syscall-stops or traps. */
	if (number > 0 && number <= 64 && number != SIGTRAP)
		thread->tracee->signals |= UINT64_C(1) << (number - 1);
}

uint64_t tracee_take_signals(struct tracee *tracee)
{
	uint64_t signals = tracee->signals;

	tracee->signals = 0;
	return signals;
}

/* Returns the signal with which the thread is to be resumed; 0: none. */
static int take_signal_while_settling(struct thread *thread, int number)
{
	siginfo_t info;
	enum debug_registers_trap trap;
	int slot;

	if (number != SIGTRAP || ptrace(PTRACE_GETSIGINFO, thread->tid, 0, &info) < 0)
		return number;
	trap = debug_registers_trap(&thread->slots, thread->tid, &info, &slot);
	if (trap == DEBUG_REGISTERS_FORCED)
		thread->forced = slot;
	return trap == DEBUG_REGISTERS_NOT_OURS ? number : 0;
}

/*
 * Handles a status while thread_settle() waits for the thread to stop; an exit or an exec is
 * handled later. Returns false if the thread will not stop.
 */
static bool take_while_settling(struct thread *thread, int status)
{
	int event = status >> 16;

	thread_note_signal(thread, status);
	if (!WIFSTOPPED(status) || event == PTRACE_EVENT_EXEC) {
		waits_return(thread->tracee->waits, thread->tid, status);
		return false;
	}
	thread_note_stop(thread, status);
	if (event == PTRACE_EVENT_STOP) {
		thread->is_in_group_stop = WSTOPSIG(status) != SIGTRAP;
		thread->state = TRACEE_STOPPED;
		thread->since = loop_now();
		return true;
	}
	if (event)
		thread_take_new(thread, event);
	ptrace(PTRACE_INTERRUPT, thread->tid, 0, 0);
	if (WSTOPSIG(status) == SYSCALL_STOP)
		thread_go_from_call(thread);
	else
		tracee_run(thread,
			   event ? 0 : take_signal_while_settling(thread, WSTOPSIG(status)));
	return true;
}

bool thread_is_stuck(const struct thread *thread)
{
	struct task task;
	char letter;

	task_init(&task, thread->is_child ? thread->tid : thread->tracee->pid, thread->tid);
	letter = task_letter(&task);
	task_clear(&task);
	return letter && strchr("DZXx", letter);
}

bool thread_settle(struct thread *thread, uint64_t nanoseconds)
{
	uint64_t began = loop_now_ns();
	int status;

	/*
	 * The next stop of the thread is for the program's own SIGTRAP, which must be handled
	 * first.
	 */
	if (thread->own_trap)
		return false;
	if (thread->state == TRACEE_RUNNING || thread->state == TRACEE_LISTENING)
		thread_interrupt(thread);
	else if (thread->state != TRACEE_INTERRUPTED)
		return thread->state == TRACEE_STOPPED;
	while (thread->state != TRACEE_STOPPED) {
		uint64_t spent = loop_now_ns() - began;
		if (spent > nanoseconds ||
		    !waits_one(thread->tracee->waits, thread->tid, nanoseconds - spent, &status) ||
		    !take_while_settling(thread, status))
			return false;
	}
	if (thread->forced != FORCED_NOT)
		thread_ignore_again(thread);
	return thread->state == TRACEE_STOPPED;
}

/*
 * Life
 */

void tracee_free(struct tracee *tracee)
{
	if (!tracee || tracee_is_detaching(tracee))
		return;
	tracee->detaching = DETACHING_DUE;
	if (tracee->depth == 0)
		tracee_detach(tracee);
}

void tracee_set_calls(struct tracee *tracee, const struct tracee_calls *calls)
{
	tracee->calls = *calls;
}

struct tracee *tracee_find(struct waits *waits, pid_t tid)
{
	struct thread *thread = waits_find(waits, tid, thread_changed);

	if (!thread || thread->is_child || tracee_is_detaching(thread->tracee))
		return NULL;
	return thread->tracee;
}

bool tracee_is_ours(const struct waits *waits, pid_t tid)
{
	const struct thread *thread = waits_find(waits, tid, thread_changed);

	return thread && !thread->is_in_group_stop;
}

/*
 * State
 */

pid_t tracee_pid(const struct tracee *tracee)
{
	return tracee->pid;
}

size_t tracee_thread_count(const struct tracee *tracee)
{
	return tracee->thread_count;
}

pid_t tracee_thread(const struct tracee *tracee, size_t i)
{
	return i < tracee->thread_count ? tracee->threads[i]->tid : 0;
}

static bool stands(const struct thread *thread)
{
	return thread && (thread->state == TRACEE_TRAPPED || thread->state == TRACEE_INTERRUPTED ||
			  thread->state == TRACEE_STOPPED);
}

bool tracee_is_stopped(const struct tracee *tracee, pid_t tid)
{
	return stands(thread_find(tracee, tid));
}

double tracee_since(const struct tracee *tracee, pid_t tid)
{
	const struct thread *thread = thread_find(tracee, tid);

	return stands(thread) ? thread->since : 0;
}

int tracee_registers(const struct tracee *tracee, pid_t tid, struct registers *registers)
{
	uint64_t dump[REGISTERS_DUMP_BYTES / sizeof(uint64_t)];
	struct iovec out = { dump, sizeof(dump) };
	struct thread *thread = thread_find(tracee, tid);

	if (!thread || (!stands(thread) && thread->state != TRACEE_FROZEN))
		return -1;
	if (thread->state == TRACEE_INTERRUPTED && !thread_settle(thread, LOOK_NS))
		return -1;
	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS, &out) < 0)
		return -1;
	return registers_from_dump(registers, dump, out.iov_len);
}

void tracee_counts(const struct tracee *tracee, struct tracee_counts *counts)
{
	*counts = tracee->counts;
}

/*
 * Requests
 */

void tracee_interrupt(struct tracee *tracee, pid_t tid)
{
	struct thread *thread = thread_seek(tracee, tid);

	if (!thread || thread->state == TRACEE_STOPPED || thread->state == TRACEE_INTERRUPTED ||
	    thread->state == TRACEE_EXITED || thread->is_stop_due)
		return;
	thread->is_stop_due = true;
	if (thread->state == TRACEE_RUNNING || thread->state == TRACEE_LISTENING)
		thread_interrupt(thread);
}

void tracee_resume(struct tracee *tracee, pid_t tid)
{
	struct thread *thread = thread_find(tracee, tid);

	if (!thread)
		return;
	thread->is_stop_due = false;
	if (thread->state == TRACEE_INTERRUPTED && !thread_settle(thread, LOOK_NS)) {
		/* The event-stop of the thread is not reported when it occurs. */
		thread->state = TRACEE_RUNNING;
		return;
	}
	if (thread->state == TRACEE_STOPPED)
		thread_release(thread);
}

void tracee_spin(struct tracee *tracee, uint64_t nanoseconds)
{
	uint64_t began = loop_now_ns();
	uint64_t last = began;
	uint64_t now = began;
	uint64_t traps = tracee->counts.traps;

	tracee->depth++;
	while (now - began < nanoseconds && now - last < nanoseconds / 4 &&
	       !tracee_is_detaching(tracee)) {
		/* The thread may need the processor on which the node is running. */
		if (waits_take(tracee->waits) == 0)
			sched_yield();
		now = loop_now_ns();
		if (tracee->counts.traps != traps)
			last = now;
		traps = tracee->counts.traps;
	}
	tracee_step_out(tracee);
}

/* True if the thread blocks SIGTRAP: it would not stop at its watches. */
static bool blocks_traps(const struct thread *thread, int64_t *mask)
{
	*mask = 0;
	attachable_status(thread->tid, "SigBlk", 16, mask);
	return *mask >> (SIGTRAP - 1) & 1;
}

/*
 * True if a stopped thread blocks SIGTRAP only while it creates a process or a thread: meanwhile
 * the C library blocks its own two signals, too, which a program cannot do, and subprocess blocks
 * all other signals around vfork(2).
 */
static bool is_making_another(const struct thread *thread, int64_t mask)
{
	struct task_state state = { .syscall = -1 };
	struct task task;

	if ((mask & C_LIBRARY_SIGNALS) == C_LIBRARY_SIGNALS)
		return true;
	task_init(&task, thread->tracee->pid, thread->tid);
	task_begin(&task);
	task_look(&task, &state);
	task_clear(&task);
	return state.is_known && state.syscall == SYS_vfork;
}

static int refuse_blocked(struct thread *thread, struct error *error)
{
	thread->watchable = WATCHABLE_SOON;
	return error_set(error, "thread %d blocks SIGTRAP, so hardware breakpoints cannot stop it",
			 (int)thread->tid);
}

static bool wants_any(const struct hardware_watch slots[HARDWARE_WATCH_SLOTS])
{
	for (int i = 0; i < HARDWARE_WATCH_SLOTS; i++)
		if (slots[i].access != HARDWARE_WATCH_NONE)
			return true;
	return false;
}

static int tracee_prepare(struct thread *thread, struct error *error)
{
	int64_t mask;

	if (!debug_registers_are_set(&thread->slots)) {
		thread->watchable = blocks_traps(thread, &mask) ? WATCHABLE_UNPROVEN : WATCHABLE;
		if (thread->watchable == WATCHABLE_UNPROVEN && !thread->is_born &&
		    (thread->state != TRACEE_STOPPED || !is_making_another(thread, mask)))
			return refuse_blocked(thread, error);
	} else if (thread->watchable == WATCHABLE_SOON) {
		thread->watchable = WATCHABLE_UNPROVEN;
	}
	if (thread->tracee->disposition == DISPOSITION_IGNORED)
		return 0;
	if (tracee_ignore(thread->tracee, thread, error) == 0)
		return 0;
	if (loop_now() < thread->tracee->hopeless)
		thread->watchable = WATCHABLE_SOON;
	return -1;
}

int tracee_watch(struct tracee *tracee, pid_t tid,
		 const struct hardware_watch slots[HARDWARE_WATCH_SLOTS], struct error *error)
{
	struct thread *thread = thread_seek(tracee, tid);
	size_t changes = 0;
	int result;

	if (!thread || thread->state == TRACEE_EXITED)
		return error_set(error, "thread %d not found", (int)tid);
	if (wants_any(slots) && tracee_prepare(thread, error) < 0)
		return -1;
	result = debug_registers_set(&thread->slots, tid, slots, &changes, error);
	tracee->counts.changes += changes;
	if (changes)
		tracee_pass(tracee, "watched");
	return result;
}

bool tracee_may_watch_soon(const struct tracee *tracee, pid_t tid)
{
	const struct thread *thread = thread_find(tracee, tid);

	return thread && thread->watchable == WATCHABLE_SOON;
}

int tracee_prove(struct tracee *tracee, pid_t tid, struct error *error)
{
	struct thread *thread = thread_find(tracee, tid);
	int64_t mask;

	if (!thread || thread->watchable == WATCHABLE || stands(thread) || thread_is_stuck(thread))
		return 0;
	if (!blocks_traps(thread, &mask)) {
		thread->watchable = WATCHABLE;
		return 0;
	}
	if ((mask & C_LIBRARY_SIGNALS) == C_LIBRARY_SIGNALS)
		return 0;
	debug_registers_clear(&thread->slots);
	return refuse_blocked(thread, error);
}

bool tracee_is_watched(const struct tracee *tracee, pid_t tid, int slot)
{
	const struct thread *thread = thread_find(tracee, tid);

	return thread && thread->slots.watches[slot].access != HARDWARE_WATCH_NONE;
}

/* TRACEE_FROZEN: the same as freeze_begin(), for a thread that is already traced */

int tracee_hold(struct tracee *tracee, pid_t tid, struct error *error)
{
	struct thread *thread = thread_find(tracee, tid);

	if (!thread || thread->state == TRACEE_EXITED)
		return error_set(error, "thread %d has exited", (int)tid);
	if (stands(thread))
		return 0;
	if (thread->state != TRACEE_RUNNING && thread->state != TRACEE_LISTENING)
		return error_set(error, "thread %d is already being stopped", (int)tid);
	if (thread_is_stuck(thread))
		return error_set(error,
				 "thread %d cannot be stopped: it is exiting, or sleeps "
				 "uninterruptibly (state D)",
				 (int)tid);
	thread_interrupt(thread);
	if (!waits_one(tracee->waits, tid, LOOK_NS, &thread->status))
		return error_set(error, "thread %d did not stop within 50 ms", (int)tid);
	if (!WIFSTOPPED(thread->status)) {
		waits_return(tracee->waits, tid, thread->status);
		return error_set(error, "thread %d has exited", (int)tid);
	}
	thread->state = TRACEE_FROZEN;
	thread_note_stop(thread, thread->status);
	return 0;
}

void tracee_release(struct tracee *tracee, pid_t tid)
{
	struct thread *thread = thread_find(tracee, tid);

	if (!thread || thread->state != TRACEE_FROZEN)
		return;
	thread->state = TRACEE_RUNNING;
	if (thread->status >> 16 == PTRACE_EVENT_STOP && !thread->is_stop_due &&
	    !thread->own_trap && WSTOPSIG(thread->status) == SIGTRAP) {
		/* The group-stop of the process may have ended meanwhile. */
		thread->is_in_group_stop = false;
		thread_release(thread);
	} else {
		waits_return(tracee->waits, tid, thread->status);
	}
}
