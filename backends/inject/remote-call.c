#include "backends/inject/remote-call.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "banned.h"

#include "backends/linux/task.h"
#include "backends/tracer/attachable.h"
#include "backends/tracer/ptrace-ops.h"
#include "backends/tracer/remote-syscall.h"
#include "base/array.h"
#include "base/error.h"
#include "base/loop.h"

#define CALL_NS 2000000000u /* longest time for one call, in which only its thread is held */
#define FETCH_NS 1000000000u
#define ERRNO_LEAST 4096
#define BIT(number) (UINT64_C(1) << ((number) - 1))
/*
 * Mask of all signals except 32 and 33, which glibc uses for calls in all threads (setxid, cancel).
 */
#define MOST (~(UINT64_C(3) << (32 - 1)))

/* Signals whose default action is to be ignored. */
static const int idle[] = { SIGURG, SIGWINCH, SIGCHLD };

enum stop {
	STOP_LEFT,    /* syscall-stop: entry to a system call, or exit from it */
	STOP_SENT,    /* the signal that the thread sends to itself when the called function has
		       * returned */
	STOP_BETWEEN, /* any other stop, after which the thread is resumed */
	STOP_WRONG,   /* a fatal signal, like SIGSEGV */
	STOP_ENDED,
};

void remote_call_pass(const struct remote_call_watch *watch, const char *point)
{
	if (watch && watch->passing)
		watch->passing(point, watch->data);
}

/*
 * Preparation
 */

/*
 * Chooses the signal for the end of a function: one that has no handler and is not blocked (a
 * thread may wait for a blocked signal in sigwait(2)). If all have handlers, the first is used: a
 * handler of such a signal must expect it at any time, so it does no harm.
 */
static int choose_signal(pid_t pid)
{
	int64_t caught = 0;
	int64_t blocked = 0;

	attachable_status(pid, "SigCgt", 16, &caught);
	attachable_status(pid, "SigBlk", 16, &blocked);
	for (size_t i = 0; i < ARRAY_LENGTH(idle); i++)
		if (!((uint64_t)(caught | blocked) & BIT(idle[i])))
			return idle[i];
	return idle[0];
}

int remote_call_find(struct remote_call_places *places, pid_t pid, uint64_t send,
		     struct error *error)
{
	*places = (struct remote_call_places){
		.send = send,
		.signal = choose_signal(pid),
		.inner = task_inner(pid),
	};
	if (remote_syscall_find(pid, &places->code, error) < 0)
		return -1;
	if (places->code.come_back && places->code.take && places->inner)
		return 0;
	return error_set(error, "a thread of pid %d could not return from an injected call",
			 (int)pid);
}

int remote_call_init(struct remote_call *remote, pid_t tid, const struct remote_call_places *places,
		     struct error *error)
{
	remote->places = places;
	remote->tid = tid;
	remote->is_begun = false;
	remote->is_lost = false;
	remote->turns = 0;
	remote->took_ns = 0;
	if (ptrace_mark_syscalls(tid) < 0 || ptrace_get_registers(tid, &remote->registers) < 0)
		return error_set_errno(error, errno, "thread %d: the registers cannot be read",
				       (int)tid);
	if (arch_is_known(&remote->registers))
		return 0;
	return error_set(error, "thread %d runs a program of another architecture", (int)tid);
}

int remote_call_prepare(struct remote_call *remote, struct error *error)
{
	const struct arch_action none = { .handler = 0 };
	struct arch_frame *frame = &remote->frame;

	if (ptrace_get_mask(remote->tid, &remote->mask) < 0 ||
	    ptrace_get_floats(remote->tid, &remote->floats) < 0)
		return error_set_errno(error, errno, "thread %d: the registers cannot be read",
				       (int)remote->tid);
	arch_make_frame(frame, &remote->registers, &remote->floats, remote->mask,
			&remote->places->code, &none);
	if (!frame->comes_back)
		return error_set(error, "thread %d could not return from an injected call",
				 (int)remote->tid);
	if (ptrace_write_memory(remote->tid, frame->address, frame->bytes, frame->length) == 0)
		return 0;
	return error_set_errno(error, errno, "thread %d: the stack has no room for a call",
			       (int)remote->tid);
}

/*
 * The call
 */

/*
 * Sets the registers for the call. From then on, if the tracer died, the thread would restore its
 * registers and its signal mask by itself (sigreturn).
 */
static int remote_call_set(struct remote_call *remote, const struct arch_dump *registers,
			   struct error *error)
{
	uint64_t mask = MOST & ~BIT(remote->places->signal);

	if (ptrace_set_registers(remote->tid, registers) < 0)
		return error_set_errno(error, errno, "thread %d: the registers cannot be set",
				       (int)remote->tid);
	if (remote->is_begun)
		return 0;
	remote->is_begun = true;
	remote->began_ns = loop_now_ns();
	ptrace_set_mask(remote->tid, mask);
	return 0;
}

static bool remote_call_is_wrong(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE ||
	       number == SIGABRT || number == SIGTRAP || number == SIGSYS;
}

static enum stop remote_call_look(const struct remote_call *remote, int status)
{
	int number = WSTOPSIG(status);

	if (!WIFSTOPPED(status))
		return STOP_ENDED;
	if (status >> 16)
		return STOP_BETWEEN;
	if (number == SYSCALL_STOP)
		return STOP_LEFT;
	if (number == remote->places->signal &&
	    ptrace_signal_sender(remote->tid) == remote->places->inner)
		return STOP_SENT;
	return remote_call_is_wrong(number) ? STOP_WRONG : STOP_BETWEEN;
}

/*
 * Stops the thread at its current position, because the call has not returned in time. Returns -1.
 */
static int remote_call_fetch(struct remote_call *remote)
{
	int status;

	ptrace_interrupt(remote->tid);
	remote->is_lost = !ptrace_wait(remote->tid, FETCH_NS, &status) || !WIFSTOPPED(status);
	errno = ETIMEDOUT;
	return -1;
}

/*
 * Resumes the thread until the wanted stop. Signals that are not blocked during the call are
 * delivered; after SIGSTOP the thread joins the group-stop when the call has ended.
 */
static int remote_call_turn(struct remote_call *remote, enum stop wanted)
{
	void (*go)(pid_t tid, int number) = wanted == STOP_LEFT ? ptrace_syscall : ptrace_cont;
	uint64_t until = loop_now_ns() + CALL_NS;
	int number = 0;
	int status;

	for (;;) {
		uint64_t now = loop_now_ns();
		go(remote->tid, number);
		remote->turns++;
		if (now > until || !ptrace_wait(remote->tid, until - now, &status))
			return remote_call_fetch(remote);
		enum stop stop = remote_call_look(remote, status);
		if (stop == wanted)
			return 0;
		if (stop == STOP_ENDED || stop == STOP_WRONG) {
			remote->is_lost = stop == STOP_ENDED;
			errno = stop == STOP_ENDED ? ESRCH : EFAULT;
			return -1;
		}
		number = status >> 16 ? 0 : WSTOPSIG(status);
	}
}

static int remote_call_fail(const struct remote_call *remote, struct error *error)
{
	if (errno == ETIMEDOUT)
		return error_set(error,
				 "thread %d did not return from a call within %d s: try again",
				 (int)remote->tid, (int)(CALL_NS / 1000000000u));
	return error_set_errno(error, errno, "thread %d could not be made to call a function",
			       (int)remote->tid);
}

int remote_call_syscall(struct remote_call *remote, const struct arch_call *call, int64_t *result,
			struct error *error)
{
	struct arch_dump registers = remote->registers;

	arch_set_syscall(&registers, &remote->frame, &remote->places->code, call);
	if (remote_call_set(remote, &registers, error) < 0)
		return -1;
	remote_call_pass(remote->watch, "asking");
	if (remote_call_turn(remote, STOP_LEFT) < 0 || remote_call_turn(remote, STOP_LEFT) < 0 ||
	    ptrace_get_registers(remote->tid, &registers) < 0)
		return remote_call_fail(remote, error);
	*result = arch_result(&registers);
	remote_call_pass(remote->watch, "answered");
	if (*result >= 0 || *result <= -ERRNO_LEAST)
		return 0;
	errno = (int)-*result;
	return remote_call_fail(remote, error);
}

int remote_call_function(struct remote_call *remote, const struct arch_call *call,
			 struct error *error)
{
	struct arch_dump registers = remote->registers;
	struct arch_return where;

	arch_make_return(&where, &remote->frame, &remote->places->code, remote->places->send,
			 (uint64_t)remote->places->signal);
	if (ptrace_write_memory(remote->tid, where.address, where.words, sizeof(where.words)) < 0)
		return remote_call_fail(remote, error);
	arch_set_function(&registers, &remote->frame, &where, call);
	if (remote_call_set(remote, &registers, error) < 0)
		return -1;
	remote_call_pass(remote->watch, "calling");
	if (remote_call_turn(remote, STOP_SENT) < 0)
		return remote_call_fail(remote, error);
	remote_call_pass(remote->watch, "called");
	return 0;
}

/*
 * Restores the thread. The registers are restored last: until then the thread would restore
 * everything by itself if the tracer died. The kernel restarts an interrupted system call at
 * PTRACE_DETACH, when it checks for signals.
 */
void remote_call_end(struct remote_call *remote)
{
	if (!remote->is_begun || remote->is_lost)
		return;
	ptrace_set_floats(remote->tid, &remote->floats);
	ptrace_set_mask(remote->tid, remote->mask);
	ptrace_set_registers(remote->tid, &remote->registers);
	remote->took_ns = loop_now_ns() - remote->began_ns;
	remote->is_begun = false;
	remote_call_pass(remote->watch, "restored");
}
