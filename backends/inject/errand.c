#include "backends/inject/errand.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#include "banned.h"

#include "backends/control/attachable.h"
#include "backends/control/remote.h"
#include "backends/control/standing.h"
#include "backends/ptrace/task.h"
#include "base/array.h"
#include "base/error.h"
#include "base/loop.h"

#define CALL_NS 500000000u
#define FETCH_NS 1000000000u
#define ERRNO_LEAST 4096
#define BIT(number) (UINT64_C(1) << ((number) - 1))
/* The C library's own two, for all threads, and a new one's. */
#define MOST (~(UINT64_C(3) << (32 - 1)))

/* Ignored, if the program has no handler for it. */
static const int idle[] = { SIGURG, SIGWINCH, SIGCHLD };

enum stop {
	STOP_LEFT,    /* the kernel, or is about to enter it */
	STOP_SENT,    /* the signal to itself */
	STOP_BETWEEN, /* it is to be resumed */
	STOP_WRONG,
	STOP_ENDED,
};

void errand_pass(const struct errand_watch *watch, const char *point)
{
	if (watch && watch->passing)
		watch->passing(point, watch->data);
}

/*
 * Before
 */

/*
 * One that has no handler, and that nobody keeps for sigwait(2). Each of them
 * may come at any time: even another does no harm.
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

int errand_find(struct errand_places *places, pid_t pid, uint64_t send, struct error *error)
{
	*places = (struct errand_places){
		.send = send,
		.signal = choose_signal(pid),
		.inner = task_inner(pid),
	};
	if (remote_find(pid, &places->code, error) < 0)
		return -1;
	if (places->code.come_back && places->code.take && places->inner)
		return 0;
	return error_set(error, "A thread of pid %d could not come back from a call.", (int)pid);
}

int errand_init(struct errand *errand, pid_t tid, const struct errand_places *places,
		struct error *error)
{
	errand->places = places;
	errand->tid = tid;
	errand->is_begun = false;
	errand->is_lost = false;
	errand->turns = 0;
	errand->took_ns = 0;
	if (standing_tell_calls(tid) < 0 || standing_registers(tid, &errand->registers) < 0)
		return error_set_errno(error, errno, "thread %d: its registers cannot be had",
				       (int)tid);
	if (arch_is_known(&errand->registers))
		return 0;
	return error_set(error, "thread %d runs a program of another kind of processor", (int)tid);
}

int errand_ready(struct errand *errand, struct error *error)
{
	const struct arch_action none = { .handler = 0 };
	struct arch_frame *frame = &errand->frame;

	if (standing_mask(errand->tid, &errand->mask) < 0 ||
	    standing_floats(errand->tid, &errand->floats) < 0)
		return error_set_errno(error, errno, "thread %d: its registers cannot be had",
				       (int)errand->tid);
	arch_make_frame(frame, &errand->registers, &errand->floats, errand->mask,
			&errand->places->code, &none);
	if (!frame->comes_back)
		return error_set(error, "thread %d could not come back from a call",
				 (int)errand->tid);
	if (standing_write(errand->tid, frame->address, frame->bytes, frame->length) == 0)
		return 0;
	return error_set_errno(error, errno, "thread %d: below its stack there is no room",
			       (int)errand->tid);
}

/*
 * On the way
 */

/*
 * From the moment when the registers are set the thread would come back by
 * itself, to the mask it has now.
 */
static int set(struct errand *errand, const struct arch_dump *registers, struct error *error)
{
	uint64_t mask = MOST & ~BIT(errand->places->signal);

	if (standing_set_registers(errand->tid, registers) < 0)
		return error_set_errno(error, errno, "thread %d: its registers cannot be set",
				       (int)errand->tid);
	if (errand->is_begun)
		return 0;
	errand->is_begun = true;
	errand->began_ns = loop_now_ns();
	standing_set_mask(errand->tid, mask);
	return 0;
}

static bool is_wrong(int number)
{
	return number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE ||
	       number == SIGABRT || number == SIGTRAP || number == SIGSYS;
}

static enum stop look(const struct errand *errand, int status)
{
	int number = WSTOPSIG(status);

	if (!WIFSTOPPED(status))
		return STOP_ENDED;
	if (status >> 16)
		return STOP_BETWEEN;
	if (number == STANDING_AT_CALL)
		return STOP_LEFT;
	if (number == errand->places->signal &&
	    standing_sender(errand->tid) == errand->places->inner)
		return STOP_SENT;
	return is_wrong(number) ? STOP_WRONG : STOP_BETWEEN;
}

/* It did not come back in time: it is stopped where it is. */
static int fetch(struct errand *errand)
{
	int status;

	standing_interrupt(errand->tid);
	errand->is_lost = !standing_wait(errand->tid, FETCH_NS, &status) || !WIFSTOPPED(status);
	errno = ETIMEDOUT;
	return -1;
}

/*
 * Signals, of the few that are not blocked, are handed on. So is SIGSTOP: the
 * thread takes part in the stop of its process as soon as it is back.
 */
static int turn(struct errand *errand, enum stop wanted)
{
	void (*go)(pid_t tid, int number) = wanted == STOP_LEFT ? standing_go_to_call : standing_go;
	uint64_t until = loop_now_ns() + CALL_NS;
	int number = 0;
	int status;

	for (;;) {
		uint64_t now = loop_now_ns();
		go(errand->tid, number);
		errand->turns++;
		if (now > until || !standing_wait(errand->tid, until - now, &status))
			return fetch(errand);
		enum stop stop = look(errand, status);
		if (stop == wanted)
			return 0;
		if (stop == STOP_ENDED || stop == STOP_WRONG) {
			errand->is_lost = stop == STOP_ENDED;
			errno = stop == STOP_ENDED ? ESRCH : EFAULT;
			return -1;
		}
		number = status >> 16 ? 0 : WSTOPSIG(status);
	}
}

static int fail(const struct errand *errand, struct error *error)
{
	return error_set_errno(error, errno, "thread %d could not be made to call",
			       (int)errand->tid);
}

int errand_ask(struct errand *errand, const struct arch_call *call, int64_t *result,
	       struct error *error)
{
	struct arch_dump registers = errand->registers;

	arch_set_syscall(&registers, &errand->frame, &errand->places->code, call);
	if (set(errand, &registers, error) < 0)
		return -1;
	errand_pass(errand->watch, "asking");
	if (turn(errand, STOP_LEFT) < 0 || turn(errand, STOP_LEFT) < 0 ||
	    standing_registers(errand->tid, &registers) < 0)
		return fail(errand, error);
	*result = arch_result(&registers);
	errand_pass(errand->watch, "answered");
	if (*result >= 0 || *result <= -ERRNO_LEAST)
		return 0;
	errno = (int)-*result;
	return fail(errand, error);
}

int errand_do(struct errand *errand, const struct arch_call *call, struct error *error)
{
	struct arch_dump registers = errand->registers;
	struct arch_return where;

	arch_make_return(&where, &errand->frame, &errand->places->code, errand->places->send,
			 (uint64_t)errand->places->signal);
	if (standing_write(errand->tid, where.address, where.words, sizeof(where.words)) < 0)
		return fail(errand, error);
	arch_set_function(&registers, &errand->frame, &where, call);
	if (set(errand, &registers, error) < 0)
		return -1;
	errand_pass(errand->watch, "calling");
	if (turn(errand, STOP_SENT) < 0)
		return fail(errand, error);
	errand_pass(errand->watch, "called");
	return 0;
}

/*
 * The registers last: until then it puts all of that back itself. Wherever it
 * stands, a system call that it was in is begun again as soon as it is
 * detached from: the kernel looks for signals then.
 */
void errand_end(struct errand *errand)
{
	if (!errand->is_begun || errand->is_lost)
		return;
	standing_set_floats(errand->tid, &errand->floats);
	standing_set_mask(errand->tid, errand->mask);
	standing_set_registers(errand->tid, &errand->registers);
	errand->took_ns = loop_now_ns() - errand->began_ns;
	errand->is_begun = false;
	errand_pass(errand->watch, "restored");
}
