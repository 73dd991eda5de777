#include "backends/control/remote.h"

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "banned.h"

#include "backends/ptrace/maps.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/loop.h"

#define CODE_BYTES ((size_t)8 << 20) /* of one file, and so many times: */
#define CODE_FILES 8
#define EVERYTHING (~UINT64_C(0))
/*
 * A thread that a function begins keeps that mask: the C library's own two
 * signals are for all threads.
 */
#define MOST (~(UINT64_C(3) << (32 - 1)))
#define MASK_BYTES sizeof(uint64_t)
#define SYSCALL_STOP (SIGTRAP | 0x80)
#define SPIN_NS 200000u
#define SLEEP_NS 20000u
#define FETCH_NS 1000000000u
#define ERRNO_LEAST 4096

static ssize_t copy(pid_t pid, uint64_t address, void *bytes, size_t length)
{
	struct iovec to = { bytes, length };
	struct iovec from = { (void *)(uintptr_t)address, length };

	return process_vm_readv(pid, &to, 1, &from, 1, 0);
}

static bool put(pid_t pid, uint64_t address, void *bytes, size_t length)
{
	struct iovec from = { bytes, length };
	struct iovec to = { (void *)(uintptr_t)address, length };

	return process_vm_writev(pid, &from, 1, &to, 1, 0) == (ssize_t)length;
}

/*
 * Where
 */

static bool is_complete(const struct arch_places *places)
{
	return places->call && places->come_back;
}

static void look_into(pid_t pid, const struct mapping *mapping,
		      struct arch_places *places)
{
	size_t length = mapping->end - mapping->start;
	struct arch_places found = { .call = 0 };

	if (length > CODE_BYTES)
		length = CODE_BYTES;
	uint8_t *code = xmalloc(length);
	ssize_t got = copy(pid, mapping->start, code, length);
	if (got > 0)
		arch_find_places(code, (size_t)got, mapping->start,
				 !mapping->is_vdso, &found);
	free(code);
	if (is_complete(&found) || (mapping->is_vdso && !places->call))
		*places = found;
}

/* The C library has both, nearly always; its file is called so everywhere. */
static bool is_likely(const struct mapping *mapping)
{
	const char *name = strrchr(mapping->path, '/');

	return name && (strncmp(name, "/libc.", 6) == 0 ||
			strncmp(name, "/libc-", 6) == 0 ||
			strncmp(name, "/ld-musl", 8) == 0);
}

static void look_everywhere(pid_t pid, const struct maps *maps,
			    struct arch_places *places)
{
	int left = CODE_FILES;

	for (size_t i = 0; i < maps->count && !is_complete(places); i++)
		if (is_likely(&maps->mappings[i]))
			look_into(pid, &maps->mappings[i], places);
	for (size_t i = 0; i < maps->count && !is_complete(places); i++)
		if (maps->mappings[i].inode && left-- > 0)
			look_into(pid, &maps->mappings[i], places);
	for (size_t i = 0; i < maps->count && !places->call; i++)
		if (maps->mappings[i].is_vdso)
			look_into(pid, &maps->mappings[i], places);
}

int remote_find(pid_t pid, struct arch_places *places, struct error *error)
{
	struct maps maps = { .count = 0 };

	*places = (struct arch_places){ .call = 0 };
	if (maps_read(&maps, pid, 0) < 0)
		return error_set_errno(error, errno,
				       "pid %d: its maps cannot be read",
				       (int)pid);
	look_everywhere(pid, &maps, places);
	maps_clear(&maps);
	if (places->call)
		return 0;
	return error_set(error,
			 "pid %d has no place from which the kernel is called",
			 (int)pid);
}

/*
 * The call
 */

static int get_registers(pid_t tid, struct arch_dump *dump)
{
	struct iovec out = { dump->words, sizeof(dump->words) };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS,
		   &out) < 0)
		return -1;
	dump->length = out.iov_len;
	return 0;
}

static int set_registers(pid_t tid, struct arch_dump *dump)
{
	struct iovec in = { dump->words, dump->length };

	return ptrace(PTRACE_SETREGSET, tid, (void *)(uintptr_t)NT_PRSTATUS,
		      &in) < 0
		       ? -1
		       : 0;
}

static int set_mask(pid_t tid, uint64_t mask)
{
	return ptrace(PTRACE_SETSIGMASK, tid, (void *)MASK_BYTES, &mask) < 0
		       ? -1
		       : 0;
}

static int keep(struct remote *remote, struct error *error)
{
	if (get_registers(remote->tid, &remote->registers) < 0 ||
	    ptrace(PTRACE_GETSIGMASK, remote->tid, (void *)MASK_BYTES,
		   &remote->mask) < 0)
		return error_set_errno(error, errno,
				       "thread %d: its registers cannot be had",
				       (int)remote->tid);
	if (!arch_is_known(&remote->registers))
		return error_set(error,
				 "thread %d runs a program of another kind of "
				 "processor",
				 (int)remote->tid);
	return 0;
}

/* The long one first: a short one fits below more stacks, but is one-way. */
static int make_frame(struct remote *remote, struct arch_frame *frame,
		      const struct arch_places *places,
		      const struct arch_action *action)
{
	struct arch_floats *floats = xmalloc(sizeof(*floats));
	struct iovec out = { floats->bytes, sizeof(floats->bytes) };
	bool is_put = false;

	if (ptrace(PTRACE_GETREGSET, remote->tid,
		   (void *)(uintptr_t)arch_floats_set(), &out) == 0) {
		floats->length = out.iov_len;
		arch_make_frame(frame, &remote->registers, floats, remote->mask,
				places, action);
		is_put = put(remote->tid, frame->address, frame->bytes,
			     frame->length);
	}
	if (!is_put) {
		arch_make_frame(frame, &remote->registers, NULL, remote->mask,
				places, action);
		is_put = put(remote->tid, frame->address, frame->bytes,
			     frame->length);
	}
	free(floats);
	return is_put ? 0 : -1;
}

static void go(pid_t tid, int signal_number)
{
	ptrace(PTRACE_SYSCALL, tid, 0, (void *)(uintptr_t)signal_number);
}

/*
 * From the moment when the registers are set the thread would come back by
 * itself, to the mask it has now.
 */
static int start(struct remote *remote, struct arch_dump registers)
{
	if (set_registers(remote->tid, &registers) < 0)
		return -1;
	if (set_mask(remote->tid, remote->is_function ? MOST : EVERYTHING) <
	    0) {
		int number = errno;
		set_registers(remote->tid, &remote->registers);
		errno = number;
		return -1;
	}
	remote->phase = REMOTE_ENTERS;
	go(remote->tid, 0);
	return 0;
}

static int start_call(struct remote *remote, const struct arch_frame *frame,
		      const struct arch_places *places,
		      const struct arch_call *call, struct error *error)
{
	struct arch_dump registers = remote->registers;

	if (call->function && !frame->comes_back)
		return error_set(error,
				 "thread %d could not come back from a call",
				 (int)remote->tid);
	if (call->function)
		arch_set_function(&registers, frame, call);
	else
		arch_set_syscall(&registers, frame, places, call);
	if (start(remote, registers) == 0)
		return 0;
	return error_set_errno(error, errno,
			       "thread %d: its registers cannot be set",
			       (int)remote->tid);
}

/* call NULL: SIGTRAP gets that action. */
static int begin(struct remote *remote, const struct arch_places *places,
		 const struct arch_action *action, const struct arch_call *call,
		 struct error *error)
{
	struct arch_frame *frame;
	struct arch_call own;
	int result;

	if (keep(remote, error) < 0)
		return -1;
	frame = xcalloc(1, sizeof(*frame));
	if (make_frame(remote, frame, places, action) < 0) {
		result = error_set_errno(error, errno,
					 "thread %d: below its stack there is "
					 "no room",
					 (int)remote->tid);
	} else {
		arch_make_action(&own, frame, SIGTRAP);
		remote->place = call ? 0 : frame->old;
		result = start_call(remote, frame, places, call ? call : &own,
				    error);
	}
	free(frame);
	return result;
}

int remote_begin(struct remote *remote, pid_t tid,
		 const struct arch_places *places,
		 const struct arch_action *action, struct error *error)
{
	*remote = (struct remote){ .tid = tid };
	return begin(remote, places, action, NULL, error);
}

static int keep_floats(struct remote *remote)
{
	struct arch_floats *floats = xmalloc(sizeof(*floats));
	struct iovec out = { floats->bytes, sizeof(floats->bytes) };

	if (ptrace(PTRACE_GETREGSET, remote->tid,
		   (void *)(uintptr_t)arch_floats_set(), &out) < 0) {
		free(floats);
		return -1;
	}
	floats->length = out.iov_len;
	remote->floats = floats;
	return 0;
}

int remote_begin_call(struct remote *remote, pid_t tid,
		      const struct arch_places *places,
		      const struct arch_call *call, struct error *error)
{
	const struct arch_action none = { .handler = 0 };

	*remote = (struct remote){ .tid = tid,
				   .is_function = call->function != 0 };
	if (remote->is_function && keep_floats(remote) < 0)
		return error_set_errno(error, errno,
				       "thread %d: its registers cannot be had",
				       (int)tid);
	if (begin(remote, places, &none, call, error) == 0)
		return 0;
	free(remote->floats);
	remote->floats = NULL;
	return -1;
}

int remote_registers(pid_t tid, struct arch_dump *dump)
{
	return get_registers(tid, dump);
}

int remote_prepare(pid_t tid, struct error *error)
{
	if (ptrace(PTRACE_SETOPTIONS, tid, 0,
		   (void *)(uintptr_t)PTRACE_O_TRACESYSGOOD) == 0)
		return 0;
	return error_set_errno(error, errno, "thread %d cannot be traced",
			       (int)tid);
}

static void take_result(struct remote *remote)
{
	struct arch_dump registers;

	remote->result = -EIO;
	if (get_registers(remote->tid, &registers) == 0)
		remote->result = remote->is_function ? 0
						     : arch_result(&registers);
	if (remote->result == 0 && remote->place &&
	    copy(remote->tid, remote->place, &remote->old,
		 sizeof(remote->old)) != sizeof(remote->old))
		remote->result = -EFAULT;
}

/*
 * Interrupted first: a system call to be begun again is, from its own
 * registers, also when nobody lets it go on. The registers last: until then
 * the thread puts its mask back itself.
 */
static void leave(struct remote *remote)
{
	ptrace(PTRACE_INTERRUPT, remote->tid, 0, 0);
	set_mask(remote->tid, remote->mask);
	set_registers(remote->tid, &remote->registers);
	remote->phase = REMOTE_SETTLES;
	ptrace(PTRACE_CONT, remote->tid, 0, 0);
}

static void put_floats_back(const struct remote *remote)
{
	struct iovec in = { remote->floats->bytes, remote->floats->length };

	ptrace(PTRACE_SETREGSET, remote->tid,
	       (void *)(uintptr_t)arch_floats_set(), &in);
}

/* A call of remote_begin_call() that goes wrong is left where it is. */
static bool is_wrong(const struct remote *remote, int event, int number)
{
	return !remote->place && !event &&
	       (number == SIGSEGV || number == SIGBUS || number == SIGILL ||
		number == SIGFPE || number == SIGABRT || number == SIGTRAP ||
		number == SIGSYS);
}

static void abandon(struct remote *remote, int64_t result)
{
	if (remote->floats)
		put_floats_back(remote);
	leave(remote);
	remote->result = result;
}

/*
 * From a function it does not come back by itself as long as we are there: of
 * a sleep that is cut short the kernel forgets then how much is left.
 */
static void take_back(struct remote *remote)
{
	struct arch_dump registers = remote->registers;

	if (!remote->is_function)
		return;
	arch_go_on(&registers);
	put_floats_back(remote);
	set_registers(remote->tid, &registers);
}

/* A function enters the kernel for itself, too, before it comes back. */
static bool is_on_its_way_back(const struct remote *remote)
{
	struct arch_dump registers;

	return !remote->is_function ||
	       (get_registers(remote->tid, &registers) == 0 &&
		arch_comes_back(&registers));
}

/*
 * All its signals are blocked but SIGSTOP, which is let through: the thread
 * takes part in the stop of its process as soon as it is back.
 */
static bool on_stop(struct remote *remote, int status)
{
	int event = status >> 16;
	int number = WSTOPSIG(status);

	if (remote->phase == REMOTE_SETTLES) {
		if (event == PTRACE_EVENT_STOP)
			return true;
		ptrace(PTRACE_INTERRUPT, remote->tid, 0, 0);
		if (event || number == SIGTRAP)
			number = 0;
		ptrace(PTRACE_CONT, remote->tid, 0, (void *)(uintptr_t)number);
		return false;
	}
	if (is_wrong(remote, event, number)) {
		abandon(remote, -EFAULT);
		return false;
	}
	if (event || number != SYSCALL_STOP) {
		go(remote->tid, event ? 0 : number);
		return false;
	}
	if (remote->phase == REMOTE_ENTERS) {
		if (is_on_its_way_back(remote)) {
			remote->phase = REMOTE_LEAVES;
			take_back(remote);
		}
		go(remote->tid, 0);
		return false;
	}
	take_result(remote);
	leave(remote);
	return false;
}

bool remote_changed(struct remote *remote, int status)
{
	/* By another thread it has become another program. */
	if (!WIFSTOPPED(status) || status >> 16 == PTRACE_EVENT_EXEC) {
		remote->result = -ESRCH;
		remote->phase = REMOTE_IDLE;
		return true;
	}
	if (!on_stop(remote, status))
		return false;
	remote->phase = REMOTE_IDLE;
	return true;
}

int remote_result(const struct remote *remote, struct arch_action *old,
		  struct error *error)
{
	if (remote->result < 0)
		return error_set_errno(error, (int)-remote->result,
				       "thread %d does not ignore SIGTRAP as "
				       "it was told",
				       (int)remote->tid);
	*old = remote->old;
	return 0;
}

/*
 * Waiting for it
 */

/* A status within that time, or none. */
static bool wait_for(pid_t tid, uint64_t nanoseconds, int *status)
{
	uint64_t began = loop_now_ns();

	for (;;) {
		uint64_t spent = loop_now_ns() - began;
		pid_t found = waitpid(tid, status, __WALL | WNOHANG);
		if (found == tid)
			return true;
		if (found < 0 || spent > nanoseconds)
			return false;
		if (spent > SPIN_NS)
			nanosleep(&(struct timespec){ .tv_nsec = SLEEP_NS },
				  NULL);
	}
}

/* It did not come back in time: it is fetched from where it is. */
static void fetch(struct remote *remote)
{
	int status;

	ptrace(PTRACE_INTERRUPT, remote->tid, 0, 0);
	if (!wait_for(remote->tid, FETCH_NS, &status))
		return;
	if (WIFSTOPPED(status)) {
		abandon(remote, -ETIMEDOUT);
		while (wait_for(remote->tid, FETCH_NS, &status) &&
		       !remote_changed(remote, status))
			;
	}
	remote->phase = REMOTE_IDLE;
}

int remote_finish(struct remote *remote, uint64_t nanoseconds, int64_t *result,
		  struct error *error)
{
	uint64_t began = loop_now_ns();
	int status;

	remote->result = -ETIMEDOUT;
	while (remote->phase != REMOTE_IDLE) {
		uint64_t spent = loop_now_ns() - began;
		if (spent > nanoseconds ||
		    !wait_for(remote->tid, nanoseconds - spent, &status)) {
			fetch(remote);
			break;
		}
		remote_changed(remote, status);
	}
	free(remote->floats);
	remote->floats = NULL;
	*result = remote->result;
	if (*result > -ERRNO_LEAST && *result < 0)
		return error_set_errno(error, (int)-*result,
				       "thread %d could not be made to call",
				       (int)remote->tid);
	return 0;
}
