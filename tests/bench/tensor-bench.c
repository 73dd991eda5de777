/*
 * tensor-bench: how fast elements of other processes are read: prints a line
 * of JSON. For tensors.py; MEGABYTES of one tensor, PROCESSES of 200 others.
 *
 * The floors are measured in between: this thread reads the same bytes from
 * its own memory, and copies them by process_vm_readv(2) and does nothing with
 * them. All times are of the clock, the least of some.
 */
#include <jansson.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "banned.h"

#include "backends/tensor/layout.h"
#include "backends/tensor/wish.h"
#include "backends/tensor/work.h"
#include "base/alloc.h"
#include "base/loop.h"
#include "protocol/dtype.h"

#define ROUNDS 5
#define PARAMETERS 200
#define PARAMETERS_BYTES ((int64_t)100 << 20)
#define PROCESSES_MAXIMUM 64
#define COPY ((size_t)256 << 10)

struct bench {
	struct loop *loop;
	int waiting;
	float *values;
	size_t count; /* of values */
	pid_t target;
	uint64_t sum; /* nobody can leave out what it is made from */
};

static void fill(float *values, size_t count)
{
	uint32_t state = 1;

	for (size_t i = 0; i < count; i++) {
		state = state * 1664525 + 1013904223;
		values[i] = (float)(int32_t)state / 65536.0f;
	}
}

static float *map(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		fprintf(stderr, "tensor-bench: there are no %zu bytes\n",
			bytes);
		exit(1);
	}
	fill(memory, bytes / sizeof(float));
	return memory;
}

/* A process that has what this one has, and waits. */
static pid_t stand_in(void)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		pause();
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static double read_own(struct bench *bench)
{
	const uint64_t *words = (const void *)bench->values;
	size_t count = bench->count / 2;
	double start = loop_now();
	uint64_t sums[4] = { 0 };

	for (size_t i = 0; i + 4 <= count; i += 4)
		for (size_t j = 0; j < 4; j++)
			sums[j] += words[i + j];
	bench->sum += sums[0] + sums[1] + sums[2] + sums[3];
	return loop_now() - start;
}

static double copy(struct bench *bench)
{
	size_t bytes = bench->count * sizeof(float);
	uint8_t *out = xmalloc(COPY);
	double start = loop_now();

	for (size_t i = 0; i < bytes; i += COPY) {
		size_t part = bytes - i < COPY ? bytes - i : COPY;
		struct iovec here = { out, part };
		struct iovec there = { (uint8_t *)bench->values + i, part };

		if (process_vm_readv(bench->target, &here, 1, &there, 1, 0) < 0)
			exit(1);
	}
	bench->sum += out[0];
	free(out);
	return loop_now() - start;
}

static void done(struct tensor_result *result, void *data)
{
	struct bench *bench = data;

	if (error_is_set(&result->error)) {
		fprintf(stderr, "tensor-bench: %s\n", result->error.message);
		exit(1);
	}
	bench->waiting--;
}

static void begin(struct bench *bench, pid_t pid, const char *dtype,
		  size_t start, size_t bytes, bool is_hash)
{
	struct tensor_work_calls calls = { .done = done, .data = bench };
	struct tensor_layout layout = {
		.pid = pid,
		.address = (uint64_t)(uintptr_t)bench->values + start,
		.dtype = dtype_find(dtype),
		.dimension_count = 1,
	};
	struct tensor_wish wish;

	tensor_wish_init(&wish);
	wish.has_hash = is_hash;
	wish.statistics = is_hash ? WISH_NO_STATISTICS : WISH_WHOLE;
	layout.item_size = layout.dtype->size;
	layout.strides[0] = layout.item_size;
	layout.shape[0] = (int64_t)bytes / layout.item_size;
	bench->waiting++;
	tensor_work_start(bench->loop, &layout, &wish, &calls);
}

static double wait_for_all(struct bench *bench, double start)
{
	while (bench->waiting > 0)
		loop_turn(bench->loop);
	return loop_now() - start;
}

static double whole(struct bench *bench, const char *dtype, bool is_hash)
{
	double start = loop_now();

	begin(bench, bench->target, dtype, 0, bench->count * sizeof(float),
	      is_hash);
	return wait_for_all(bench, start);
}

static double parameters(struct bench *bench, const pid_t *pids, int count)
{
	double start = loop_now();
	size_t bytes = PARAMETERS_BYTES / PARAMETERS;

	for (int i = 0; i < count; i++)
		for (size_t j = 0; j < PARAMETERS; j++)
			begin(bench, pids[i], "float32", j * bytes, bytes,
			      true);
	return wait_for_all(bench, start);
}

static double least(double one, double other)
{
	return other == 0 || one < other ? one : other;
}

static json_t *measure_one(struct bench *bench)
{
	static const char *const dtypes[] = { "float32", "bfloat16", "float16",
					      "float64", "int64",    "uint8" };
	double own = 0;
	double copied = 0;
	double hashed = 0;
	double times[6] = { 0 };
	double bytes = (double)(bench->count * sizeof(float));
	json_t *rates = json_object();

	bench->target = stand_in();
	for (int round = 0; round < ROUNDS; round++) {
		own = least(read_own(bench), own);
		copied = least(copy(bench), copied);
		for (size_t i = 0; i < 6; i++)
			times[i] =
				least(whole(bench, dtypes[i], false), times[i]);
		hashed = least(whole(bench, "float32", true), hashed);
	}
	end(bench->target);
	json_object_set_new(rates, "read", json_real(bytes / own));
	json_object_set_new(rates, "copy", json_real(bytes / copied));
	for (size_t i = 0; i < 6; i++)
		json_object_set_new(rates, dtypes[i],
				    json_real(bytes / times[i]));
	json_object_set_new(rates, "hash", json_real(bytes / hashed));
	return rates;
}

/* Each has its own memory: it writes it anew. */
static double measure_parameters(struct bench *bench, int count)
{
	pid_t pids[PROCESSES_MAXIMUM];
	double time = 0;
	int ready[2];
	char byte;

	if (pipe(ready) < 0)
		exit(1);
	for (int i = 0; i < count; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			fill(bench->values,
			     (size_t)PARAMETERS_BYTES / sizeof(float));
			while (write(ready[1], "", 1) == 1)
				pause();
			_exit(1);
		}
	}
	for (int i = 0; i < count; i++)
		if (read(ready[0], &byte, 1) != 1)
			exit(1);
	for (int round = 0; round < ROUNDS; round++)
		time = least(parameters(bench, pids, count), time);
	for (int i = 0; i < count; i++)
		end(pids[i]);
	return time;
}

int main(int argc, char **argv)
{
	size_t bytes = (argc > 1 ? strtoul(argv[1], NULL, 10) : 1024) << 20;
	long count = argc > 2 ? strtol(argv[2], NULL, 10) : 8;
	struct bench bench = { .loop = loop_new() };
	json_t *json;

	if (bytes < (size_t)PARAMETERS_BYTES || count < 1 ||
	    count > PROCESSES_MAXIMUM) {
		fprintf(stderr, "usage: tensor-bench [MEGABYTES (100 or more)] "
				"[PROCESSES (up to 64)]\n");
		return 2;
	}
	bench.count = bytes / sizeof(float);
	bench.values = map(bytes);
	json = json_object();
	json_object_set_new(json, "bytes", json_integer((json_int_t)bytes));
	json_object_set_new(json, "rates", measure_one(&bench));
	json_object_set_new(json, "processes", json_integer(count));
	json_object_set_new(json, "seconds",
			    json_real(measure_parameters(&bench, (int)count)));
	json_dumpf(json, stdout, 0);
	printf("\n");
	json_decref(json);
	loop_free(bench.loop);
	munmap(bench.values, bytes);
	return bench.sum == 1;
}
