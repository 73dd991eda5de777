#include "backends/inject/inject-attach.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "banned.h"

#include "backends/cpython/cpython.h"
#include "backends/cpython/pytstate.h"
#include "backends/inject/trampoline.h"
#include "backends/linux/memory.h"
#include "backends/linux/task.h"
#include "backends/tracer/freezer.h"
#include "base/array.h"
#include "base/error.h"

#define NOBODY UINT64_MAX /* the value -1 for the argument fd of mmap(2) */

/*
 * Position of the thread
 */

/* System calls in which a thread waits, except those that allocators use for their locks. */
static const long waits[] = {
#ifdef SYS_select
	SYS_select,
	SYS_poll,
	SYS_epoll_wait,
#endif
	SYS_nanosleep,
	SYS_clock_nanosleep,
	SYS_pselect6,
	SYS_ppoll,
	SYS_epoll_pwait,
	SYS_read,
	SYS_recvfrom,
	SYS_recvmsg,
	SYS_accept,
	SYS_accept4,
	SYS_wait4,
	SYS_waitid,
	/* After a stop: one of the calls above that has a time-out. */
	SYS_restart_syscall,
};

/*
 * True if the thread waits in a system call during which it can be made to start a new thread.
 * Condition variables and semaphores of the C library use FUTEX_WAIT_BITSET. The C library's own
 * locks (malloc()) and mutexes, which other allocators use, use FUTEX_WAIT: starting a thread there
 * could deadlock.
 */
static bool is_wait(long number, const uint64_t *arguments)
{
	if (number == SYS_futex)
		return (arguments[1] & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
	for (size_t i = 0; i < ARRAY_LENGTH(waits); i++)
		if (waits[i] == number)
			return true;
	return false;
}

/* True if the mapping is glibc's dynamic linker. musl's linker is also its C library, and has no
 * lazy binding. */
static bool is_linker(const struct mapping *mapping)
{
	const char *base = mapping ? strrchr(mapping->path, '/') : NULL;

	return base && (strncmp(base, "/ld-linux", 9) == 0 || strncmp(base, "/ld-2.", 6) == 0);
}

static bool inject_attach_holds_gil(const struct inject_attach *attach)
{
	struct pygil gil;

	pygil_read(&gil, attach->memory, attach->python, attach->interpreter);
	return gil.is_known && attach->state && gil.holder == attach->state;
}

static void refuse_holder(pid_t pid, struct error *error)
{
	error_set(error,
		  "no agent can be injected: the main thread of pid %d waits in C and holds the "
		  "GIL, so no Python code can run (stacks can be read without an agent)",
		  (int)pid);
}

/*
 * Chooses the way to inject at the thread's current position. Returns INJECT_NONE and sets error if
 * there is none.
 */
static enum inject_way inject_attach_choose(const struct inject_attach *attach, struct error *error)
{
	const struct arch_dump *dump = &attach->remote.registers;
	uint64_t arguments[ARCH_ARGUMENTS];
	pid_t pid = attach->hold.pid;

	if (is_linker(maps_find(&attach->maps, arch_instruction(dump)))) {
		error_set(error,
			  "no agent was injected, as the main thread of pid %d was in the dynamic "
			  "linker at each attempt: try again",
			  (int)pid);
		return INJECT_NONE;
	}
	long number = arch_current_call(dump, arguments);
	bool is_waiting = is_wait(number, arguments);
	if (is_waiting && inject_attach_holds_gil(attach)) {
		refuse_holder(pid, error);
		return INJECT_NONE;
	}
	return is_waiting && !attach->is_for_main ? INJECT_BY_THREAD : INJECT_BY_PENDING_CALL;
}

/*
 * The calls
 */

/* Writes through /proc/PID/mem, which ignores the page's protection. */
static int inject_attach_put(const struct inject_attach *attach, uint64_t address,
			     const void *bytes, size_t length)
{
	return pwrite(attach->file, bytes, length, (off_t)address) == (ssize_t)length ? 0 : -1;
}

static int map_page(struct inject_attach *attach, struct error *error)
{
	const struct arch_call map = {
		.number = SYS_mmap,
		.arguments = { 0, TRAMPOLINE_BYTES, PROT_READ | PROT_EXEC,
			       MAP_PRIVATE | MAP_ANONYMOUS, NOBODY, 0 },
	};
	int64_t result;

	if (remote_call_syscall(&attach->remote, &map, &result, error) < 0)
		return error_prefix(error, "no memory page for the script");
	attach->page = (uint64_t)result;
	return 0;
}

static void unmap_page(struct inject_attach *attach)
{
	const struct arch_call unmap = {
		.number = SYS_munmap,
		.arguments = { attach->page, TRAMPOLINE_BYTES },
	};
	int64_t result;

	remote_call_syscall(&attach->remote, &unmap, &result, NULL);
	attach->page = 0;
}

static int inject_attach_fill_page(const struct inject_attach *attach, enum inject_way way,
				   struct error *error)
{
	uint8_t page[TRAMPOLINE_BYTES];

	if (trampoline_make(page, attach->page, &attach->callees, attach->text,
			    way == INJECT_BY_THREAD) < 0)
		return error_set(error, "no agent can be injected: the path of the agent's "
					"script is too long");
	if (inject_attach_put(attach, attach->page, page, sizeof(page)) == 0)
		return 0;
	return error_set_errno(error, errno, "pid %d: the memory cannot be written",
			       (int)attach->hold.pid);
}

/*
 * Maps and fills the page, and makes the thread call the function that starts a new thread or adds
 * a pending call. The script may run at once.
 */
static int inject_attach_place(struct inject_attach *attach, enum inject_way way,
			       struct error *error)
{
	struct arch_call hand_over = {
		.function = way == INJECT_BY_THREAD ? attach->callees.start_thread
						    : attach->callees.add_pending,
	};

	if (map_page(attach, error) < 0)
		return -1;
	if (inject_attach_fill_page(attach, way, error) < 0) {
		unmap_page(attach);
		return -1;
	}
	remote_call_pass(&attach->watch, "written");
	hand_over.arguments[0] = attach->page;
	if (remote_call_function(&attach->remote, &hand_over, error) == 0)
		return 0;
	inject_attach_withdraw(attach);
	return -1;
}

/*
 * One stop
 */

static enum inject_attach_result inject_attach_stay(struct inject_attach *attach,
						    struct error *error)
{
	enum inject_way way;

	/* The thread has stopped for a signal, which is delivered before anything is injected. */
	if (attach->hold.signal)
		return INJECT_ATTACH_LATER;
	remote_call_pass(&attach->watch, "seized");
	if (remote_call_init(&attach->remote, attach->hold.tid, &attach->places, error) < 0)
		return INJECT_ATTACH_FAILED;
	way = inject_attach_choose(attach, error);
	if (way == INJECT_NONE)
		return INJECT_ATTACH_LATER;
	if (remote_call_prepare(&attach->remote, error) < 0)
		return INJECT_ATTACH_FAILED;
	remote_call_pass(&attach->watch, "saved");
	attach->cost.way = way;
	return inject_attach_place(attach, way, error) < 0 ? INJECT_ATTACH_FAILED
							   : INJECT_ATTACH_DONE;
}

static void take_cost(struct inject_attach *attach, uint64_t held)
{
	struct inject_cost *cost = &attach->cost;

	cost->stops++;
	cost->turns += attach->remote.turns;
	if (cost->longest_ns < held)
		cost->longest_ns = held;
	if (cost->away_ns < attach->remote.took_ns)
		cost->away_ns = attach->remote.took_ns;
}

/* True if the main thread holds the GIL while it waits; read without stopping the thread. */
static bool waits_with_gil(const struct inject_attach *attach)
{
	pid_t pid = memory_pid(attach->memory);
	struct task task;
	struct task_state state = { .is_known = false };
	bool is_waiting;

	task_init(&task, pid, pid);
	is_waiting = task_look(&task, &state) == 0 && state.is_blocked;
	task_clear(&task);
	return is_waiting && inject_attach_holds_gil(attach);
}

enum inject_attach_result inject_attach_try(struct inject_attach *attach, struct error *error)
{
	pid_t pid = memory_pid(attach->memory);
	enum inject_attach_result result;
	uint64_t held;

	/* An earlier try has timed out, and the stop that it has requested is still pending. */
	if (!freeze_settle(&attach->hold))
		return INJECT_ATTACH_LATER;
	if (waits_with_gil(attach)) {
		refuse_holder(pid, error);
		return INJECT_ATTACH_LATER;
	}
	if (freeze_begin(&attach->hold, pid, pid, error) < 0)
		return attach->hold.tid || attach->hold.is_asleep ? INJECT_ATTACH_LATER
								  : INJECT_ATTACH_FAILED;
	attach->remote.turns = 0;
	attach->remote.took_ns = 0;
	result = inject_attach_stay(attach, error);
	remote_call_end(&attach->remote);
	held = freeze_end(&attach->hold);
	remote_call_pass(&attach->watch, "detached");
	take_cost(attach, held);
	return result;
}

/* True if the trampoline's page is still mapped. Its instructions contain its address, so another
 * page that was mapped there later differs. */
static bool inject_attach_is_there(const struct inject_attach *attach)
{
	uint8_t wanted[TRAMPOLINE_TEXT];
	uint8_t page[TRAMPOLINE_BYTES];

	return memory_fetch(attach->memory, attach->page, wanted, sizeof(wanted)) == 0 &&
	       trampoline_make(page, attach->page, &attach->callees, "",
			       attach->cost.way == INJECT_BY_THREAD) == 0 &&
	       memcmp(wanted, page, sizeof(wanted)) == 0;
}

bool inject_attach_is_pending(const struct inject_attach *attach)
{
	return attach->page && inject_attach_is_there(attach);
}

bool inject_attach_withdraw(struct inject_attach *attach)
{
	const char end = '\0';

	if (!inject_attach_is_pending(attach))
		return false;
	inject_attach_put(attach, attach->page + TRAMPOLINE_TEXT, &end, 1);
	return true;
}

/*
 * Preparation and end
 */

static void find_state(struct inject_attach *attach)
{
	struct pytstate_list list = { .items = NULL };
	pid_t inner = task_inner(memory_pid(attach->memory));

	memory_begin(attach->memory, false);
	if (pytstate_list_read(&list, attach->memory, attach->python, NULL) == 0)
		attach->interpreter = list.main_interpreter;
	for (size_t i = 0; i < list.count; i++)
		if (list.items[i].tid == inner && list.items[i].number == 0)
			attach->state = list.items[i].address;
	pytstate_list_clear(&list);
}

static int inject_attach_find_all(struct inject_attach *attach, struct error *error)
{
	pid_t pid = memory_pid(attach->memory);
	char path[32];

	if (callees_find(&attach->callees, attach->memory, attach->python, error) < 0 ||
	    remote_call_find(&attach->places, pid, attach->callees.send, error) < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	attach->file = open(path, O_WRONLY | O_CLOEXEC);
	if (attach->file < 0)
		return error_set_errno(error, errno, "pid %d: the memory cannot be written",
				       (int)pid);
	if (maps_read(&attach->maps, pid, 0) < 0)
		return error_set_errno(error, errno, "pid %d: the memory map cannot be read",
				       (int)pid);
	find_state(attach);
	if (attach->interpreter)
		return 0;
	return error_set(error, "pid %d has no Python thread; it may be starting or exiting",
			 (int)pid);
}

int inject_attach_init(struct inject_attach *attach, struct memory *memory,
		       const struct cpython *python, const char *text, struct error *error)
{
	*attach = (struct inject_attach){
		.memory = memory, .python = python, .text = text, .file = -1
	};
	attach->remote.watch = &attach->watch;
	return inject_attach_find_all(attach, error);
}

void inject_attach_clear(struct inject_attach *attach, struct freezer *holds)
{
	if (!attach->memory)
		return;
	if (!freeze_settle(&attach->hold))
		freezer_keep(holds, &attach->hold);
	maps_clear(&attach->maps);
	if (attach->file >= 0)
		close(attach->file);
	attach->memory = NULL;
}
