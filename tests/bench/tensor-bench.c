/*
 * tensor-bench: how fast elements of other processes are read: prints a line
 * of JSON. For tensors.py; MEGABYTES of one tensor, PROCESSES of 200 others;
 * ROUNDS: many, of few megabytes, find the moments in which a busy machine is
 * free.
 *
 * The floors are measured in between: this thread reads as many bytes from
 * its own memory, and copies those by process_vm_readv(2) and does nothing with
 * them. All times are of the clock, the least of some.
 *
 * All of it twice: in pages of 4 KB, which the kernel finds one by one, and in
 * huge ones, if it gives any: told is what it gave.
 *
 * Each process writes its own memory. Pages that are shared since a fork are
 * no measure: the kernel copies each when it is looked at.
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

#include "backends/cpython/tensor-layout.h"
#include "backends/tensor/scan-query.h"
#include "backends/tensor/scan-work.h"
#include "base/alloc.h"
#include "base/loop.h"
#include "protocol/dtype.h"

#define ROUNDS 5 /* unless told otherwise */
#define PARAMETERS 200
#define PARAMETERS_BYTES ((int64_t)100 << 20)
#define PROCESSES_MAXIMUM 64
#define COPY ((size_t)512 << 10)

struct bench {
	struct loop *loop;
	int waiting;
	uint8_t *values;
	size_t bytes; /* of them */
	pid_t target;
	uint64_t sum; /* nobody can leave out what it is made from */
};

/*
 * Numbers that are finite and not subnormal in whatever type they are read:
 * each 16 bits of them, from 0x2c00 to 0x3fff and a sign, are 0.06 to 2 as a
 * float16. One of 16 has all bits 0.
 */
static void fill(void *memory, size_t bytes)
{
	uint64_t *words = memory;
	uint64_t state = 1;

	for (size_t i = 0; i < bytes / sizeof(*words); i++) {
		state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		words[i] = state >> 60 ? (state >> 3 & UINT64_C(0x93ff93ff93ff93ff)) |
						 UINT64_C(0x2c002c002c002c00)
				       : 0;
	}
}

/* Room at one address, for this process and those that it forks. */
static void *map(size_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		fprintf(stderr, "tensor-bench: there are no %zu bytes\n", bytes);
		exit(1);
	}
	return memory;
}

/* Pages of its own, of that kind (madvise(2)), are in place of all there. */
static void write_anew(void *values, size_t bytes, int kind)
{
	madvise(values, bytes, MADV_DONTNEED);
	madvise(values, bytes, kind);
	fill(values, bytes);
}

/* A process that has written so many bytes anew, and waits. */
static pid_t stand_in(void *values, size_t bytes, int kind)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready) < 0 || (pid = fork()) < 0)
		exit(1);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		write_anew(values, bytes, kind);
		while (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		exit(1);
	close(ready[0]);
	return pid;
}

/* Bytes of a process that lie in huge pages; -1: the kernel does not say. */
static int64_t huge_bytes(pid_t pid)
{
	char path[64];
	char line[256];
	long kilobytes = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	file = fopen(path, "re");
	while (file && kilobytes < 0 && fgets(line, sizeof(line), file))
		if (sscanf(line, "AnonHugePages: %ld", &kilobytes) != 1)
			kilobytes = -1;
	if (file)
		fclose(file);
	return kilobytes < 0 ? -1 : (int64_t)kilobytes << 10;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static double read_own(struct bench *bench)
{
	const uint64_t *words = (const void *)bench->values;
	size_t count = bench->bytes / sizeof(*words);
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
	uint8_t *out = xmalloc(COPY);
	double start = loop_now();

	for (size_t i = 0; i < bench->bytes; i += COPY) {
		size_t left = bench->bytes - i;
		size_t part = left < COPY ? left : COPY;
		struct iovec here = { out, part };
		struct iovec there = { bench->values + i, part };

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

static void begin(struct bench *bench, pid_t pid, const char *dtype, size_t start, size_t bytes,
		  bool is_hash)
{
	struct tensor_work_calls calls = { .done = done, .data = bench };
	struct tensor_layout layout = {
		.pid = pid,
		.address = (uint64_t)(uintptr_t)bench->values + start,
		.dtype = dtype_find(dtype),
		.dimension_count = 1,
	};
	struct tensor_query query;

	tensor_query_init(&query);
	query.has_hash = is_hash;
	query.statistics = is_hash ? SCAN_QUERY_NO_STATISTICS : SCAN_QUERY_WHOLE;
	layout.item_size = layout.dtype->size;
	layout.strides[0] = layout.item_size;
	layout.shape[0] = (int64_t)bytes / layout.item_size;
	bench->waiting++;
	tensor_work_start(bench->loop, &layout, &query, &calls);
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

	begin(bench, bench->target, dtype, 0, bench->bytes, is_hash);
	return wait_for_all(bench, start);
}

static double parameters(struct bench *bench, const pid_t *pids, int count)
{
	double start = loop_now();
	size_t bytes = PARAMETERS_BYTES / PARAMETERS;

	for (int i = 0; i < count; i++)
		for (size_t j = 0; j < PARAMETERS; j++)
			begin(bench, pids[i], "float32", j * bytes, bytes, true);
	return wait_for_all(bench, start);
}

static double least(double one, double other)
{
	return other == 0 || one < other ? one : other;
}

static const char *const dtypes[] = { "float32", "bfloat16", "float16", "float64",
				      "int64",	 "int32",    "uint8",	"bool" };
#define DTYPES (sizeof(dtypes) / sizeof(dtypes[0]))

/* Bytes in a second, by what is done with them. */
static json_t *rates(struct bench *bench, long rounds)
{
	double own = 0;
	double copied = 0;
	double hashed = 0;
	double times[DTYPES] = { 0 };
	double bytes = (double)bench->bytes;
	json_t *told = json_object();

	for (long round = 0; round < rounds; round++) {
		own = least(read_own(bench), own);
		copied = least(copy(bench), copied);
		for (size_t i = 0; i < DTYPES; i++)
			times[i] = least(whole(bench, dtypes[i], false), times[i]);
		hashed = least(whole(bench, "float32", true), hashed);
	}
	json_object_set_new(told, "read", json_real(bytes / own));
	json_object_set_new(told, "copy", json_real(bytes / copied));
	for (size_t i = 0; i < DTYPES; i++)
		json_object_set_new(told, dtypes[i], json_real(bytes / times[i]));
	json_object_set_new(told, "hash", json_real(bytes / hashed));
	return told;
}

static json_t *measure_one(size_t bytes, int kind, long rounds)
{
	struct bench bench = { .loop = loop_new() };
	json_t *told = json_object();

	bench.bytes = bytes;
	bench.values = map(bytes);
	bench.target = stand_in(bench.values, bytes, kind);
	write_anew(bench.values, bytes, kind);
	json_object_set_new(told, "huge", json_integer(huge_bytes(bench.target)));
	json_object_set_new(told, "rates", rates(&bench, rounds));
	end(bench.target);
	munmap(bench.values, bytes);
	loop_free(bench.loop);
	if (bench.sum == 1)
		fprintf(stderr, "tensor-bench: zeros\n");
	return told;
}

static double measure_parameters(int count)
{
	size_t bytes = (size_t)PARAMETERS_BYTES;
	struct bench bench = { .loop = loop_new(), .values = map(bytes) };
	pid_t pids[PROCESSES_MAXIMUM];
	double time = 0;

	for (int i = 0; i < count; i++)
		pids[i] = stand_in(bench.values, bytes, MADV_NOHUGEPAGE);
	for (int round = 0; round < ROUNDS; round++)
		time = least(parameters(&bench, pids, count), time);
	for (int i = 0; i < count; i++)
		end(pids[i]);
	munmap(bench.values, bytes);
	loop_free(bench.loop);
	return time;
}

int main(int argc, char **argv)
{
	size_t bytes = (argc > 1 ? strtoul(argv[1], NULL, 10) : 1024) << 20;
	long count = argc > 2 ? strtol(argv[2], NULL, 10) : 8;
	long rounds = argc > 3 ? strtol(argv[3], NULL, 10) : ROUNDS;
	json_t *json;

	if (bytes == 0 || rounds < 1 || count < 1 || count > PROCESSES_MAXIMUM) {
		fprintf(stderr,
			"usage: tensor-bench [MEGABYTES] [PROCESSES (up to 64) [ROUNDS]]\n");
		return 2;
	}
	json = json_object();
	json_object_set_new(json, "bytes", json_integer((json_int_t)bytes));
	json_object_set_new(json, "small", measure_one(bytes, MADV_NOHUGEPAGE, rounds));
	json_object_set_new(json, "large", measure_one(bytes, MADV_HUGEPAGE, rounds));
	json_object_set_new(json, "processes", json_integer(count));
	json_object_set_new(json, "seconds", json_real(measure_parameters((int)count)));
	json_dumpf(json, stdout, 0);
	printf("\n");
	json_decref(json);
	return 0;
}
