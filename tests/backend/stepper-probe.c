/*
 * stepper-probe PID FILE COMMAND...: drives a stepper over one thread, for
 * tests. Seizes the main thread of a process that waits, makes it ignore
 * nothing and protects nothing: a test's own child.
 *
 *	b:LINE cl:LINE	a breakpoint in FILE
 *	c n s r		continue, next, step, return
 *	unt unt:LINE	until
 *	up down		choose the frame that n, unt and r are about
 *
 * Says "ready" on standard error once the process runs, then a line for each
 * stop, "EVENT FILE:LINE FUNCTION"; with STEPPER_COUNTS a line "# COMMAND
 * TRAPS CHANGES" before each.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "banned.h"

#include "backends/cpython/bytecode.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/pystack.h"
#include "backends/cpython/pytstate.h"
#include "backends/cpython/pywalk.h"
#include "backends/linux/memory.h"
#include "backends/ptrace/stepper-private.h"
#include "base/array.h"
#include "base/error.h"

#define BREAKS_MAXIMUM 16
#define CODES_MAXIMUM 500
#define UNITS_MAXIMUM 64

struct slot {
	int fd; /* -1: free */
	struct hardware_watch watch;
};

struct probe {
	pid_t pid;
	const char *file;
	char **commands;
	int command_count;
	struct memory *memory;
	struct cpython python;
	struct bytecode_cache *codes;
	struct stepper *stepper;
	struct slot slots[HARDWARE_WATCH_SLOTS];
	struct plan plan;
	int breaks[BREAKS_MAXIMUM];
	size_t break_count;
	uint64_t known[CODES_MAXIMUM];
	size_t known_count;
	struct pywalk walk; /* of the last stop */
	size_t depth;	    /* of the chosen frame */
	int traps, changes;
	bool is_over;
};

/* breakpoints */

static void add_code(struct probe *probe, uint64_t address, int depth);

/* Constants that are code objects, too. */
static void add_nested(struct probe *probe, uint64_t address, uint64_t type, int depth)
{
	const struct offsets *offsets = &probe->python.offsets;
	uint64_t consts, item, its_type;
	int64_t count = 0;

	if (memory_fetch(probe->memory, address + (uint64_t)offsets->co_consts, &consts, 8) < 0 ||
	    memory_fetch(probe->memory, consts + 16, &count, 8) < 0)
		return;
	for (int64_t i = 0; i < count && i < 5000; i++)
		if (memory_fetch(probe->memory,
				 consts + (uint64_t)offsets->tuple_item + 8 * (uint64_t)i, &item,
				 8) == 0 &&
		    memory_fetch(probe->memory, item + 8, &its_type, 8) == 0 && its_type == type)
			add_code(probe, item, depth + 1);
}

static void add_code(struct probe *probe, uint64_t address, int depth)
{
	uint64_t type;

	for (size_t i = 0; i < probe->known_count; i++)
		if (probe->known[i] == address)
			return;
	if (depth > 8 || probe->known_count == CODES_MAXIMUM ||
	    memory_fetch(probe->memory, address + 8, &type, 8) < 0)
		return;
	probe->known[probe->known_count++] = address;
	add_nested(probe, address, type, depth);
}

static size_t watch_request(struct probe *probe, struct planned *watch_requests, size_t maximum)
{
	size_t count = 0;
	int units[UNITS_MAXIMUM];

	for (size_t b = 0; b < probe->break_count; b++)
		for (size_t i = 0; i < probe->known_count; i++) {
			const struct bytecode *code = bytecode_find(probe->codes, probe->known[i]);
			if (!code || strcmp(code->file, probe->file) != 0)
				continue;
			size_t n = bytecode_line_units(&probe->python, code, probe->breaks[b],
						       units, UNITS_MAXIMUM);
			for (size_t k = 0; k < n && count < maximum; k++)
				watch_requests[count++] = (struct planned){
					.kind = PLAN_BREAKPOINT,
					.code = probe->known[i],
					.watch = {
						.address = bytecode_watched(
							code, units[k]),
						.length = 1,
						.access = HARDWARE_WATCH_ACCESS,
					},
				};
		}
	return count;
}

static bool is_break(const struct bytecode *code, int line, uint64_t frame, void *data)
{
	struct probe *probe = data;

	(void)frame;
	if (strcmp(code->file, probe->file) != 0)
		return false;
	for (size_t i = 0; i < probe->break_count; i++)
		if (probe->breaks[i] == line)
			return true;
	return false;
}

static bool is_data(int *id, uint64_t frame, void *data)
{
	(void)id;
	(void)frame;
	(void)data;
	return false;
}

/* watches */

static void drop(struct slot *slot)
{
	if (slot->fd >= 0)
		close(slot->fd);
	*slot = (struct slot){ .fd = -1 };
}

static void set(struct probe *probe, int number, const struct hardware_watch *watch)
{
	struct slot *slot = &probe->slots[number];
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attributes),
		.sample_period = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.remove_on_exec = 1,
		.sigtrap = 1,
		.sig_data = (uint64_t)number,
		.bp_type =
			watch->access == HARDWARE_WATCH_WRITE ? HW_BREAKPOINT_W : HW_BREAKPOINT_RW,
		.bp_addr = watch->address,
		.bp_len = (uint64_t)watch->length,
	};

	if (slot->watch.address == watch->address && slot->watch.length == watch->length &&
	    slot->watch.access == watch->access)
		return;
	probe->changes++;
	if (watch->access == HARDWARE_WATCH_NONE) {
		drop(slot);
		return;
	}
	if (slot->fd < 0 || ioctl(slot->fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attributes)) {
		drop(slot);
		slot->fd = (int)syscall(SYS_perf_event_open, &attributes, probe->pid, -1, -1,
					PERF_FLAG_FD_CLOEXEC);
		if (slot->fd < 0) {
			perror("stepper-probe: perf_event_open");
			exit(3);
		}
	}
	slot->watch = *watch;
}

static void arm(struct probe *probe)
{
	struct planned items[UNITS_MAXIMUM];
	struct plan_watch_requests watch_requests = { .items = items };

	watch_requests.count = watch_request(probe, items, UNITS_MAXIMUM);
	stepper_plan(probe->stepper, &watch_requests, &probe->plan);
	for (int i = 0; i < HARDWARE_WATCH_SLOTS; i++)
		set(probe, i, &probe->plan.slots[i].watch);
}

/* Runs until a watch fires; its slot, or -1: the process is no more. */
static int run(struct probe *probe)
{
	long signal = 0;
	int status;

	for (;;) {
		if (ptrace(PTRACE_CONT, probe->pid, 0, signal) < 0 ||
		    waitpid(probe->pid, &status, __WALL) < 0 || !WIFSTOPPED(status))
			return -1;
		siginfo_t info;
		signal = status >> 16 ? 0 : WSTOPSIG(status);
		if (signal != SIGTRAP || ptrace(PTRACE_GETSIGINFO, probe->pid, 0, &info) < 0)
			continue;
		uint64_t number;
		memcpy(&number, (char *)&info + 24, sizeof(number));
		if (info.si_code == 6 && number < HARDWARE_WATCH_SLOTS) {
			probe->traps++;
			return (int)number;
		}
	}
}

/* Out of the delivery of the signal, which a detach would let through. */
static void park(struct probe *probe)
{
	int status;

	ptrace(PTRACE_INTERRUPT, probe->pid, 0, 0);
	if (ptrace(PTRACE_CONT, probe->pid, 0, 0) == 0)
		waitpid(probe->pid, &status, __WALL);
}

/* commands */

static const char *event_name(const struct stepper_stop *stop)
{
	const char *name = stop_event_name(stop->at);

	return name ? name : stop_reason_name(stop->reason);
}

static void tell(struct probe *probe, const struct stepper_stop *stop)
{
	const char *base = strrchr(stop->code->file, '/');

	printf("%s %s:%d %s\n", event_name(stop), base ? base + 1 : stop->code->file, stop->line,
	       stop->code->name);
	fflush(stdout);
	memory_begin(probe->memory, false);
	pywalk_read(&probe->walk, probe->memory, &probe->python, stepper_thread(probe->stepper));
	probe->depth = 0;
}

static void clear_break(struct probe *probe, int line)
{
	for (size_t i = 0; i < probe->break_count;)
		if (probe->breaks[i] == line)
			probe->breaks[i] = probe->breaks[--probe->break_count];
		else
			i++;
}

static const struct order {
	const char *name;
	enum request_kind command;
} orders[] = {
	{ "c", REQUEST_CONTINUE }, { "n", REQUEST_NEXT },    { "s", REQUEST_STEP_IN },
	{ "r", REQUEST_STEP_OUT }, { "unt", REQUEST_UNTIL },
};

static bool order(struct probe *probe, const char *name, int line)
{
	struct error error = ERROR_INIT;
	uint64_t frame = 0;

	if (probe->depth > 0 && probe->depth < probe->walk.count)
		frame = probe->walk.frames[probe->depth].address;
	for (size_t i = 0; i < ARRAY_LENGTH(orders); i++)
		if (strcmp(orders[i].name, name) == 0) {
			if (stepper_command(probe->stepper, orders[i].command, frame, line,
					    &error) < 0)
				printf("refused: %s\n", error.message);
			return true;
		}
	return false;
}

/* Takes commands up to one that lets the thread go on; false: none is left. */
static bool take_commands(struct probe *probe)
{
	while (probe->command_count > 0) {
		char name[16] = "";
		char *text = *probe->commands++;
		char *colon = strchr(text, ':');
		size_t length = colon ? (size_t)(colon - text) : strlen(text);
		int line = colon ? (int)strtol(colon + 1, NULL, 10) : 0;
		probe->command_count--;
		memcpy(name, text, length < 15 ? length : 15);
		if (strcmp(name, "b") == 0 && probe->break_count < BREAKS_MAXIMUM)
			probe->breaks[probe->break_count++] = line;
		else if (strcmp(name, "cl") == 0)
			clear_break(probe, line);
		else if (strcmp(name, "up") == 0)
			probe->depth++;
		else if (strcmp(name, "down") == 0)
			probe->depth -= probe->depth > 0;
		else if (order(probe, name, line)) {
			probe->traps = probe->changes = 0;
			return true;
		}
	}
	return false;
}

static void report_lost(struct probe *probe)
{
	const char *lost = stepper_lost(probe->stepper);

	if (lost)
		printf("lost: %s\n", lost);
}

static bool go(struct probe *probe, struct stepper_stop *stop)
{
	if (stepper_resume(probe->stepper, stop))
		return true;
	for (;;) {
		arm(probe);
		int slot = run(probe);
		if (slot < 0) {
			probe->is_over = true;
			return false;
		}
		struct planned fired = probe->plan.slots[slot];
		if (fired.watch.access == HARDWARE_WATCH_NONE)
			continue;
		if (stepper_trap(probe->stepper, &fired, stop))
			return true;
	}
}

static void follow_commands(struct probe *probe)
{
	struct stepper_stop stop;

	while (!probe->is_over && take_commands(probe)) {
		char *name = probe->commands[-1];
		if (go(probe, &stop)) {
			if (getenv("STEPPER_COUNTS"))
				printf("# %s %d %d\n", name, probe->traps, probe->changes);
			tell(probe, &stop);
			park(probe);
		}
		report_lost(probe);
	}
}

/* attaching */

static int find_thread(struct probe *probe, uint64_t *tstate, struct error *error)
{
	struct pytstate_list list = { .count = 0 };

	memory_begin(probe->memory, false);
	if (pytstate_list_read(&list, probe->memory, &probe->python, error) < 0)
		return -1;
	for (size_t i = 0; i < list.count; i++)
		if (list.items[i].tid == probe->pid || list.items[i].tid == 0 || list.count == 1)
			*tstate = list.items[i].address;
	pytstate_list_clear(&list);
	return *tstate ? 0 : error_set(error, "no thread state");
}

static void find_codes(struct probe *probe, uint64_t tstate)
{
	memory_begin(probe->memory, false);
	pywalk_read(&probe->walk, probe->memory, &probe->python, tstate);
	for (size_t i = 0; i < probe->walk.count; i++)
		add_code(probe, probe->walk.frames[i].code, 0);
}

static int begin(struct probe *probe, struct error *error)
{
	struct stepper_calls calls = {
		.is_break = is_break,
		.is_data = is_data,
		.data = probe,
	};
	uint64_t tstate = 0;
	int status;

	if (cpython_locate(&probe->python, probe->memory, NULL, error) < 0)
		return -1;
	if (ptrace(PTRACE_SEIZE, probe->pid, 0, 0) < 0 ||
	    ptrace(PTRACE_INTERRUPT, probe->pid, 0, 0) < 0 ||
	    waitpid(probe->pid, &status, __WALL) < 0)
		return error_set_errno(error, errno, "ptrace");
	if (find_thread(probe, &tstate, error) < 0)
		return -1;
	find_codes(probe, tstate);
	probe->codes = bytecode_cache_new(probe->memory, &probe->python);
	probe->stepper = stepper_new(probe->memory, &probe->python, probe->codes, tstate, &calls);
	if (getenv("STEPPER_WALK"))
		probe->stepper->walk_first = (int)strtol(getenv("STEPPER_WALK"), NULL, 10);
	return 0;
}

int main(int argc, char **argv)
{
	struct error error = ERROR_INIT;

	if (argc < 3) {
		fprintf(stderr, "usage: stepper-probe PID FILE COMMAND...\n");
		return 2;
	}
	struct probe probe = {
		.pid = (pid_t)strtol(argv[1], NULL, 10),
		.file = argv[2],
		.commands = argv + 3,
		.command_count = argc - 3,
	};
	for (int i = 0; i < HARDWARE_WATCH_SLOTS; i++)
		probe.slots[i].fd = -1;
	probe.memory = memory_new(probe.pid);
	int result = begin(&probe, &error);
	if (result == 0) {
		fprintf(stderr, "ready\n");
		follow_commands(&probe);
		for (int i = 0; i < HARDWARE_WATCH_SLOTS; i++)
			drop(&probe.slots[i]);
		ptrace(PTRACE_DETACH, probe.pid, 0, 0);
	} else {
		fprintf(stderr, "%s\n", error.message);
	}
	stepper_free(probe.stepper);
	bytecode_cache_free(probe.codes);
	pywalk_clear(&probe.walk);
	memory_free(probe.memory);
	return result < 0;
}
