#include "backends/tracer/ptrace-ops.h"

#include <assert.h>
#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "backends/tracer/arch.h"
#include "banned.h"
#include "base/loop.h"

#define MASK_BYTES sizeof(uint64_t)

static_assert(SYSCALL_STOP == (SIGTRAP | 0x80), "PTRACE_O_TRACESYSGOOD");

static int to_result(long result)
{
	return result < 0 ? -1 : 0;
}

int ptrace_mark_syscalls(pid_t tid)
{
	return to_result(
		ptrace(PTRACE_SETOPTIONS, tid, 0, (void *)(uintptr_t)PTRACE_O_TRACESYSGOOD));
}

/*
 * State of a stopped thread
 */

static int ptrace_ops_get(pid_t tid, int set, void *bytes, size_t size, size_t *length)
{
	struct iovec out = { bytes, size };

	if (ptrace(PTRACE_GETREGSET, tid, (void *)(uintptr_t)set, &out) < 0)
		return -1;
	*length = out.iov_len;
	return 0;
}

static int ptrace_ops_put(pid_t tid, int set, const void *bytes, size_t length)
{
	struct iovec in = { (void *)(uintptr_t)bytes, length };

	return to_result(ptrace(PTRACE_SETREGSET, tid, (void *)(uintptr_t)set, &in));
}

int ptrace_get_registers(pid_t tid, struct arch_dump *dump)
{
	return ptrace_ops_get(tid, NT_PRSTATUS, dump->words, sizeof(dump->words), &dump->length);
}

int ptrace_set_registers(pid_t tid, const struct arch_dump *dump)
{
	return ptrace_ops_put(tid, NT_PRSTATUS, dump->words, dump->length);
}

int ptrace_get_floats(pid_t tid, struct arch_floats *floats)
{
	return ptrace_ops_get(tid, arch_floats_set(), floats->bytes, sizeof(floats->bytes),
			      &floats->length);
}

int ptrace_set_floats(pid_t tid, const struct arch_floats *floats)
{
	return ptrace_ops_put(tid, arch_floats_set(), floats->bytes, floats->length);
}

int ptrace_get_mask(pid_t tid, uint64_t *mask)
{
	return to_result(ptrace(PTRACE_GETSIGMASK, tid, (void *)MASK_BYTES, mask));
}

int ptrace_set_mask(pid_t tid, uint64_t mask)
{
	return to_result(ptrace(PTRACE_SETSIGMASK, tid, (void *)MASK_BYTES, &mask));
}

ssize_t ptrace_read_memory(pid_t tid, uint64_t address, void *bytes, size_t length)
{
	struct iovec to = { bytes, length };
	struct iovec from = { (void *)(uintptr_t)address, length };

	return process_vm_readv(tid, &to, 1, &from, 1, 0);
}

int ptrace_write_memory(pid_t tid, uint64_t address, const void *bytes, size_t length)
{
	struct iovec from = { (void *)(uintptr_t)bytes, length };
	struct iovec to = { (void *)(uintptr_t)address, length };

	return to_result(process_vm_writev(tid, &from, 1, &to, 1, 0) - (ssize_t)length);
}

/*
 * Resuming
 */

void ptrace_cont(pid_t tid, int signal_number)
{
	ptrace(PTRACE_CONT, tid, 0, (void *)(uintptr_t)signal_number);
}

void ptrace_syscall(pid_t tid, int signal_number)
{
	ptrace(PTRACE_SYSCALL, tid, 0, (void *)(uintptr_t)signal_number);
}

void ptrace_interrupt(pid_t tid)
{
	ptrace(PTRACE_INTERRUPT, tid, 0, 0);
}

pid_t ptrace_signal_sender(pid_t tid)
{
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, tid, 0, &info) < 0 || info.si_code != SI_TKILL)
		return 0;
	return info.si_pid;
}

bool ptrace_wait(pid_t tid, uint64_t nanoseconds, int *status)
{
	uint64_t began = loop_now_ns();
	struct stop_wait stop_wait;
	pid_t found;

	stop_wait_begin(&stop_wait);
	for (;;) {
		found = waitpid(tid, status, __WALL | WNOHANG);
		if (found != 0 || loop_now_ns() - began > nanoseconds)
			break;
		stop_wait_sleep(&stop_wait);
	}
	stop_wait_end(&stop_wait);
	return found == tid;
}

#define FIRST_NS 100000 /* first wait; each next wait is twice as long, up to LONGEST_NS */
#define LONGEST_NS 2000000

static void make_child(sigset_t *child)
{
	sigemptyset(child);
	sigaddset(child, SIGCHLD);
}

void stop_wait_begin(struct stop_wait *stop_wait)
{
	sigset_t child;

	make_child(&child);
	pthread_sigmask(SIG_BLOCK, &child, &stop_wait->before);
	stop_wait->nanoseconds = FIRST_NS;
	stop_wait->was_woken = false;
}

void stop_wait_sleep(struct stop_wait *stop_wait)
{
	const struct timespec longest = { .tv_nsec = stop_wait->nanoseconds };
	sigset_t child;

	make_child(&child);
	if (sigtimedwait(&child, NULL, &longest) == SIGCHLD)
		stop_wait->was_woken = true;
	else if (stop_wait->nanoseconds < LONGEST_NS)
		stop_wait->nanoseconds *= 2;
}

void stop_wait_end(struct stop_wait *stop_wait)
{
	if (stop_wait->was_woken)
		raise(SIGCHLD);
	pthread_sigmask(SIG_SETMASK, &stop_wait->before, NULL);
}
