/*
 * tracee-probe PID: a process's threads are stopped and watched, for tests.
 *
 * Lines of standard input are orders, each is answered by a line of JSON on
 * standard output; what happens is told by such lines, too ("event").
 *
 *	attach			leave		counts
 *	watch TID SLOT ADDRESS LENGTH w|a|x|-	(- takes it away)
 *	stay 0|1		what becomes of a thread that is trapped
 *	tell 0|1		whether traps are told of
 *	late 0|1		whether no call in the process is in time
 *	hasty 0|1		whether leaving waits for no thread to stand
 *	adopt 0|1		whether a process that it forks is kept, too
 *	interrupt TID|all	resume TID|all	stands TID
 *	hold TID		(held, looked at, and let go)
 *	spin MICROSECONDS
 *
 * PROBETUI_KILL_POINT=NAME:COUNT: at that time of coming to that point of the
 * work this program kills itself by SIGKILL. NAME * is any point.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "banned.h"

#include "backends/backend.h"
#include "backends/native/registers.h"
#include "backends/tracer/tracee.h"
#include "backends/tracer/waits.h"
#include "base/array.h"
#include "base/error.h"
#include "base/loop.h"

struct probe {
	struct loop *loop;
	struct waits *waits;
	struct tracee *tracee;
	pid_t pid;
	bool stays;
	bool tells;
	bool adopts;
	struct tracee_calls calls;
	const char *point; /* where to be killed; NULL: nowhere */
	long left;	   /* of the times of coming there */
	struct hardware_watch slots[HARDWARE_WATCH_SLOTS];
	char line[256];
	size_t length;
};

static void tell(const char *event, pid_t tid, int slot)
{
	printf("{\"event\": \"%s\", \"tid\": %d, \"slot\": %d}\n", event, (int)tid, slot);
	fflush(stdout);
}

static enum tracee_next on_trapped(struct tracee *tracee, pid_t tid, int slot, void *data)
{
	struct probe *probe = data;

	(void)tracee;
	if (probe->tells)
		tell("trapped", tid, slot);
	return probe->stays ? TRACEE_STAY : TRACEE_RESUME;
}

static void on_stopped(struct tracee *tracee, pid_t tid, void *data)
{
	(void)tracee;
	(void)data;
	tell("stopped", tid, -1);
}

static enum tracee_next on_born(struct tracee *tracee, pid_t tid, void *data)
{
	struct probe *probe = data;

	(void)tracee;
	if (probe->tells)
		tell("born", tid, -1);
	return TRACEE_RESUME;
}

static void on_ended(struct tracee *tracee, pid_t tid, void *data)
{
	struct probe *probe = data;

	(void)tracee;
	if (probe->tells)
		tell("ended", tid, -1);
}

static enum tracee_next on_execed(struct tracee *tracee, void *data)
{
	struct probe *probe = data;

	tell("execed", tracee_pid(tracee), -1);
	return probe->stays ? TRACEE_STAY : TRACEE_RESUME;
}

static void on_gone(struct tracee *tracee, void *data)
{
	struct probe *probe = data;

	tell("gone", tracee_pid(tracee), -1);
	tracee_free(tracee);
	probe->tracee = NULL;
}

/* Of one that was adopted. */
static void on_child_gone(struct tracee *tracee, void *data)
{
	(void)data;
	tell("child gone", tracee_pid(tracee), -1);
	tracee_free(tracee);
}

static enum tracee_next on_child_execed(struct tracee *tracee, void *data)
{
	(void)data;
	tell("child execed", tracee_pid(tracee), -1);
	return TRACEE_RESUME;
}

static void on_forked(struct tracee *tracee, pid_t child, void *data)
{
	const struct tracee_calls calls = { .execed = on_child_execed, .gone = on_child_gone };
	struct probe *probe = data;

	if (probe->tells)
		tell("forked", child, -1);
	if (probe->adopts)
		tracee_adopt(tracee, child, &calls);
}

static void on_passing(const char *point, void *data)
{
	struct probe *probe = data;

	if (!probe->point || (strcmp(probe->point, "*") != 0 && strcmp(probe->point, point) != 0))
		return;
	if (--probe->left <= 0)
		kill(getpid(), SIGKILL);
}

static int attach(struct probe *probe, const char *words, struct error *error)
{
	struct reason reason;

	(void)words;
	probe->calls = (struct tracee_calls){
		.trapped = on_trapped,
		.stopped = on_stopped,
		.born = on_born,
		.ended = on_ended,
		.execed = on_execed,
		.forked = on_forked,
		.gone = on_gone,
		.passing = on_passing,
		.data = probe,
	};
	probe->tracee = tracee_new(probe->waits, probe->pid, &probe->calls, &reason);
	if (!probe->tracee)
		return reason_explain(&reason, error);
	return 0;
}

static int leave(struct probe *probe, const char *words, struct error *error)
{
	(void)words;
	(void)error;
	tracee_free(probe->tracee);
	probe->tracee = NULL;
	return 0;
}

static int print_counts(struct probe *probe, const char *words, struct error *error)
{
	struct tracee_counts counts;

	(void)words;
	(void)error;
	tracee_counts(probe->tracee, &counts);
	printf("{\"event\": \"counts\", \"traps\": %" PRIu64 ", \"changes\": %" PRIu64
	       ", \"interrupts\": %" PRIu64 ", \"remote_calls\": %" PRIu64 ", \"threads\": %zu}\n",
	       counts.traps, counts.changes, counts.interrupts, counts.remote_calls,
	       tracee_thread_count(probe->tracee));
	return 0;
}

static enum hardware_watch_access access_of(char letter)
{
	switch (letter) {
	case 'w':
		return HARDWARE_WATCH_WRITE;
	case 'a':
		return HARDWARE_WATCH_ACCESS;
	case 'x':
		return HARDWARE_WATCH_EXECUTE;
	default:
		return HARDWARE_WATCH_NONE;
	}
}

static int watch(struct probe *probe, const char *words, struct error *error)
{
	int tid, slot, length;
	uint64_t address;
	char letter;

	if (sscanf(words, "%d %d %" SCNi64 " %d %c", &tid, &slot, (int64_t *)&address, &length,
		   &letter) != 5 ||
	    slot < 0 || slot >= HARDWARE_WATCH_SLOTS)
		return error_set(error, "watch TID SLOT ADDRESS LENGTH ACCESS");
	probe->slots[slot] = (struct hardware_watch){
		.address = address,
		.length = length,
		.access = access_of(letter),
	};
	return tracee_watch(probe->tracee, (pid_t)tid, probe->slots, error);
}

static int set_stay(struct probe *probe, const char *words, struct error *error)
{
	(void)error;
	probe->stays = words[0] == '1';
	return 0;
}

static int set_tell(struct probe *probe, const char *words, struct error *error)
{
	(void)error;
	probe->tells = words[0] == '1';
	return 0;
}

static int set_adopt(struct probe *probe, const char *words, struct error *error)
{
	(void)error;
	probe->adopts = words[0] == '1';
	return 0;
}

static int set_late(struct probe *probe, const char *words, struct error *error)
{
	(void)error;
	probe->calls.is_late = words[0] == '1';
	tracee_set_calls(probe->tracee, &probe->calls);
	return 0;
}

static int set_hasty(struct probe *probe, const char *words, struct error *error)
{
	(void)error;
	probe->calls.is_hasty = words[0] == '1';
	tracee_set_calls(probe->tracee, &probe->calls);
	return 0;
}

static void each(struct probe *probe, const char *words,
		 void (*action)(struct tracee *tracee, pid_t tid))
{
	pid_t tid;

	if (strcmp(words, "all") != 0) {
		action(probe->tracee, (pid_t)strtol(words, NULL, 10));
		return;
	}
	for (size_t i = 0; (tid = tracee_thread(probe->tracee, i)) != 0; i++)
		action(probe->tracee, tid);
}

static int interrupt(struct probe *probe, const char *words, struct error *error)
{
	(void)error;
	each(probe, words, tracee_interrupt);
	return 0;
}

static int resume(struct probe *probe, const char *words, struct error *error)
{
	(void)error;
	each(probe, words, tracee_resume);
	return 0;
}

static int stands(struct probe *probe, const char *words, struct error *error)
{
	pid_t tid = (pid_t)strtol(words, NULL, 10);
	struct registers registers = { .pc = 0 };

	if (!tracee_is_stopped(probe->tracee, tid))
		return error_set(error, "it runs");
	return tracee_registers(probe->tracee, tid, &registers) < 0
		       ? error_set(error, "it has no registers")
		       : 0;
}

static int hold(struct probe *probe, const char *words, struct error *error)
{
	pid_t tid = (pid_t)strtol(words, NULL, 10);
	struct registers registers = { .pc = 0 };
	int result;

	if (tracee_hold(probe->tracee, tid, error) < 0)
		return -1;
	result = tracee_registers(probe->tracee, tid, &registers);
	tracee_release(probe->tracee, tid);
	return result < 0 ? error_set(error, "it has no registers") : 0;
}

static int spin(struct probe *probe, const char *words, struct error *error)
{
	(void)error;
	tracee_spin(probe->tracee, strtoull(words, NULL, 10) * 1000);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(struct probe *probe, const char *words, struct error *error);
	bool is_bare; /* it takes nothing to be attached to */
} orders[] = {
	{ "attach", attach, true },	   { "leave", leave, false },
	{ "counts", print_counts, false }, { "watch", watch, false },
	{ "stay", set_stay, true },	   { "tell", set_tell, true },
	{ "adopt", set_adopt, true },	   { "late", set_late, false },
	{ "hasty", set_hasty, false },	   { "interrupt", interrupt, false },
	{ "resume", resume, false },	   { "stands", stands, false },
	{ "hold", hold, false },	   { "spin", spin, false },
};

static int obey(struct probe *probe, const char *line, struct error *error)
{
	size_t length = strcspn(line, " ");

	for (size_t i = 0; i < ARRAY_LENGTH(orders); i++) {
		if (strlen(orders[i].name) != length || strncmp(orders[i].name, line, length) != 0)
			continue;
		if (!orders[i].is_bare && !probe->tracee)
			return error_set(error, "not attached");
		line += length;
		return orders[i].run(probe, line + strspn(line, " "), error);
	}
	return error_set(error, "unknown order");
}

static void answer(struct probe *probe, const char *line)
{
	struct error error = ERROR_INIT;

	if (obey(probe, line, &error) < 0)
		printf("{\"event\": \"failed\", \"error\": \"%s\"}\n", error.message);
	else
		printf("{\"event\": \"done\"}\n");
	fflush(stdout);
}

static void on_input(int fd, int events, void *data)
{
	struct probe *probe = data;
	char *end;
	ssize_t got =
		read(fd, probe->line + probe->length, sizeof(probe->line) - 1 - probe->length);

	(void)events;
	if (got <= 0) {
		loop_stop(probe->loop);
		return;
	}
	probe->length += (size_t)got;
	probe->line[probe->length] = '\0';
	while ((end = strchr(probe->line, '\n')) != NULL) {
		*end = '\0';
		answer(probe, probe->line);
		probe->length -= (size_t)(end + 1 - probe->line);
		memmove(probe->line, end + 1, probe->length + 1);
	}
}

static void on_term(int number, void *data)
{
	struct probe *probe = data;

	(void)number;
	loop_stop(probe->loop);
}

static void read_kill_point(struct probe *probe)
{
	char *text = getenv("PROBETUI_KILL_POINT");
	char *colon = text ? strchr(text, ':') : NULL;

	if (!colon)
		return;
	*colon = '\0';
	probe->point = text;
	probe->left = strtol(colon + 1, NULL, 10);
}

int main(int count, char **words)
{
	struct probe probe = { .tells = true };
	struct loop_signal *term;
	struct loop_watch *input;

	if (count != 2)
		return 2;
	probe.pid = (pid_t)strtol(words[1], NULL, 10);
	read_kill_point(&probe);
	probe.loop = loop_new();
	probe.waits = waits_new(probe.loop);
	term = loop_signal(probe.loop, SIGTERM, on_term, &probe);
	input = loop_watch(probe.loop, STDIN_FILENO, LOOP_READABLE, on_input, &probe);
	loop_run(probe.loop);
	tracee_free(probe.tracee);
	tracee_finish(probe.waits);
	loop_watch_stop(input);
	loop_signal_stop(term);
	waits_free(probe.waits);
	loop_free(probe.loop);
	return 0;
}
