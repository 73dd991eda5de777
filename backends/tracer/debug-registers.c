#include "backends/tracer/debug-registers.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "backends/linux/access-refusal.h"
#include "backends/tracer/arch.h"
#include "backends/tracer/ptrace-ops.h"
#include "banned.h"
#include "base/error.h"

/*
 * sig_data of this program's watches, to which the slot is added; the kernel reports sig_data with
 * a trap.
 */
#define OURS UINT64_C(0x70726f6265747500)
#define SLOT_MASK UINT64_C(0xff)

/* The kernel's si_code of such a trap, which older headers of the C library lack. */
#define TRAP_PERF 6
#define PERF_DATA_OFFSET 24 /* offset in the siginfo_t of 64-bit processes */

static const uint32_t types[] = {
	[HARDWARE_WATCH_NONE] = HW_BREAKPOINT_EMPTY,
	[HARDWARE_WATCH_WRITE] = HW_BREAKPOINT_W,
	[HARDWARE_WATCH_ACCESS] = HW_BREAKPOINT_RW,
	[HARDWARE_WATCH_EXECUTE] = HW_BREAKPOINT_X,
};

void debug_registers_init(struct debug_registers *slots)
{
	*slots = (struct debug_registers){ .fds = { -1, -1, -1, -1 } };
}

static void debug_registers_close_slot(struct debug_registers *slots, int i)
{
	if (slots->fds[i] >= 0)
		close(slots->fds[i]);
	slots->fds[i] = -1;
	slots->watches[i].access = HARDWARE_WATCH_NONE;
}

/*
 * Disables the watch. The descriptor stays open, because opening a watch takes longer than changing
 * one.
 */
static void switch_off(struct debug_registers *slots, int i)
{
	if (ioctl(slots->fds[i], PERF_EVENT_IOC_DISABLE, 0) < 0)
		debug_registers_close_slot(slots, i);
	slots->watches[i].access = HARDWARE_WATCH_NONE;
}

void debug_registers_clear(struct debug_registers *slots)
{
	for (int i = 0; i < HARDWARE_WATCH_SLOTS; i++)
		debug_registers_close_slot(slots, i);
}

bool debug_registers_are_set(const struct debug_registers *slots)
{
	for (int i = 0; i < HARDWARE_WATCH_SLOTS; i++)
		if (slots->watches[i].access != HARDWARE_WATCH_NONE)
			return true;
	return false;
}

static bool debug_registers_is_same(const struct hardware_watch *a, const struct hardware_watch *b)
{
	return (a->access == HARDWARE_WATCH_NONE && b->access == HARDWARE_WATCH_NONE) ||
	       hardware_watch_is_same(a, b);
}

static int debug_registers_explain(pid_t tid, int number, const struct hardware_watch *watch,
				   struct error *error)
{
	if (number == ENOSPC)
		return error_set(error,
				 "thread %d: all four debug registers are in use by another "
				 "debugger: detach that debugger",
				 (int)tid);
	if (number == EMFILE || number == ENFILE)
		return error_set(error,
				 "thread %d: no file descriptor is left for a hardware breakpoint: "
				 "raise the limit (ulimit -n)",
				 (int)tid);
	return error_set_errno(error, number,
			       "thread %d: %d bytes at 0x%" PRIx64 " cannot be watched", (int)tid,
			       watch->length, watch->address);
}

static int set_slot(struct debug_registers *slots, int i, pid_t tid,
		    const struct hardware_watch *watch, struct error *error)
{
	struct perf_event_attr attributes;

	perf_breakpoint_fill(&attributes, watch->address, watch->length, types[watch->access]);
	attributes.sig_data = OURS | (uint64_t)i;
	if (slots->fds[i] >= 0 &&
	    ioctl(slots->fds[i], PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attributes) == 0) {
		slots->watches[i] = *watch;
		return 0;
	}
	debug_registers_close_slot(slots, i);
	slots->fds[i] = perf_breakpoint_open(tid, &attributes);
	if (slots->fds[i] < 0)
		return debug_registers_explain(tid, errno, watch, error);
	slots->watches[i] = *watch;
	return 0;
}

int debug_registers_set(struct debug_registers *slots, pid_t tid,
			const struct hardware_watch watches[HARDWARE_WATCH_SLOTS], size_t *changes,
			struct error *error)
{
	int result = 0;

	for (int i = 0; i < HARDWARE_WATCH_SLOTS; i++) {
		if (debug_registers_is_same(&slots->watches[i], &watches[i]))
			continue;
		++*changes;
		if (watches[i].access == HARDWARE_WATCH_NONE)
			switch_off(slots, i);
		else if (set_slot(slots, i, tid, &watches[i], result < 0 ? NULL : error) < 0)
			result = -1;
	}
	return result;
}

static bool is_at(const struct hardware_watch *watch, const siginfo_t *info)
{
	return watch->access != HARDWARE_WATCH_NONE &&
	       watch->address == (uint64_t)(uintptr_t)info->si_addr;
}

static bool is_before_watched(const struct debug_registers *slots, uint64_t address)
{
	for (int i = 0; i < HARDWARE_WATCH_SLOTS; i++)
		if (slots->watches[i].access == HARDWARE_WATCH_EXECUTE &&
		    slots->watches[i].address == address)
			return true;
	return false;
}

/* True if a byte of the thread's code is an int1; false also if the byte cannot be read. */
static bool is_trap(pid_t tid, uint64_t address)
{
	uint8_t byte;

	return ptrace_read_memory(tid, address, &byte, 1) == 1 && arch_is_trap(byte);
}

/*
 * True if a debug exception does not name its watch (DR6 is 0). The kernel takes such an exception
 * for an int1 of the program, which would end the program. Under KVM about one exception in 100,000
 * was like this. An int1 is a trap, so the thread is after the instruction; under KVM on AMD
 * processors it is a fault, so the thread is before the instruction.
 */
static bool is_unexplained(const struct debug_registers *slots, pid_t tid, const siginfo_t *info)
{
	uint64_t address = (uint64_t)(uintptr_t)info->si_addr;

	if (info->si_signo != SIGTRAP || info->si_code != TRAP_BRKPT)
		return false;
	return is_before_watched(slots, address) ||
	       (!is_trap(tid, address - 1) && !is_trap(tid, address));
}

/*
 * Sets *slot to the only data watch; -1: none, or several. With several, it is unknown which watch
 * has triggered, and the trap is dropped; a watch of an instruction triggers again when the thread
 * continues.
 */
static void find_only(const struct debug_registers *slots, const siginfo_t *info, int *slot)
{
	int count = 0;

	*slot = -1;
	if (is_before_watched(slots, (uint64_t)(uintptr_t)info->si_addr))
		return;
	for (int i = 0; i < HARDWARE_WATCH_SLOTS; i++) {
		enum hardware_watch_access access = slots->watches[i].access;

		if (access == HARDWARE_WATCH_EXECUTE || access == HARDWARE_WATCH_NONE)
			continue;
		*slot = i;
		count++;
	}
	if (count != 1)
		*slot = -1;
}

/*
 * Searches the slot, because a watch may have moved to another slot while its signal was pending.
 */
enum debug_registers_trap debug_registers_trap(const struct debug_registers *slots, pid_t tid,
					       const siginfo_t *info, int *slot)
{
	uint64_t data;

	memcpy(&data, (const char *)info + PERF_DATA_OFFSET, sizeof(data));
	if (is_unexplained(slots, tid, info)) {
		find_only(slots, info, slot);
		return DEBUG_REGISTERS_FORCED;
	}
	if (info->si_signo != SIGTRAP || info->si_code != TRAP_PERF || (data & ~SLOT_MASK) != OURS)
		return DEBUG_REGISTERS_NOT_OURS;
	*slot = (int)(data & SLOT_MASK);
	if (*slot < HARDWARE_WATCH_SLOTS && is_at(&slots->watches[*slot], info))
		return DEBUG_REGISTERS_FIRED;
	for (*slot = 0; *slot < HARDWARE_WATCH_SLOTS; ++*slot)
		if (is_at(&slots->watches[*slot], info))
			return DEBUG_REGISTERS_FIRED;
	return DEBUG_REGISTERS_STALE;
}

/* An address that no program uses; the watch at this address is never enabled. */
#define NOWHERE 4096
#define PARANOID_FILE "/proc/sys/kernel/perf_event_paranoid"
/* Highest level that allows ordinary users to set watches; Debian and Ubuntu have higher levels. */
#define PARANOID_USERS 2
#define FIRST_MAJOR 5
#define FIRST_MINOR 13

void perf_breakpoint_fill(struct perf_event_attr *attributes, uint64_t address, int length,
			  uint32_t type)
{
	*attributes = (struct perf_event_attr){
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(*attributes),
		.sample_period = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.remove_on_exec = 1,
		.sigtrap = 1,
		.bp_type = type,
		.bp_addr = address,
		.bp_len = (uint64_t)length,
	};
}

int perf_breakpoint_open(pid_t tid, const struct perf_event_attr *attributes)
{
	return (int)syscall(SYS_perf_event_open, attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Opens a watch and closes it. Returns 0 or an errno value. */
static int try_watch(pid_t pid)
{
	struct perf_event_attr attributes;
	int fd;

	perf_breakpoint_fill(&attributes, NOWHERE, 1, HW_BREAKPOINT_RW);
	attributes.disabled = 1;
	fd = perf_breakpoint_open(pid, &attributes);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static bool is_old_kernel(struct reason *reason)
{
	struct utsname name;
	long major, minor = 0;
	char *end;

	if (uname(&name) < 0)
		return false;
	major = strtol(name.release, &end, 10);
	if (*end == '.')
		minor = strtol(end + 1, NULL, 10);
	if (major > FIRST_MAJOR || (major == FIRST_MAJOR && minor >= FIRST_MINOR))
		return false;
	snprintf(reason->why, sizeof(reason->why),
		 "the kernel is Linux %.32s; hardware breakpoints in other processes need Linux "
		 "%d.%d",
		 name.release, FIRST_MAJOR, FIRST_MINOR);
	return true;
}

/* Returns the value of kernel.perf_event_paranoid; -1: the kernel has no such setting. */
static long paranoid_level(void)
{
	char text[16] = "";
	int fd = open(PARANOID_FILE, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -1;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	return got > 0 ? strtol(text, NULL, 10) : -1;
}

static void perf_breakpoint_explain_denial(pid_t pid, int number, struct reason *reason)
{
	long level = paranoid_level();
	int own = try_watch(0);

	if (own == 0) {
		access_refusal_find(reason, pid, EPERM);
		return;
	}
	if (level > PARANOID_USERS && geteuid() != 0) {
		snprintf(reason->why, sizeof(reason->why),
			 "the kernel does not allow perf_event_open to users "
			 "(kernel.perf_event_paranoid = %ld)",
			 level);
		snprintf(reason->fix, sizeof(reason->fix),
			 "sudo sysctl kernel.perf_event_paranoid=%d, or run probetui with "
			 "CAP_PERFMON",
			 PARANOID_USERS);
		return;
	}
	snprintf(reason->why, sizeof(reason->why),
		 "a seccomp filter (of the container) forbids perf_event_open (%s)",
		 strerror(number));
	snprintf(reason->fix, sizeof(reason->fix),
		 "start the container with --cap-add PERFMON or --security-opt seccomp=unconfined");
}

bool perf_breakpoint_probe(pid_t pid, struct reason *reason)
{
	int number = try_watch(pid);

	*reason = (struct reason){ .fix = "" };
	if (number == 0)
		return true;
	switch (number) {
	case EACCES:
	case EPERM:
	case ENOSYS:
		perf_breakpoint_explain_denial(pid, number, reason);
		return false;
	case ENOSPC:
		snprintf(reason->why, sizeof(reason->why),
			 "all four debug registers of the thread are in use by another debugger");
		snprintf(reason->fix, sizeof(reason->fix), "detach that debugger");
		return false;
	case ESRCH:
		access_refusal_find(reason, pid, number);
		return false;
	}
	if (!is_old_kernel(reason))
		snprintf(reason->why, sizeof(reason->why),
			 "the machine has no debug registers, or its kernel does not offer them "
			 "(%s)",
			 strerror(number));
	return false;
}
