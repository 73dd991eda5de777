/*
 * sample-probe MODE PID [COUNT]: what pystack sees of a process, for tests.
 *
 *	sample	COUNT samples as JSON, one a line; a line of standard input
 *		is awaited before each but the first
 *	exact	the same, with the GIL's holder held
 *	check	COUNT samples of tests/backend/chain_target.py, whose calls are
 *		known: how many stacks cannot have been, by exactness
 *	check-exact  the same, with the GIL's holder held
 *	hash	the hash of the str "threading", as a number
 *	time	microseconds and system calls: to find the interpreter, of the
 *		first sample, and the median of COUNT more
 */
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <time.h>

#include "banned.h"

#include "backends/cpython/cpython.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pystack.h"
#include "backends/cpython/pystring.h"
#include "backends/linux/memory.h"
#include "backends/tracer/freezer.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/sample.h"
#include "protocol/stack.h"

struct probe {
	struct memory *memory;
	struct cpython python;
	struct stack_table *table;
	struct freezer *holds;
	struct pystack *pystack;
	struct process_sample sample;
	int count;
};

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void print_json(json_t *owned_json)
{
	json_dumpf(owned_json, stdout, JSON_COMPACT);
	putchar('\n');
	fflush(stdout);
	json_decref(owned_json);
}

static int print_samples(struct probe *probe, bool exact, struct error *error)
{
	char line[16];

	for (int i = 0; i < probe->count; i++) {
		if (i > 0 && !fgets(line, sizeof(line), stdin))
			return 0;
		if (pystack_sample(probe->pystack, exact, &probe->sample, error) < 0)
			return -1;
		json_t *json = process_sample_to_json(&probe->sample, probe->table);
		json_set_text(json, "python", probe->python.version_text);
		print_json(json);
	}
	return 0;
}

static int print_plain(struct probe *probe, struct error *error)
{
	return print_samples(probe, false, error);
}

static int print_exact(struct probe *probe, struct error *error)
{
	return print_samples(probe, true, error);
}

/* "a3" is called by "a2" on the line below its def, "a0" by "work". */
static bool is_legal_call(const struct frame *callee, const struct frame *caller)
{
	const char *name = callee->code->func;
	const char *by = caller->code->func;
	int line = caller->lineno - caller->code->first_lineno;

	if (name[1] == '0')
		return strcmp(by, "work") == 0 && line == (name[0] == 'a' ? 2 : 3);
	return by[0] == name[0] && by[1] == name[1] - 1 && by[2] == '\0' && line == 1;
}

static bool is_link(const char *name)
{
	return (name[0] == 'a' || name[0] == 'b') && name[1] >= '0' && name[1] <= '9' &&
	       name[2] == '\0';
}

static bool is_legal(const struct stack *stack)
{
	for (size_t i = 0; i < stack->frame_count; i++) {
		const struct frame *frame = &stack->frames[i];
		const struct frame *caller = frame + 1;
		if (strcmp(frame->code->func, "?") == 0)
			return false;
		if (!is_link(frame->code->func))
			continue;
		if (i + 1 == stack->frame_count || !is_legal_call(frame, caller))
			return false;
	}
	return true;
}

static void print_stack(const struct thread_sample *thread)
{
	fprintf(stderr, "%s", exactness_name(thread->exactness));
	for (size_t i = 0; i < thread->stack->frame_count && i < 12; i++)
		fprintf(stderr, " %s:%d", thread->stack->frames[i].code->func,
			thread->stack->frames[i].lineno);
	fprintf(stderr, "\n");
}

static int check(struct probe *probe, bool exact, struct error *error)
{
	int seen[3] = { 0 };
	int illegal[3] = { 0 };
	json_t *json = json_object();

	for (int i = 0; i < probe->count; i++) {
		if (pystack_sample(probe->pystack, exact, &probe->sample, error) < 0)
			return -1;
		for (size_t j = 0; j < probe->sample.thread_count; j++) {
			const struct thread_sample *thread = &probe->sample.threads[j];
			seen[thread->exactness]++;
			if (is_legal(thread->stack))
				continue;
			illegal[thread->exactness]++;
			if (thread->exactness != TORN)
				print_stack(thread);
		}
	}
	for (enum exactness i = EXACT; i <= TORN; i++)
		json_object_set_new(json, exactness_name(i),
				    json_pack("{s:i,s:i}", "seen", seen[i], "illegal", illegal[i]));
	print_json(json);
	return 0;
}

static int check_plain(struct probe *probe, struct error *error)
{
	return check(probe, false, error);
}

static int check_exact(struct probe *probe, struct error *error)
{
	return check(probe, true, error);
}

static int compare_times(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;

	return left < right ? -1 : left > right;
}

static int locate(struct probe *probe, struct error *error)
{
	if (cpython_locate(&probe->python, probe->memory, NULL, error) < 0)
		return -1;
	probe->pystack = pystack_new(probe->memory, &probe->python, probe->table, probe->holds);
	return 0;
}

/* Locates afresh, so that only the kernel's caches are warm. */
static int print_times(struct probe *probe, struct error *error)
{
	double *times = xcalloc((size_t)probe->count + 1, sizeof(*times));
	uint64_t most_calls = 0;
	uint64_t held_ns = 0;
	double began = now_us();
	uint64_t calls = memory_calls(probe->memory);

	pystack_free(probe->pystack);
	probe->pystack = NULL;
	if (locate(probe, error) < 0)
		goto out;
	double located = now_us();
	uint64_t locate_calls = memory_calls(probe->memory) - calls;
	if (pystack_sample(probe->pystack, false, &probe->sample, error) < 0)
		goto out;
	double first = now_us();
	uint64_t first_calls = probe->sample.syscalls;
	for (int i = 0; i < probe->count; i++) {
		double start = now_us();
		if (pystack_sample(probe->pystack, false, &probe->sample, error) < 0)
			goto out;
		times[i] = now_us() - start;
		if (probe->sample.syscalls > most_calls)
			most_calls = probe->sample.syscalls;
		held_ns += probe->sample.held_ns;
	}
	qsort(times, (size_t)probe->count, sizeof(*times), compare_times);
	print_json(json_pack("{s:f,s:I,s:f,s:I,s:f,s:I,s:I}", "locate_us", located - began,
			     "locate_reads", (json_int_t)locate_calls, "first_us", first - located,
			     "first_calls", (json_int_t)first_calls, "warm_us",
			     times[probe->count / 2], "warm_calls", (json_int_t)most_calls,
			     "held_ns", (json_int_t)held_ns));
	free(times);
	return 0;
out:
	free(times);
	return -1;
}

static int print_hash(struct probe *probe, struct error *error)
{
	struct pyreader reader;
	uint64_t hash;

	pyreader_init(&reader, probe->memory, &probe->python);
	if (pyhash_text(&reader, "threading", &hash) < 0)
		return error_set(error, "the key of the hash is unreadable");
	print_json(json_pack("{s:I}", "hash", (json_int_t)hash));
	return 0;
}

static const struct mode {
	const char *name;
	int (*run)(struct probe *probe, struct error *error);
} modes[] = {
	{ "sample", print_plain },	{ "exact", print_exact }, { "check", check_plain },
	{ "check-exact", check_exact }, { "time", print_times },  { "hash", print_hash },
};

static const struct mode *find_mode(const char *name)
{
	for (size_t i = 0; i < ARRAY_LENGTH(modes); i++)
		if (strcmp(modes[i].name, name) == 0)
			return &modes[i];
	return NULL;
}

int main(int argc, char **argv)
{
	struct error error = ERROR_INIT;
	const struct mode *mode = argc > 2 ? find_mode(argv[1]) : NULL;

	if (!mode) {
		fprintf(stderr, "usage: sample-probe MODE PID [COUNT]\n");
		return 2;
	}
	struct probe probe = {
		.memory = memory_new((pid_t)strtol(argv[2], NULL, 10)),
		.table = stack_table_new(),
		.holds = freezer_new(NULL),
		.count = argc > 3 ? (int)strtol(argv[3], NULL, 10) : 1,
	};
	int result = locate(&probe, &error);
	if (result == 0)
		result = mode->run(&probe, &error);
	if (result < 0)
		fprintf(stderr, "%s\n", error.message);
	process_sample_clear(&probe.sample);
	pystack_free(probe.pystack);
	stack_table_free(probe.table);
	freezer_free(probe.holds);
	memory_free(probe.memory);
	return result < 0;
}
