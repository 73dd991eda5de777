/*
 * locals-probe PID: what pyobject reads of a process, for tests. Each line of
 * the standard input is a request, each line of the output its answer, in
 * JSON:
 *
 *	locals TID FUNCTION START	variables of that function's frame
 *	children ADDRESS START COUNT	what the object there holds
 *	value ADDRESS			one variable
 *	environ NAME			os.environ[NAME]
 *	threads				{ident: name}
 *	random SEED COUNT ADDRESS	opens COUNT addresses, wild ones and
 *some near ADDRESS; how many had an answer
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pystack.h"
#include "backends/cpython/pytstate.h"
#include "backends/cpython/sys-modules.h"
#include "backends/linux/memory.h"
#include "backends/tracer/freezer.h"
#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/sample.h"
#include "protocol/stack.h"
#include "protocol/variable.h"
#include "tests/backend/looker.h"

#define SAMPLES_MAXIMUM 1000

struct probe {
	struct looker process;
	struct pyreader reader;
};

/* The words of a request behind its name; "" where there is none. */
struct words {
	char items[4][64];
};

static uint64_t number(const char *word)
{
	return strtoull(word, NULL, 0);
}

static json_t *failure(const struct error *error)
{
	json_t *answer = json_object();

	json_set_text(answer, "error", error->message);
	return answer;
}

static json_t *answer_list(struct variable_list *list, int result, const struct error *error)
{
	json_t *answer = result ? failure(error) : variable_list_to_json(list);

	variable_list_clear(list);
	return answer;
}

/* Depth of the function in the stack of the thread, -1: it is not there. */
static int find_depth(const struct process_sample *sample, pid_t tid, const char *function)
{
	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct stack *stack = sample->threads[i].stack;

		if (sample->threads[i].tid != tid || !stack)
			continue;
		for (size_t at = 0; at < stack->frame_count; at++) {
			if (!strcmp(stack->frames[at].code->func, function))
				return (int)at;
		}
	}
	return -1;
}

/* Address of the function's frame; the process may still be on its way. */
static struct pyobject_frame find_frame(struct probe *probe, pid_t tid, const char *function)
{
	struct stack_table *table = stack_table_new();
	struct freezer *holds = freezer_new(NULL);
	struct pystack *pystack =
		pystack_new(probe->process.memory, &probe->process.python, table, holds);
	struct process_sample sample = { 0 };
	struct pyobject_frame frame = { .address = 0 };

	for (int i = 0; !frame.address && i < SAMPLES_MAXIMUM; i++) {
		int depth = -1;

		if (!pystack_sample(pystack, false, &sample, NULL))
			depth = find_depth(&sample, tid, function);
		if (depth < 0 || pystack_frame(pystack, tid, 0, depth, &frame))
			frame.address = 0;
		process_sample_clear(&sample);
	}
	pystack_free(pystack);
	freezer_free(holds);
	stack_table_free(table);
	return frame;
}

static json_t *answer_locals(struct probe *probe, const struct words *words)
{
	struct variable_list list = { 0 };
	struct error error = ERROR_INIT;
	struct pyobject_frame frame =
		find_frame(probe, (pid_t)number(words->items[0]), words->items[1]);
	int result;

	if (!frame.address) {
		error_set(&error, "The function has no frame.");
		return failure(&error);
	}
	memory_begin(probe->process.memory, false);
	result = pyobject_locals(&probe->reader, &frame, (int64_t)number(words->items[2]),
				 VARIABLE_PAGE, &list, &error);
	return answer_list(&list, result, &error);
}

static json_t *answer_children(struct probe *probe, const struct words *words)
{
	struct variable_list list = { 0 };
	struct error error = ERROR_INIT;
	int result = pyobject_children(&probe->reader, number(words->items[0]),
				       (int64_t)number(words->items[1]),
				       (size_t)number(words->items[2]), &list, &error);

	return answer_list(&list, result, &error);
}

static json_t *answer_value(struct probe *probe, const struct words *words)
{
	struct variable_list list = { 0 };
	struct variable *variable = variable_list_add(&list);
	json_t *answer;

	pyobject_describe(&probe->reader, number(words->items[0]), variable);
	answer = variable_to_json(variable);
	variable_list_clear(&list);
	return answer;
}

static uint64_t find_interpreter(struct probe *probe)
{
	uint64_t interpreter = 0;

	memory_read_u64(probe->process.memory,
			probe->process.python.runtime +
				(uint64_t)probe->process.python.offsets.rt_interp_main,
			&interpreter);
	return interpreter;
}

/* A variable that is looked for. */
struct variable_search {
	const char *name;
	json_t *value;
};

static bool is_searched(const char *name, void *data)
{
	const struct variable_search *search = data;

	return strcmp(name, search->name) == 0;
}

static void take_value(const char *name, const char *value, void *data)
{
	struct variable_search *search = data;

	(void)name;
	search->value = json_text(value);
}

static json_t *answer_environ(struct probe *probe, const struct words *words)
{
	struct variable_search search = { .name = words->items[0], .value = NULL };
	struct pyenviron_query query = {
		.is_wanted = is_searched,
		.found = take_value,
		.data = &search,
	};

	pyenviron_each(&probe->reader, find_interpreter(probe), &query);
	return search.value ? search.value : json_null();
}

static void add_thread(uint64_t ident, const char *name, void *data)
{
	char key[32];

	snprintf(key, sizeof(key), "%" PRIu64, ident);
	json_set_text(data, key, name);
}

static json_t *answer_threads(struct probe *probe, const struct words *words)
{
	json_t *answer = json_object();

	(void)words;
	pythread_names(&probe->reader, find_interpreter(probe), add_thread, answer);
	return answer;
}

/* xorshift64: the same wild addresses for the same seed. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static int open_address(struct probe *probe, uint64_t address)
{
	struct variable_list list = { 0 };
	struct variable *variable = variable_list_add(&list);
	struct error error = ERROR_INIT;
	const struct pyobject_frame frame = {
		.address = address,
		.thread = address,
		.is_newest = true,
	};
	int result;

	pyreader_init(&probe->reader, probe->process.memory, &probe->process.python);
	pyobject_describe(&probe->reader, address, variable);
	result = pyobject_children(&probe->reader, address, 0, VARIABLE_PAGE, &list, &error);
	if (result)
		result = error_is_set(&error) ? 0 : -1;
	else
		result = 1;
	variable_list_clear(&list);
	if (!pyobject_locals(&probe->reader, &frame, 0, VARIABLE_PAGE, &list, &error))
		result = 1;
	variable_list_clear(&list);
	return result;
}

static json_t *answer_random(struct probe *probe, const struct words *words)
{
	uint64_t state = number(words->items[0]) | 1;
	uint64_t count = number(words->items[1]);
	uint64_t near = number(words->items[2]);
	json_int_t opened = 0, silent = 0;
	json_t *answer = json_object();

	for (uint64_t i = 0; i < count; i++) {
		uint64_t address = next_random(&state);
		int result;

		if (i % 8)
			address = near + address % (1 << 18) / 8 * 8;
		result = open_address(probe, address);
		opened += result > 0;
		silent += result < 0;
	}
	json_object_set_new(answer, "opened", json_integer(opened));
	json_object_set_new(answer, "silent", json_integer(silent));
	return answer;
}

static const struct {
	const char *name;
	json_t *(*answer)(struct probe *probe, const struct words *words);
} requests[] = {
	{ "locals", answer_locals },   { "children", answer_children }, { "value", answer_value },
	{ "environ", answer_environ }, { "threads", answer_threads },	{ "random", answer_random },
};

static void split(char *line, struct words *words)
{
	size_t count = 0;
	char *rest = line;
	char *word;

	*words = (struct words){ 0 };
	while (count < ARRAY_LENGTH(words->items) && (word = strsep(&rest, " \n")) != NULL)
		snprintf(words->items[count++], sizeof(words->items[0]), "%s", word);
}

static json_t *answer_line(void *data, char *line)
{
	struct probe *probe = data;
	struct words words;
	char *arguments = strchr(line, ' ');

	if (arguments)
		*arguments++ = '\0';
	split(arguments ? arguments : line + strlen(line), &words);
	memory_begin(probe->process.memory, false);
	pyreader_init(&probe->reader, probe->process.memory, &probe->process.python);
	for (size_t i = 0; i < ARRAY_LENGTH(requests); i++) {
		if (!strcmp(requests[i].name, line))
			return requests[i].answer(probe, &words);
	}
	return json_null();
}

int main(int argc, char **argv)
{
	struct probe probe;

	if (looker_open(&probe.process, argc, argv))
		return 1;
	looker_serve(answer_line, &probe);
	looker_close(&probe.process);
	return 0;
}
