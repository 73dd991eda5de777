/*
 * expression-probe PID: expressions compared in a process from outside, for
 * tests. Each line of the standard input is a request, each line of the
 * output its answer, in JSON:
 *
 *	frame TID FUNCTION	the frame that the next ones are about
 *	test EXPRESSION		{"truth": 1} or {"error": "…"}
 *	show EXPRESSION		{"type", "value", "address"}
 *	place EXPRESSION	{"address", "length", "object", "local",
 *				"format", "calls": system calls it took}
 *	say TEXT		{"said"}, of a text to log
 *	calls EXPRESSION	system calls of a second test
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pystack.h"
#include "backends/expression/logpoint.h"
#include "backends/expression/pyexpression.h"
#include "backends/linux/memory.h"
#include "backends/tracer/freezer.h"
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
	struct pyobject_frame frame;
};

static json_t *failure(const struct error *error)
{
	json_t *answer = json_object();

	json_set_text(answer, "error", error->message);
	return answer;
}

static int find_depth(const struct process_sample *sample, pid_t tid, const char *function)
{
	for (size_t i = 0; i < sample->thread_count; i++) {
		const struct stack *stack = sample->threads[i].stack;

		if (sample->threads[i].tid != tid || !stack)
			continue;
		for (size_t at = 0; at < stack->frame_count; at++)
			if (!strcmp(stack->frames[at].code->func, function))
				return (int)at;
	}
	return -1;
}

/* The process may still be on its way to that function. */
static json_t *answer_frame(struct probe *probe, const char *text)
{
	struct stack_table *table = stack_table_new();
	struct freezer *holds = freezer_new(NULL);
	struct pystack *pystack =
		pystack_new(probe->process.memory, &probe->process.python, table, holds);
	struct process_sample sample = { 0 };
	struct error error = ERROR_INIT;
	char *function;
	pid_t tid = (pid_t)strtol(text, &function, 10);
	bool is_found = false;

	function += *function == ' ';
	for (int i = 0; !is_found && i < SAMPLES_MAXIMUM; i++) {
		int depth = -1;

		if (!pystack_sample(pystack, false, &sample, NULL))
			depth = find_depth(&sample, tid, function);
		is_found = depth >= 0 && !pystack_frame(pystack, tid, 0, depth, &probe->frame);
		process_sample_clear(&sample);
	}
	pystack_free(pystack);
	freezer_free(holds);
	stack_table_free(table);
	if (is_found)
		return json_object();
	error_set(&error, "The function has no frame.");
	return failure(&error);
}

/* The request's own part; the expression is parsed, the reader is fresh. */
typedef json_t *answer_function(struct probe *probe, const struct pyexpression *expression,
				struct pyreader *reader, struct error *error);

static json_t *answer_test(struct probe *probe, const struct pyexpression *expression,
			   struct pyreader *reader, struct error *error)
{
	int truth = pyexpression_test(expression, reader, &probe->frame, error);
	json_t *answer = truth < 0 ? failure(error) : json_object();

	if (truth >= 0)
		json_object_set_new(answer, "truth", json_integer(truth));
	return answer;
}

static json_t *answer_show(struct probe *probe, const struct pyexpression *expression,
			   struct pyreader *reader, struct error *error)
{
	struct variable_list list = { 0 };
	struct variable *variable = variable_list_add(&list);
	json_t *answer;

	if (pyexpression_show(expression, reader, &probe->frame, variable, error))
		answer = failure(error);
	else
		answer = variable_to_json(variable);
	variable_list_clear(&list);
	return answer;
}

static json_t *answer_place(struct probe *probe, const struct pyexpression *expression,
			    struct pyreader *reader, struct error *error)
{
	struct pyexpression_place place;
	json_t *answer;

	if (pyexpression_place(expression, reader, &probe->frame, &place, error))
		return failure(error);
	answer = json_object();
	json_set_hex(answer, "address", place.address);
	json_object_set_new(answer, "length", json_integer(place.length));
	json_object_set_new(answer, "object", json_boolean(place.is_object));
	json_object_set_new(answer, "local",
			    json_boolean(pyexpression_is_local(expression, &place)));
	json_set_hex(answer, "owner", place.owner);
	json_object_set_new(answer, "format", json_integer(place.format));
	return answer;
}

static json_t *answer_calls(struct probe *probe, const struct pyexpression *expression,
			    struct pyreader *reader, struct error *error)
{
	uint64_t before = memory_calls(probe->process.memory);

	json_decref(answer_test(probe, expression, reader, error));
	before = memory_calls(probe->process.memory) - before;
	return json_pack("{s:I}", "calls", (json_int_t)before);
}

static const struct {
	const char *name;
	answer_function *answer;
} requests[] = {
	{ "test", answer_test },
	{ "show", answer_show },
	{ "place", answer_place },
	{ "calls", answer_calls },
};

static json_t *answer_say(struct probe *probe, const char *text)
{
	struct error error = ERROR_INIT;
	struct logpoint *logpoint = logpoint_parse(text, &error);
	struct buffer said = BUFFER_INIT;
	struct pyreader reader;
	json_t *answer = json_object();

	if (!logpoint) {
		json_decref(answer);
		return failure(&error);
	}
	pyreader_init(&reader, probe->process.memory, &probe->process.python);
	logpoint_say(logpoint, &reader, &probe->frame, &said);
	json_set_text(answer, "said", said.data);
	buffer_clear(&said);
	logpoint_free(logpoint);
	return answer;
}

static json_t *answer_line(void *data, char *line)
{
	struct probe *probe = data;
	struct error error = ERROR_INIT;
	struct pyexpression *expression;
	struct pyreader reader;
	json_t *answer = NULL;
	char *text = strchr(line, ' ');

	if (text)
		*text++ = '\0';
	if (!text)
		text = line + strlen(line);
	if (!strcmp(line, "frame"))
		return answer_frame(probe, text);
	if (!strcmp(line, "say"))
		return answer_say(probe, text);
	expression = pyexpression_parse(text, &error);
	if (!expression)
		return failure(&error);
	pyreader_init(&reader, probe->process.memory, &probe->process.python);
	for (size_t i = 0; !answer && i < ARRAY_LENGTH(requests); i++)
		if (!strcmp(requests[i].name, line))
			answer = requests[i].answer(probe, expression, &reader, &error);
	pyexpression_free(expression);
	return answer ? answer : json_null();
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
