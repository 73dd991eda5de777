#include "backends/tracer/remote-syscall.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "banned.h"

#include "backends/linux/maps.h"
#include "backends/tracer/ptrace-ops.h"
#include "base/alloc.h"
#include "base/error.h"

#define CODE_BYTES ((size_t)8 << 20) /* maximum number of bytes read of one file */
#define CODE_FILES 8
#define EVERYTHING (~UINT64_C(0))

/*
 * Places
 */

static bool is_complete(const struct arch_places *places)
{
	return places->call && places->come_back;
}

static void look_into(pid_t pid, const struct mapping *mapping, struct arch_places *places)
{
	size_t length = mapping->end - mapping->start;
	struct arch_places found = { .call = 0 };

	if (length > CODE_BYTES)
		length = CODE_BYTES;
	uint8_t *code = xmalloc(length);
	ssize_t got = ptrace_read_memory(pid, mapping->start, code, length);
	if (got > 0)
		arch_find_places(code, (size_t)got, mapping->start, !mapping->is_vdso, &found);
	free(code);
	if (is_complete(&found) || (mapping->is_vdso && !places->call))
		*places = found;
}

/* True if the file has the name of a C library, which nearly always contains both places. */
static bool remote_syscall_is_likely(const struct mapping *mapping)
{
	const char *name = strrchr(mapping->path, '/');

	return name && (strncmp(name, "/libc.", 6) == 0 || strncmp(name, "/libc-", 6) == 0 ||
			strncmp(name, "/ld-musl", 8) == 0);
}

static void look_everywhere(pid_t pid, const struct maps *maps, struct arch_places *places)
{
	int left = CODE_FILES;

	for (size_t i = 0; i < maps->count && !is_complete(places); i++)
		if (remote_syscall_is_likely(&maps->mappings[i]))
			look_into(pid, &maps->mappings[i], places);
	for (size_t i = 0; i < maps->count && !is_complete(places); i++)
		if (maps->mappings[i].inode && left-- > 0)
			look_into(pid, &maps->mappings[i], places);
	for (size_t i = 0; i < maps->count && !places->call; i++)
		if (maps->mappings[i].is_vdso)
			look_into(pid, &maps->mappings[i], places);
}

int remote_syscall_find(pid_t pid, struct arch_places *places, struct error *error)
{
	struct maps maps = { .count = 0 };

	*places = (struct arch_places){ .call = 0 };
	if (maps_read(&maps, pid, 0) < 0)
		return error_set_errno(error, errno, "pid %d: the memory map cannot be read",
				       (int)pid);
	look_everywhere(pid, &maps, places);
	arch_measure_floats(places);
	maps_clear(&maps);
	if (places->call)
		return 0;
	return error_set(error, "pid %d: no instruction for system calls was found", (int)pid);
}

/*
 * The call
 */

static int remote_syscall_keep(struct remote_syscall *remote, struct error *error)
{
	if (ptrace_get_registers(remote->tid, &remote->registers) < 0 ||
	    ptrace_get_mask(remote->tid, &remote->mask) < 0)
		return error_set_errno(error, errno, "thread %d: the registers cannot be read",
				       (int)remote->tid);
	if (!arch_is_known(&remote->registers))
		return error_set(error, "thread %d runs a program of another architecture",
				 (int)remote->tid);
	return 0;
}

static int remote_syscall_put_frame(const struct remote_syscall *remote,
				    const struct arch_frame *frame)
{
	return ptrace_write_memory(remote->tid, frame->address, frame->bytes, frame->length);
}

/*
 * Tries the long frame first. The short frame needs less space below the stack, but the thread
 * cannot return through it by itself.
 */
static int remote_syscall_make_frame(struct remote_syscall *remote, struct arch_frame *frame,
				     const struct arch_places *places,
				     const struct arch_action *action)
{
	struct arch_floats *floats = xmalloc(sizeof(*floats));
	int result = -1;

	if (ptrace_get_floats(remote->tid, floats) == 0) {
		arch_make_frame(frame, &remote->registers, floats, remote->mask, places, action);
		result = remote_syscall_put_frame(remote, frame);
	}
	if (result < 0) {
		arch_make_frame(frame, &remote->registers, NULL, remote->mask, places, action);
		result = remote_syscall_put_frame(remote, frame);
	}
	free(floats);
	return result;
}

/*
 * Once the registers are set, the thread would return by itself if the tracer were killed, with its
 * present signal mask.
 */
static int remote_syscall_start(struct remote_syscall *remote, const struct arch_frame *frame,
				const struct arch_places *places)
{
	struct arch_dump registers = remote->registers;
	struct arch_call call;

	arch_make_action(&call, frame, SIGTRAP);
	arch_set_syscall(&registers, frame, places, &call);
	if (ptrace_set_registers(remote->tid, &registers) < 0)
		return -1;
	if (ptrace_set_mask(remote->tid, EVERYTHING) < 0) {
		int number = errno;
		ptrace_set_registers(remote->tid, &remote->registers);
		errno = number;
		return -1;
	}
	remote->place = frame->old;
	remote->phase = REMOTE_SYSCALL_ENTERS;
	ptrace_syscall(remote->tid, 0);
	return 0;
}

int remote_syscall_begin(struct remote_syscall *remote, pid_t tid, const struct arch_places *places,
			 const struct arch_action *action, struct error *error)
{
	struct arch_frame *frame;
	int result = 0;

	*remote = (struct remote_syscall){ .tid = tid };
	if (remote_syscall_keep(remote, error) < 0)
		return -1;
	frame = xcalloc(1, sizeof(*frame));
	if (remote_syscall_make_frame(remote, frame, places, action) < 0)
		result = error_set_errno(error, errno,
					 "thread %d: the stack has no room for a call", (int)tid);
	else if (remote_syscall_start(remote, frame, places) < 0)
		result = error_set_errno(error, errno, "thread %d: the registers cannot be set",
					 (int)tid);
	free(frame);
	return result;
}

static void remote_syscall_take_result(struct remote_syscall *remote)
{
	struct arch_dump registers;

	remote->result = -EIO;
	if (ptrace_get_registers(remote->tid, &registers) == 0)
		remote->result = arch_result(&registers);
	if (remote->result == 0 && ptrace_read_memory(remote->tid, remote->place, &remote->old,
						      sizeof(remote->old)) != sizeof(remote->old))
		remote->result = -EFAULT;
}

/*
 * Interrupts the thread first, so that an interrupted system call is restarted by the thread's own
 * registers, even if the tracer is killed. Sets the registers last: until then the thread would
 * restore its mask by itself.
 */
static void remote_syscall_leave(struct remote_syscall *remote)
{
	ptrace_interrupt(remote->tid);
	ptrace_set_mask(remote->tid, remote->mask);
	ptrace_set_registers(remote->tid, &remote->registers);
	remote->phase = REMOTE_SYSCALL_SETTLES;
	ptrace_cont(remote->tid, 0);
}

/*
 * Handles a stop during the call. All signals of the thread are blocked except SIGSTOP, which is
 * delivered: the thread takes part in its process's group-stop as soon as the call is over.
 */
static bool remote_syscall_on_stop(struct remote_syscall *remote, int status)
{
	int event = status >> 16;
	int number = WSTOPSIG(status);

	if (remote->phase == REMOTE_SYSCALL_SETTLES) {
		if (event == PTRACE_EVENT_STOP)
			return true;
		ptrace_interrupt(remote->tid);
		if (event || number == SIGTRAP)
			number = 0;
		ptrace_cont(remote->tid, number);
		return false;
	}
	if (event || number != SYSCALL_STOP) {
		ptrace_syscall(remote->tid, event ? 0 : number);
		return false;
	}
	if (remote->phase == REMOTE_SYSCALL_ENTERS) {
		remote->phase = REMOTE_SYSCALL_LEAVES;
		ptrace_syscall(remote->tid, 0);
		return false;
	}
	remote_syscall_take_result(remote);
	remote_syscall_leave(remote);
	return false;
}

bool remote_syscall_changed(struct remote_syscall *remote, int status)
{
	/* The thread has ended, or another thread has called execve(2). */
	if (!WIFSTOPPED(status) || status >> 16 == PTRACE_EVENT_EXEC) {
		remote->result = -ESRCH;
		remote->phase = REMOTE_SYSCALL_IDLE;
		return true;
	}
	if (!remote_syscall_on_stop(remote, status))
		return false;
	remote->phase = REMOTE_SYSCALL_IDLE;
	return true;
}

int remote_syscall_result(const struct remote_syscall *remote, struct arch_action *old,
			  struct error *error)
{
	if (remote->result < 0)
		return error_set_errno(error, (int)-remote->result,
				       "thread %d: SIGTRAP could not be ignored", (int)remote->tid);
	*old = remote->old;
	return 0;
}
