/*
 * tensor-probe PID: what pytensor tells of objects of a process, for tests.
 * Each line of the standard input is an address, or "blind" (from then on as
 * if no version of torch were known) or "known", or "fresh ADDRESS" (nothing
 * that was read before is kept); each line of the output its answer:
 *
 *	{"tensor": …, "address": of its first element or null, "strides": in
 *	 bytes, "error": why it is none, "calls": system calls, "ns": time}
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "banned.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pytensor.h"
#include "backends/cpython/tensor-layout.h"
#include "backends/linux/memory.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/tensor.h"
#include "tests/backend/looker.h"

struct probe {
	struct looker process;
	struct pyreader reader;
	bool is_blind;
};

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void begin(struct probe *probe)
{
	memory_begin(probe->process.memory, false);
	pyreader_init(&probe->reader, probe->process.memory, &probe->process.python);
	probe->reader.tensors.is_blind = probe->is_blind;
}

static void tell_layout(const struct probe *probe, const struct pytensor *tensor, json_t *answer)
{
	struct tensor_layout layout;
	struct error error = ERROR_INIT;
	json_t *strides = json_array();

	if (pytensor_layout(tensor, memory_pid(probe->process.memory), &layout, &error)) {
		json_decref(strides);
		json_set_text(answer, "unread", error.message);
		return;
	}
	for (int i = 0; i < layout.dimension_count; i++)
		json_array_append_new(strides, json_integer(layout.strides[i]));
	json_object_set_new(answer, "address", json_integer((json_int_t)layout.address));
	json_object_set_new(answer, "strides", strides);
	json_object_set_new(answer, "swapped", json_boolean(layout.is_swapped));
}

static json_t *answer_address(struct probe *probe, uint64_t address)
{
	struct pytensor tensor;
	struct error error = ERROR_INIT;
	json_t *answer = json_object();
	uint64_t calls = memory_calls(probe->process.memory);
	int64_t start = now_ns();
	int result = pytensor_read(&probe->reader, address, &tensor, &error);

	json_object_set_new(answer, "ns", json_integer(now_ns() - start));
	json_object_set_new(
		answer, "calls",
		json_integer((json_int_t)(memory_calls(probe->process.memory) - calls)));
	if (result) {
		json_set_text(answer, "error", error.message);
		return answer;
	}
	struct tensor told;

	tensor_init(&told);
	pytensor_tell(&tensor, &told);
	json_object_set_new(answer, "tensor", tensor_to_json(&told));
	tensor_clear(&told);
	tell_layout(probe, &tensor, answer);
	return answer;
}

static json_t *answer_line(void *data, char *line)
{
	struct probe *probe = data;
	bool is_fresh = strncmp(line, "fresh ", 6) == 0;

	if (strncmp(line, "blind", 5) == 0 || strncmp(line, "known", 5) == 0) {
		probe->is_blind = *line == 'b';
		begin(probe);
		return json_true();
	}
	if (is_fresh)
		begin(probe);
	/* A reader has a budget, and here it reads hundreds of them. */
	probe->reader.budget = (size_t)8 << 20;
	return answer_address(probe, strtoull(is_fresh ? line + 6 : line, NULL, 0));
}

int main(int argc, char **argv)
{
	struct probe probe = { .is_blind = false };

	if (looker_open(&probe.process, argc, argv))
		return 1;
	begin(&probe);
	looker_serve(answer_line, &probe);
	looker_close(&probe.process);
	return 0;
}
