/*
 * codes-probe PID: what codes finds in a process, for tests. Each line of
 * the standard input is a request, each line of the output its answer, in
 * JSON:
 *
 *	file PATH	{"file", "cut", "names", "calls", "us"}: the code of
 *			that file, each as "co_name:co_firstlineno"
 *	far PATH	the same, looked for everywhere
 *	function NAME	the same, of functions
 *	in CODE NAME	the same, in the body of a module, a code object
 *	revision	a number
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "banned.h"
#include "backends/cpython/code-search.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/pyobject.h"
#include "backends/linux/memory.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "tests/backend/looker.h"

#define NAME_MAXIMUM 200

struct probe {
	struct looker process;
	struct codes *codes;
};

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static json_t *name_of(struct probe *probe, uint64_t code)
{
	const struct offsets *at = &probe->process.python.offsets;
	struct buffer text = BUFFER_INIT;
	struct pyreader reader;
	uint32_t line = 0;
	uint64_t name = 0;
	json_t *json;

	pyreader_init(&reader, probe->process.memory, &probe->process.python);
	memory_read_u64(probe->process.memory, code + (uint64_t)at->co_name, &name);
	memory_read_u32(probe->process.memory, code + (uint64_t)at->co_firstlineno, &line);
	if (pyobject_string(&reader, name, NAME_MAXIMUM, &text))
		buffer_append_string(&text, "?");
	buffer_printf(&text, ":%" PRIu32, line);
	json = json_text(text.data);
	buffer_clear(&text);
	return json;
}

static json_t *answer_list(struct probe *probe,
			   void (*find)(struct codes *, const char *, struct code_list *),
			   const char *argument)
{
	struct code_list list = { .items = NULL };
	json_t *answer = json_object();
	json_t *names = json_array();
	double start = now_us();

	find(probe->codes, argument, &list);
	json_object_set_new(answer, "us", json_real(now_us() - start));
	json_set_text(answer, "file", list.file);
	json_object_set_new(answer, "cut", json_boolean(list.is_cut));
	for (size_t i = 0; i < list.count; i++)
		json_array_append_new(names, name_of(probe, list.items[i]));
	json_object_set_new(answer, "names", names);
	code_list_clear(&list);
	return answer;
}

static json_t *answer_revision(struct probe *probe)
{
	return json_integer((json_int_t)code_search_revision(probe->codes));
}

/* "in CODE NAME": the function of a module's body, code object CODE. */
static void find_in(struct codes *codes, const char *argument, struct code_list *list)
{
	char *name;
	uint64_t code = strtoull(argument, &name, 0);

	if (*name == ' ')
		code_search_of_function_in(codes, code, name + 1, list);
}

static const struct {
	const char *name;
	void (*find)(struct codes *, const char *, struct code_list *);
} finders[] = {
	{ "file", code_search_of_file },
	{ "far", code_search_of_file_far },
	{ "function", code_search_of_function },
	{ "in", find_in },
};

static json_t *answer_line(void *data, char *line)
{
	struct probe *probe = data;
	char *argument = strchr(line, ' ');

	if (argument)
		*argument++ = '\0';
	memory_begin(probe->process.memory, false);
	if (!strcmp(line, "revision"))
		return answer_revision(probe);
	for (size_t i = 0; argument && i < ARRAY_LENGTH(finders); i++)
		if (!strcmp(finders[i].name, line))
			return answer_list(probe, finders[i].find, argument);
	return json_null();
}

int main(int argc, char **argv)
{
	struct probe probe;

	if (looker_open(&probe.process, argc, argv))
		return 1;
	probe.codes = code_search_new(probe.process.memory, &probe.process.python);
	looker_serve(answer_line, &probe);
	code_search_free(probe.codes);
	looker_close(&probe.process);
	return 0;
}
