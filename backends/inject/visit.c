#include "backends/inject/visit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "banned.h"

#include "backends/inject/stub.h"
#include "backends/ptrace/cpython.h"
#include "backends/ptrace/holds.h"
#include "backends/ptrace/memory.h"
#include "backends/ptrace/pygil.h"
#include "backends/ptrace/pytstate.h"
#include "backends/ptrace/task.h"
#include "base/array.h"
#include "base/error.h"

#define NOBODY UINT64_MAX /* the argument for "no file" */

/*
 * Where it is
 */

/* What a thread waits in that has been left to itself. */
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
	/* Of one of these that had a time limit, and was stopped before. */
	SYS_restart_syscall,
};

/*
 * Conditions and semaphores of the C library wait by FUTEX_WAIT_BITSET; its
 * own locks, those of malloc() among them, and mutexes, which other allocators
 * use, by FUTEX_WAIT.
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

/* glibc's; musl's is its C library as well, and binds nothing later. */
static bool is_linker(const struct mapping *mapping)
{
	const char *base = mapping ? strrchr(mapping->path, '/') : NULL;

	return base && (strncmp(base, "/ld-linux", 9) == 0 || strncmp(base, "/ld-2.", 6) == 0);
}

static bool holds_gil(const struct visit *visit)
{
	struct pygil gil;

	pygil_read(&gil, visit->memory, visit->python, visit->interpreter);
	return gil.is_known && visit->state && gil.holder == visit->state;
}

static void refuse_holder(pid_t pid, struct error *error)
{
	error_set(error,
		  "The main thread of pid %d waits in C and holds the GIL: no Python can run in "
		  "it. Its stacks are seen from outside.",
		  (int)pid);
}

/* In what way it can be done here. INJECT_NONE, and a sentence: in none. */
static enum inject_way choose(const struct visit *visit, struct error *error)
{
	const struct arch_dump *dump = &visit->remote.registers;
	uint64_t arguments[ARCH_ARGUMENTS];
	pid_t pid = visit->hold.pid;

	if (is_linker(maps_find(&visit->maps, arch_instruction(dump)))) {
		error_set(error,
			  "The main thread of pid %d is in the dynamic linker whenever it is "
			  "looked at.",
			  (int)pid);
		return INJECT_NONE;
	}
	long number = arch_current_call(dump, arguments);
	bool is_waiting = is_wait(number, arguments);
	if (is_waiting && holds_gil(visit)) {
		refuse_holder(pid, error);
		return INJECT_NONE;
	}
	return is_waiting && !visit->is_for_main ? INJECT_BY_THREAD : INJECT_BY_PENDING_CALL;
}

/*
 * What it does
 */

/* Also where the process itself may only read. */
static int put(const struct visit *visit, uint64_t address, const void *bytes, size_t length)
{
	return pwrite(visit->file, bytes, length, (off_t)address) == (ssize_t)length ? 0 : -1;
}

static int map_page(struct visit *visit, struct error *error)
{
	const struct arch_call map = {
		.number = SYS_mmap,
		.arguments = { 0, STUB_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			       NOBODY, 0 },
	};
	int64_t result;

	if (remote_call_syscall(&visit->remote, &map, &result, error) < 0)
		return error_prefix(error, "no page for the script");
	visit->page = (uint64_t)result;
	return 0;
}

static void unmap_page(struct visit *visit)
{
	const struct arch_call unmap = {
		.number = SYS_munmap,
		.arguments = { visit->page, STUB_BYTES },
	};
	int64_t result;

	remote_call_syscall(&visit->remote, &unmap, &result, NULL);
	visit->page = 0;
}

static int fill_page(const struct visit *visit, enum inject_way way, struct error *error)
{
	uint8_t page[STUB_BYTES];

	if (stub_make(page, visit->page, &visit->callees, visit->text, way == INJECT_BY_THREAD) < 0)
		return error_set(error, "the script's name is too long");
	if (put(visit, visit->page, page, sizeof(page)) == 0)
		return 0;
	return error_set_errno(error, errno, "pid %d: its memory cannot be written",
			       (int)visit->hold.pid);
}

/* The page may be used from the moment the function is called. */
static int place(struct visit *visit, enum inject_way way, struct error *error)
{
	struct arch_call hand_over = {
		.function = way == INJECT_BY_THREAD ? visit->callees.start_thread
						    : visit->callees.add_pending,
	};

	if (map_page(visit, error) < 0)
		return -1;
	if (fill_page(visit, way, error) < 0) {
		unmap_page(visit);
		return -1;
	}
	remote_call_pass(&visit->watch, "written");
	hand_over.arguments[0] = visit->page;
	if (remote_call_function(&visit->remote, &hand_over, error) == 0)
		return 0;
	visit_withdraw(visit);
	return -1;
}

/*
 * One visit
 */

static enum visit_result stay(struct visit *visit, struct error *error)
{
	enum inject_way way;

	/* Beside a signal that arrives nothing is to be done. */
	if (visit->hold.signal)
		return VISIT_LATER;
	remote_call_pass(&visit->watch, "seized");
	if (remote_call_init(&visit->remote, visit->hold.tid, &visit->places, error) < 0)
		return VISIT_FAILED;
	way = choose(visit, error);
	if (way == INJECT_NONE)
		return VISIT_LATER;
	if (remote_call_prepare(&visit->remote, error) < 0)
		return VISIT_FAILED;
	remote_call_pass(&visit->watch, "saved");
	visit->cost.way = way;
	return place(visit, way, error) < 0 ? VISIT_FAILED : VISIT_DONE;
}

static void take_cost(struct visit *visit, uint64_t held)
{
	struct inject_cost *cost = &visit->cost;

	cost->stops++;
	cost->turns += visit->remote.turns;
	if (cost->longest_ns < held)
		cost->longest_ns = held;
	if (cost->away_ns < visit->remote.took_ns)
		cost->away_ns = visit->remote.took_ns;
}

/* So it need not even be stopped. */
static bool waits_with_gil(const struct visit *visit)
{
	pid_t pid = memory_pid(visit->memory);
	struct task task;
	struct task_state state = { .is_known = false };
	bool is_waiting;

	task_init(&task, pid, pid);
	is_waiting = task_look(&task, &state) == 0 && state.is_blocked;
	task_clear(&task);
	return is_waiting && holds_gil(visit);
}

enum visit_result visit_try(struct visit *visit, struct error *error)
{
	pid_t pid = memory_pid(visit->memory);
	enum visit_result result;
	uint64_t held;

	/* One that stood too late for the last visit. */
	if (!hold_settle(&visit->hold))
		return VISIT_LATER;
	if (waits_with_gil(visit)) {
		refuse_holder(pid, error);
		return VISIT_LATER;
	}
	if (hold_begin(&visit->hold, pid, pid, error) < 0)
		return visit->hold.tid || visit->hold.is_asleep ? VISIT_LATER : VISIT_FAILED;
	visit->remote.turns = 0;
	visit->remote.took_ns = 0;
	result = stay(visit, error);
	remote_call_end(&visit->remote);
	held = hold_end(&visit->hold);
	remote_call_pass(&visit->watch, "detached");
	take_cost(visit, held);
	return result;
}

/* The instructions of the page name it: another page there is not ours. */
static bool is_there(const struct visit *visit)
{
	uint8_t wanted[STUB_TEXT];
	uint8_t page[STUB_BYTES];

	return memory_fetch(visit->memory, visit->page, wanted, sizeof(wanted)) == 0 &&
	       stub_make(page, visit->page, &visit->callees, "",
			 visit->cost.way == INJECT_BY_THREAD) == 0 &&
	       memcmp(wanted, page, sizeof(wanted)) == 0;
}

bool visit_is_pending(const struct visit *visit)
{
	return visit->page && is_there(visit);
}

bool visit_withdraw(struct visit *visit)
{
	const char end = '\0';

	if (!visit_is_pending(visit))
		return false;
	put(visit, visit->page + STUB_TEXT, &end, 1);
	return true;
}

/*
 * Before and after
 */

static void find_state(struct visit *visit)
{
	struct pytstate_list list = { .items = NULL };
	pid_t inner = task_inner(memory_pid(visit->memory));

	memory_begin(visit->memory, false);
	if (pytstate_list_read(&list, visit->memory, visit->python, NULL) == 0)
		visit->interpreter = list.main_interpreter;
	for (size_t i = 0; i < list.count; i++)
		if (list.items[i].tid == inner && list.items[i].number == 0)
			visit->state = list.items[i].address;
	pytstate_list_clear(&list);
}

static int find_all(struct visit *visit, struct error *error)
{
	pid_t pid = memory_pid(visit->memory);
	char path[32];

	if (callees_find(&visit->callees, visit->memory, visit->python, error) < 0 ||
	    remote_call_find(&visit->places, pid, visit->callees.send, error) < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	visit->file = open(path, O_WRONLY | O_CLOEXEC);
	if (visit->file < 0)
		return error_set_errno(error, errno, "pid %d: its memory cannot be written",
				       (int)pid);
	if (maps_read(&visit->maps, pid, 0) < 0)
		return error_set_errno(error, errno, "pid %d: its maps cannot be read", (int)pid);
	find_state(visit);
	if (visit->interpreter)
		return 0;
	return error_set(error, "pid %d has no Python thread; it may be starting or ending",
			 (int)pid);
}

int visit_init(struct visit *visit, struct memory *memory, const struct cpython *python,
	       const char *text, struct error *error)
{
	*visit = (struct visit){ .memory = memory, .python = python, .text = text, .file = -1 };
	visit->remote.watch = &visit->watch;
	return find_all(visit, error);
}

void visit_clear(struct visit *visit, struct holds *holds)
{
	if (!visit->memory)
		return;
	if (!hold_settle(&visit->hold))
		holds_keep(holds, &visit->hold);
	maps_clear(&visit->maps);
	if (visit->file >= 0)
		close(visit->file);
	visit->memory = NULL;
}
