/*
 * bytecode-probe PID: what bytecode.h says of code objects of a process, for
 * tests. Each line of the standard input is a request in JSON, each line of
 * the output its answer:
 *
 *	["code", ADDRESS]	the code object, and its calls [UNIT, SLOT, IS_PAIR]; null: there
 *		is none
 *	["meet", ADDRESS]	the same, of a frame that is met
 *	["steps", ADDRESS, [[FROM, TO, IS_RAISED], ...]]
 *		for each whether it is a line event, whether TO can come behind
 *		FROM, and whether it can with instructions hidden between
 *	["lines", ADDRESS]	{line: [units where its events begin]}
 *	["frontier", ADDRESS, FROM, LINE, MAXIMUM]	units, or null
 *	["age"]			looks again at all
 *	["sweep"]		frees what is gone but for the first one that was
 *				asked for; how many
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "banned.h"

#include "backends/cpython/bytecode.h"
#include "backends/cpython/cpython.h"
#include "backends/linux/memory.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"

#define UNITS_MAXIMUM 64

struct probe {
	struct memory *memory;
	struct cpython python;
	struct bytecode_cache *cache;
	const struct bytecode *kept; /* the first that was met */
};

static json_int_t number(const json_t *request, size_t i)
{
	return json_integer_value(json_array_get(request, i));
}

static json_t *numbers(const int *items, size_t count)
{
	json_t *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, json_integer(items[i]));
	return list;
}

static json_t *list_calls(const struct bytecode *code)
{
	json_t *calls = json_array();

	for (size_t i = 0; i < code->call_count; i++) {
		int fields[] = { code->calls[i].unit, code->calls[i].slot, code->calls[i].is_pair };

		json_array_append_new(calls, numbers(fields, ARRAY_LENGTH(fields)));
	}
	return calls;
}

static json_t *answer_code(struct probe *probe, const struct bytecode *code, const json_t *request)
{
	json_t *units = json_array();

	(void)request;
	for (int i = 0; i < code->count; i++) {
		const struct unit *unit = &code->units[i];
		int fields[] = { i,
				 unit->opcode,
				 unit->line,
				 unit->target,
				 unit->handler,
				 unit->is_handler,
				 unit->length,
				 unit->kind };
		if (unit->kind != UNIT_INSIDE)
			json_array_append_new(units, numbers(fields, ARRAY_LENGTH(fields)));
	}
	json_t *answer = json_pack("{s:i, s:i, s:i, s:i, s:i, s:b, s:o}", "first_line",
				   code->first_line, "flags", code->flags, "count", code->count,
				   "locals_count", code->locals_count, "first_executable",
				   bytecode_first_line(&probe->python, code), "has_executors",
				   code->has_executors, "units", units);
	json_object_set_new(answer, "calls", list_calls(code));
	json_set_text(answer, "file", code->file);
	json_set_text(answer, "name", code->name);
	json_set_text(answer, "qualname", code->qualname);
	return answer;
}

static json_t *answer_steps(struct probe *probe, const struct bytecode *code, const json_t *request)
{
	json_t *answer = json_array();
	json_t *step;
	size_t i;

	json_array_foreach(json_array_get(request, 2), i, step)
	{
		int from = (int)number(step, 0);
		int to = (int)number(step, 1);
		bool is_raised = json_is_true(json_array_get(step, 2));
		int said[] = {
			bytecode_is_line(&probe->python, code, from, to, is_raised),
			bytecode_follows(&probe->python, code, from, to),
			bytecode_reaches(&probe->python, code, from, to),
		};
		json_array_append_new(answer, numbers(said, ARRAY_LENGTH(said)));
	}
	return answer;
}

static json_t *answer_lines(struct probe *probe, const struct bytecode *code, const json_t *request)
{
	json_t *answer = json_object();
	int last = 0;

	(void)request;
	for (int i = 0; i < code->count; i++)
		if (code->units[i].line > last)
			last = code->units[i].line;
	for (int line = 1; line <= last; line++) {
		int units[UNITS_MAXIMUM];
		char key[16];
		size_t count =
			bytecode_line_units(&probe->python, code, line, units, UNITS_MAXIMUM);
		if (!count)
			continue;
		snprintf(key, sizeof(key), "%d", line);
		json_object_set_new(answer, key, numbers(units, count));
	}
	return answer;
}

static json_t *answer_frontier(struct probe *probe, const struct bytecode *code,
			       const json_t *request)
{
	int units[UNITS_MAXIMUM];
	size_t count;

	if (!bytecode_frontier(&probe->python, code, (int)number(request, 2),
			       (int)number(request, 3), NULL, units, (size_t)number(request, 4),
			       &count))
		return json_null();
	return numbers(units, count);
}

static const struct {
	const char *name;
	json_t *(*answer)(struct probe *probe, const struct bytecode *code, const json_t *request);
} requests[] = {
	{ "code", answer_code },   { "meet", answer_code },	    { "steps", answer_steps },
	{ "lines", answer_lines }, { "frontier", answer_frontier },
};

static bool is_kept(const struct bytecode *code, void *data)
{
	const struct probe *probe = data;

	return code == probe->kept;
}

static json_t *answer(struct probe *probe, const json_t *request)
{
	const char *name = json_string_value(json_array_get(request, 0));

	if (name && strcmp(name, "age") == 0) {
		bytecode_cache_age(probe->cache);
		return json_true();
	}
	if (name && strcmp(name, "sweep") == 0)
		return json_integer((json_int_t)bytecode_cache_sweep(probe->cache, is_kept, probe));
	const struct bytecode *code =
		name && strcmp(name, "meet") == 0
			? bytecode_meet(probe->cache, (uint64_t)number(request, 1))
			: bytecode_find(probe->cache, (uint64_t)number(request, 1));
	if (!probe->kept)
		probe->kept = code;
	for (size_t i = 0; code && i < ARRAY_LENGTH(requests); i++)
		if (name && strcmp(requests[i].name, name) == 0)
			return requests[i].answer(probe, code, request);
	return json_null();
}

static void serve(struct probe *probe)
{
	json_t *request;

	while ((request = json_loadf(stdin, JSON_DISABLE_EOF_CHECK, NULL))) {
		json_t *said = answer(probe, request);
		json_dumpf(said, stdout, JSON_COMPACT | JSON_ENCODE_ANY);
		puts("");
		fflush(stdout);
		json_decref(said);
		json_decref(request);
	}
}

int main(int argc, char **argv)
{
	struct probe probe = { .memory = NULL };
	struct error error = ERROR_INIT;

	if (argc != 2)
		return 2;
	probe.memory = memory_new((pid_t)strtol(argv[1], NULL, 10));
	if (cpython_locate(&probe.python, probe.memory, NULL, &error) < 0) {
		fprintf(stderr, "%s\n", error.message);
		memory_free(probe.memory);
		return 1;
	}
	probe.cache = bytecode_cache_new(probe.memory, &probe.python);
	serve(&probe);
	bytecode_cache_free(probe.cache);
	memory_free(probe.memory);
	return 0;
}
