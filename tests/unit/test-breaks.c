/*
 * breaks: which breakpoints stop, how often, and what is said of them. Code
 * objects, lines and expressions are this file's own: no process is needed.
 */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "banned.h"
#include "backends/cpython/bytecode.h"
#include "backends/cpython/code-file.h"
#include "backends/cpython/code-search.h"
#include "backends/cpython/cpython.h"
#include "backends/expression/number-format.h"
#include "backends/expression/pyexpression.h"
#include "backends/linux/memory.h"
#include "backends/ptrace/breakpoint-table-private.h"
#include "backends/ptrace/breakpoint-table.h"
#include "backends/ptrace/stepper.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/loop.h"
#include "protocol/variable.h"

#define LINES 12

/* A code object with lines first to last; those of loops have two units. */
struct fake {
	struct bytecode code;
	int last;
	int loop; /* line that begins in two units; 0: none */
	bool is_loaded;
};

static struct fake fakes[] = {
	{ .code = { .address = 0x1000,
		    .first = 0x10000,
		    .file = (char[]){ "/job/train.py" },
		    .name = (char[]){ "<module>" },
		    .first_line = 1 },
	  .last = 3 },
	{ .code = { .address = 0x2000,
		    .first = 0x20000,
		    .file = (char[]){ "/job/train.py" },
		    .name = (char[]){ "step" },
		    .first_line = 5 },
	  .last = 9,
	  .loop = 7 },
	{ .code = { .address = 0x3000,
		    .first = 0x30000,
		    .file = (char[]){ "/job/late.py" },
		    .name = (char[]){ "late" },
		    .first_line = 1 },
	  .last = 4 },
	{ .code = { .address = 0x4000,
		    .first = 0x40000,
		    .file = (char[]){ "/other/train.py" },
		    .name = (char[]){ "other" },
		    .first_line = 1 },
	  .last = 6 },
};

static struct unit fake_units[ARRAY_LENGTH(fakes)][2 * LINES];
static uint64_t revision;
static int far_searches;
static int searches;
static int walks;	    /* through a code object, for a line */
static int truth;	    /* of conditions: 1, 0, -1 */
static const char *unknown; /* name in all conditions */

static struct fake *fake_of(const struct bytecode *code)
{
	for (size_t i = 0; i < ARRAY_LENGTH(fakes); i++)
		if (&fakes[i].code == code)
			return &fakes[i];
	return NULL;
}

/* What breaks asks of others. */

const struct bytecode *bytecode_find(struct bytecode_cache *cache, uint64_t address)
{
	(void)cache;
	for (size_t i = 0; i < ARRAY_LENGTH(fakes); i++)
		if (fakes[i].code.address == address && fakes[i].is_loaded)
			return &fakes[i].code;
	return NULL;
}

void bytecode_cache_age(struct bytecode_cache *cache)
{
	(void)cache;
}

bool bytecode_has_line(const struct cpython *python, const struct bytecode *code, int line)
{
	(void)python;
	walks++;
	return line > code->first_line && line <= fake_of(code)->last;
}

int bytecode_first_line(const struct cpython *python, const struct bytecode *code)
{
	(void)python;
	return code->first_line + 1;
}

size_t bytecode_line_units(const struct cpython *python, const struct bytecode *code, int line,
			   int *units, size_t maximum)
{
	size_t count = 0;

	if (bytecode_has_line(python, code, line) && count < maximum)
		units[count++] = line;
	if (count && line == fake_of(code)->loop && count < maximum)
		units[count++] = LINES + line;
	return count;
}

char *break_unknown_name(struct breaks *breaks, const struct break_entry *entry)
{
	(void)breaks;
	(void)entry;
	return xstrdup_or_null(unknown);
}

uint64_t bytecode_watched(const struct bytecode *code, int unit)
{
	return code->first + 2 * (uint64_t)unit + 1;
}

static void add(struct code_list *list, const struct fake *fake)
{
	if (!fake->is_loaded)
		return;
	ARRAY_GROW(list->items, list->count, list->capacity);
	list->items[list->count++] = fake->code.address;
}

void code_search_of_file(struct codes *codes, const char *path, struct code_list *list)
{
	(void)codes;
	searches++;
	for (size_t i = 0; i < ARRAY_LENGTH(fakes); i++)
		if (code_file_matches(path, fakes[i].code.file))
			add(list, &fakes[i]);
}

void code_search_of_file_far(struct codes *codes, const char *path, struct code_list *list)
{
	far_searches++;
	code_search_of_file(codes, path, list);
}

void code_search_of_function(struct codes *codes, const char *name, struct code_list *list)
{
	(void)codes;
	for (size_t i = 0; i < ARRAY_LENGTH(fakes); i++)
		if (!strcmp(name, fakes[i].code.name))
			add(list, &fakes[i]);
}

void code_search_of_function_in(struct codes *codes, uint64_t code, const char *name,
				struct code_list *list)
{
	struct code_list all = { .items = NULL };

	code_search_of_function(codes, name, &all);
	for (size_t i = 0; i < all.count; i++)
		if (all.items[i] == code)
			code_search_of_function(codes, name, list);
	free(all.items);
}

void code_search_nested(struct codes *codes, uint64_t code, struct code_list *list)
{
	(void)codes;
	for (size_t i = 0; i < ARRAY_LENGTH(fakes); i++)
		if (fakes[i].code.address == code)
			add(list, &fakes[i]);
}

void code_list_clear(struct code_list *list)
{
	free(list->items);
	*list = (struct code_list){ .items = NULL };
}

uint64_t code_search_revision(struct codes *codes)
{
	(void)codes;
	return revision;
}

struct pyexpression {
	char *text;
};

struct pyexpression *pyexpression_parse(const char *text, struct error *error)
{
	struct pyexpression *expression;

	if (strchr(text, '!')) {
		error_set(error, "There is no operator '!' (column 1).");
		return NULL;
	}
	expression = xcalloc(1, sizeof(*expression));
	expression->text = xstrdup(text);
	return expression;
}

struct pyexpression *pyexpression_parse_condition(const char *text, struct error *error)
{
	struct pyexpression *condition = pyexpression_parse(text, error);

	if (!condition)
		error_prefix(error, "The condition is wrong");
	return condition;
}

void pyexpression_free(struct pyexpression *expression)
{
	if (!expression)
		return;
	free(expression->text);
	free(expression);
}

int pyexpression_test(const struct pyexpression *expression, struct pyreader *reader,
		      const struct pyobject_frame *frame, struct error *error)
{
	(void)reader;
	(void)frame;
	if (truth < 0)
		error_set(error, "%s has an __eq__.", expression->text);
	return truth;
}

int pyexpression_show(const struct pyexpression *expression, struct pyreader *reader,
		      const struct pyobject_frame *frame, struct variable *variable,
		      struct error *error)
{
	(void)reader;
	(void)frame;
	if (!strcmp(expression->text, "missing"))
		return error_set(error, "There is no name missing.");
	variable->value = xasprintf("value of %s", expression->text);
	return 0;
}

/* A list of breakpoints in a process where nothing is loaded but train.py. */
struct world {
	struct memory *memory;
	struct cpython python;
	struct breaks *breaks;
};

static int set_up(void **state)
{
	struct world *world = xcalloc(1, sizeof(*world));

	for (size_t i = 0; i < ARRAY_LENGTH(fakes); i++) {
		fakes[i].is_loaded = i < 2;
		fakes[i].code.units = fake_units[i];
		fakes[i].code.count = 2 * LINES;
		for (int j = 0; j < 2 * LINES; j++)
			fake_units[i][j].line = j % LINES;
	}
	revision = 1;
	far_searches = searches = walks = 0;
	truth = 1;
	world->memory = memory_new(getpid());
	world->breaks = breakpoint_table_new(world->memory, &world->python, NULL, NULL);
	*state = world;
	return 0;
}

static int tear_down(void **state)
{
	struct world *world = *state;

	breakpoint_table_free(world->breaks);
	memory_free(world->memory);
	free(world);
	return 0;
}

/* JSON with ' for ". */
static json_t *parse(const char *text)
{
	char *quoted = xstrdup(text);
	json_t *json;

	for (char *at = quoted; *at; at++)
		if (*at == '\'')
			*at = '"';
	json = json_loads(quoted, 0, NULL);
	free(quoted);
	assert_non_null(json);
	return json;
}

static void set(struct world *world, const char *text)
{
	struct error error = ERROR_INIT;
	json_t *list = parse(text);

	assert_int_equal(breakpoint_table_set(world->breaks, list, &error), 0);
	assert_string_equal(error.message, "");
	json_decref(list);
}

/* A line event; how many breakpoints it stops for. */
static size_t at(struct world *world, int fake, int line, struct break_hit *hit)
{
	struct break_hit own;
	bool stops = breakpoint_table_hit(world->breaks, &fakes[fake].code, line, 1, 2,
					  hit ? hit : &own);
	size_t count = hit ? hit->count : own.count;

	assert_int_equal(stops, count > 0);
	if (!hit)
		break_hit_clear(&own);
	return count;
}

static size_t queries(struct world *world, uint64_t addresses[8])
{
	struct planned planned[8];
	size_t count = breakpoint_table_watch_requests(world->breaks, planned, 8);

	for (size_t i = 0; i < count && i < 8; i++) {
		assert_int_equal(planned[i].watch.access, HARDWARE_WATCH_ACCESS);
		assert_int_equal(planned[i].watch.length, 1);
		assert_int_equal(planned[i].kind, PLAN_BREAKPOINT);
		addresses[i] = planned[i].watch.address;
	}
	return count;
}

static struct breakpoint_binding *describe(struct world *world, struct debugger *debugger)
{
	debugger_init(debugger);
	breakpoint_table_describe(world->breaks, debugger);
	return debugger->bindings;
}

static void expect(struct world *world, size_t i, int number, int hits, const char *message)
{
	struct debugger debugger;
	struct breakpoint_binding *bindings = describe(world, &debugger);

	assert_true(i < debugger.binding_count);
	assert_int_equal(bindings[i].number, number);
	assert_int_equal(bindings[i].hits, hits);
	if (message)
		assert_string_equal(bindings[i].message, message);
	else
		assert_null(bindings[i].message);
	debugger_clear(&debugger);
}

static void test_line(void **state)
{
	struct world *world = *state;
	uint64_t addresses[8];

	set(world, "[{'id': 1, 'path': 'train.py', 'line': 6}]");
	assert_int_equal(queries(world, addresses), 1);
	assert_int_equal(addresses[0], 0x20000 + 13);
	assert_int_equal(at(world, 1, 6, NULL), 1);
	assert_int_equal(at(world, 1, 7, NULL), 0);
	assert_int_equal(at(world, 0, 2, NULL), 0);
	expect(world, 0, 1, 1, NULL);
	assert_int_equal(far_searches, 0);
}

static void test_loop(void **state)
{
	struct world *world = *state;
	uint64_t addresses[8];

	/* Two on one line share its units. */
	set(world, "[{'id': 4, 'path': 'train.py', 'line': 7}, {'id': 5, 'path': '/job/train.py', "
		   "'line': 7}]");
	assert_int_equal(queries(world, addresses), 2);
	assert_int_equal(addresses[0], 0x20000 + 15);
	assert_int_equal(addresses[1], 0x20000 + 2 * (LINES + 7) + 1);
	assert_int_equal(at(world, 1, 7, NULL), 2);
	expect(world, 1, 5, 1, NULL);
}

static void test_function(void **state)
{
	struct world *world = *state;
	struct debugger debugger;
	struct breakpoint_binding *binding;

	set(world, "[{'id': 1, 'function': 'step'}]");
	binding = describe(world, &debugger);
	assert_string_equal(binding->path, "/job/train.py");
	assert_int_equal(binding->line, 6);
	debugger_clear(&debugger);
	assert_int_equal(at(world, 1, 6, NULL), 1);
	assert_int_equal(at(world, 1, 7, NULL), 0);
}

static void test_counts(void **state)
{
	struct world *world = *state;

	set(world, "[{'id': 1, 'path': 'train.py', 'line': 6, 'ignore': 2}]");
	assert_int_equal(at(world, 1, 6, NULL), 0);
	assert_int_equal(at(world, 1, 6, NULL), 0);
	assert_int_equal(at(world, 1, 6, NULL), 1);
	/* The same again keeps what was counted, another number begins anew. */
	set(world, "[{'id': 1, 'path': 'train.py', 'line': 6, 'ignore': 2}]");
	assert_int_equal(at(world, 1, 6, NULL), 1);
	expect(world, 0, 1, 2, NULL);
	set(world, "[{'id': 1, 'path': 'train.py', 'line': 6, 'ignore': 1}]");
	assert_int_equal(at(world, 1, 6, NULL), 0);
	assert_int_equal(at(world, 1, 6, NULL), 1);
	expect(world, 0, 1, 3, NULL);
	/* Another place is another breakpoint. */
	set(world, "[{'id': 1, 'path': 'train.py', 'line': 8}]");
	expect(world, 0, 1, 0, NULL);
}

static void test_condition(void **state)
{
	struct world *world = *state;
	struct break_hit hit;

	set(world,
	    "[{'id': 1, 'path': 'train.py', 'line': 6, 'ignore': 1, 'condition': 'x == 1'}]");
	/* A false one is no hit, and takes nothing off the ignore count. */
	truth = 0;
	assert_int_equal(at(world, 1, 6, NULL), 0);
	assert_int_equal(at(world, 1, 6, NULL), 0);
	truth = 1;
	assert_int_equal(at(world, 1, 6, NULL), 0);
	assert_int_equal(at(world, 1, 6, NULL), 1);
	expect(world, 0, 1, 1, NULL);
	/* One that cannot be told says so once, and stops nobody. */
	truth = -1;
	assert_int_equal(at(world, 1, 6, &hit), 0);
	assert_int_equal(hit.said_count, 1);
	assert_int_equal(hit.said[0].id, 1);
	assert_string_equal(
		hit.said[0].text,
		"the condition x == 1 cannot be evaluated, so the breakpoint does not stop the "
		"process: x == 1 has an "
		"__eq__.");
	break_hit_clear(&hit);
	assert_int_equal(at(world, 1, 6, &hit), 0);
	assert_int_equal(hit.said_count, 0);
	break_hit_clear(&hit);
	/* Nor is it a hit, and what can be told again stops again. */
	truth = 1;
	assert_int_equal(at(world, 1, 6, NULL), 1);
}

static void test_wrong_condition(void **state)
{
	struct world *world = *state;

	set(world, "[{'id': 1, 'path': 'train.py', 'line': 6, 'condition': 'x!'}]");
	expect(world, 0, 0, 0, "The condition is wrong: There is no operator '!' (column 1).");
	assert_int_equal(at(world, 1, 6, NULL), 0);
	assert_false(breakpoint_table_are_any(world->breaks));
	/* Mended, it is there. */
	set(world, "[{'id': 1, 'path': 'train.py', 'line': 6, 'condition': 'x'}]");
	expect(world, 0, 1, 0, NULL);
	assert_true(breakpoint_table_are_any(world->breaks));
}

/* One that names what is not there is refused, and may be set later. */
static void test_unknown_name(void **state)
{
	static const char list[] =
		"[{'id': 1, 'path': 'train.py', 'line': 6, 'condition': 'x == 1'}]";
	struct world *world = *state;

	unknown = "x";
	set(world, list);
	expect(world, 0, 0, 0, "condition failed: name 'x' is not defined");
	assert_false(breakpoint_table_are_any(world->breaks));
	breakpoint_table_look(world->breaks);
	assert_false(breakpoint_table_are_any(world->breaks));
	unknown = NULL;
	set(world, list);
	expect(world, 0, 1, 0, NULL);
	truth = 1;
	assert_int_equal(at(world, 1, 6, NULL), 1);
}

static void test_temporary(void **state)
{
	struct world *world = *state;
	static const char list[] =
		"[{'id': 1, 'path': 'train.py', 'line': 6, 'temporary': true, 'condition': 'x'}]";
	struct debugger debugger;
	uint64_t addresses[8];
	uint64_t before;

	set(world, list);
	before = breakpoint_table_revision(world->breaks);
	truth = 0;
	assert_int_equal(at(world, 1, 6, NULL), 0);
	assert_int_equal(queries(world, addresses), 1);
	truth = 1;
	assert_int_equal(at(world, 1, 6, NULL), 1);
	assert_int_equal(at(world, 1, 6, NULL), 0);
	assert_int_equal(queries(world, addresses), 0);
	assert_int_not_equal(breakpoint_table_revision(world->breaks), before);
	assert_false(breakpoint_table_are_any(world->breaks));
	/* A list that was on its way does not bring it back. */
	set(world, list);
	assert_int_equal(at(world, 1, 6, NULL), 0);
	describe(world, &debugger);
	assert_int_equal(debugger.binding_count, 0);
	debugger_clear(&debugger);
}

static void test_disabled(void **state)
{
	struct world *world = *state;
	uint64_t addresses[8];

	set(world, "[{'id': 1, 'path': 'train.py', 'line': 6}]");
	assert_int_equal(at(world, 1, 6, NULL), 1);
	set(world, "[{'id': 1, 'path': 'train.py', 'line': 6, 'disabled': true}]");
	assert_int_equal(at(world, 1, 6, NULL), 0);
	assert_int_equal(queries(world, addresses), 0);
	assert_false(breakpoint_table_are_any(world->breaks));
	expect(world, 0, 1, 1, NULL);
	set(world, "[{'id': 1, 'path': 'train.py', 'line': 6}]");
	assert_int_equal(at(world, 1, 6, NULL), 1);
	expect(world, 0, 1, 2, NULL);
}

static void test_log(void **state)
{
	struct world *world = *state;
	struct break_hit hit;

	set(world, "[{'id': 7, 'path': 'train.py', 'line': 6, 'log': 'a={a}, {{b}} {x[1:{}]} "
		   "{missing}.'}]");
	assert_int_equal(at(world, 1, 6, &hit), 0);
	assert_int_equal(hit.said_count, 1);
	assert_int_equal(hit.said[0].id, 7);
	assert_string_equal(hit.said[0].text,
			    "a=value of a, {b} value of x[1:{}] <There is no name missing.>.");
	break_hit_clear(&hit);
	expect(world, 0, 7, 1, NULL);
	/* A failing condition is said once, and does not stop a log point. */
	set(world, "[{'id': 7, 'path': 'train.py', 'line': 6, 'log': 'a', 'condition': 'x'}]");
	truth = -1;
	assert_int_equal(at(world, 1, 6, &hit), 0);
	assert_int_equal(hit.said_count, 1);
	break_hit_clear(&hit);
	assert_int_equal(at(world, 1, 6, &hit), 0);
	assert_int_equal(hit.said_count, 0);
	break_hit_clear(&hit);
}

/* In one second; the next begins with how much was left out. */
static void test_much_to_log(void **state)
{
	struct world *world = *state;
	struct break_hit hit = { .said = NULL };
	size_t said = 0;

	set(world, "[{'id': 7, 'path': 'train.py', 'line': 6, 'log': 'a'}, {'id': 8, 'path': "
		   "'train.py', 'line': 6, 'log': 'b'}]");
	for (int i = 0; i < BREAK_SAID_MAXIMUM + 50; i++) {
		at(world, 1, 6, &hit);
		said += hit.said_count;
		break_hit_clear(&hit);
	}
	assert_int_equal(said, 2 * BREAK_SAID_MAXIMUM);
	expect(world, 0, 7, BREAK_SAID_MAXIMUM + 50, NULL);
	breakpoint_table_left_out(world->breaks, loop_now(), &hit);
	assert_int_equal(hit.said_count, 0);
	breakpoint_table_left_out(world->breaks, loop_now() + 1, &hit);
	assert_int_equal(hit.said_count, 2);
	assert_int_equal(hit.said[1].id, 8);
	assert_string_equal(hit.said[1].text,
			    "50 more messages left out (a log point prints at most 100 a second)");
	break_hit_clear(&hit);
	breakpoint_table_left_out(world->breaks, loop_now() + 9, &hit);
	assert_int_equal(hit.said_count, 0);
}

static void test_wrong_log(void **state)
{
	static const char *const texts[][2] = {
		{ "a {b", "{" }, { "a b}", "}" }, { "{'}", "{" }, { "{", "{" }
	};
	struct world *world = *state;

	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++) {
		json_t *list = parse("[{'id': 1, 'path': 'train.py', 'line': 6}]");
		struct debugger debugger;

		json_object_set_new(json_array_get(list, 0), "log", json_string(texts[i][0]));
		assert_int_equal(breakpoint_table_set(world->breaks, list, NULL), 0);
		json_decref(list);
		describe(world, &debugger);
		assert_int_equal(debugger.bindings[0].number, 0);
		assert_memory_equal(debugger.bindings[0].message, "the log text has an unmatched '",
				    31);
		assert_memory_equal(debugger.bindings[0].message + 31, texts[i][1], 1);
		debugger_clear(&debugger);
	}
}

/* As Python writes them. */
static void test_formats(void **state)
{
	static const struct {
		const char *format;
		const char *value;
		const char *written; /* NULL: it cannot be */
	} cases[] = {
		{ ".3f", "0.12345678", "0.123" },
		{ "8.2f", "-3.14159", "   -3.14" },
		{ "+08.2f", "3.14159", "+0003.14" },
		{ ".0f", "2.5", "2" },
		{ "f", "7", "7.000000" },
		{ ".2e", "12345.678", "1.23e+04" },
		{ "g", "1e-07", "1e-07" },
		{ ".3g", "1234567.0", "1.23e+06" },
		{ "05d", "-42", "-0042" },
		{ "x", "255", "ff" },
		{ "d", "True", "1" },
		{ "5", "12", "   12" },
		{ ".2f", "nan", "nan" },
		{ ".2f", "-inf", "-inf" },
		{ "d", "1.5", NULL },
		{ ".3f", "'text'", NULL },
		{ ".3f", "[1, 2]", NULL },
	};
	static const char *const wrong[] = { ".3",  "c", "=s",	 ",x", "100d",
					     ".2d", "n", ".51f", "#d", "f " };

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct number_format format;
		struct error error = ERROR_INIT;
		struct buffer out = BUFFER_INIT;
		bool is_written = cases[i].written;

		assert_int_equal(number_format_read(&format, cases[i].format, &error), 0);
		assert_int_equal(number_format_append(&out, &format, cases[i].value, &error),
				 is_written ? 0 : -1);
		if (is_written)
			assert_string_equal(out.data, cases[i].written);
		buffer_clear(&out);
	}
	for (size_t i = 0; i < ARRAY_LENGTH(wrong); i++) {
		struct number_format format;
		struct error error = ERROR_INIT;

		assert_int_equal(number_format_read(&format, wrong[i], &error), -1);
		assert_non_null(strstr(error.message, "{loss:.3f}"));
	}
}

static void expect_mark(const struct world *world, const char *mark)
{
	json_t *answer = breakpoint_table_to_json(world->breaks);
	const json_t *first = json_array_get(json_object_get(answer, "breakpoints"), 0);

	assert_true(json_is_true(json_object_get(first, mark)));
	json_decref(answer);
}

/* Once; and again when what was found is gone. */
static void test_looked_for_everywhere(void **state)
{
	struct world *world = *state;

	set(world, "[{'id': 1, 'path': 'train.py', 'line': 2}]");
	for (int i = 1; i <= 2; i++) {
		expect(world, 0, 1, 0, NULL);
		fakes[0].is_loaded = false;
		for (int j = 0; j < 3; j++) {
			revision++;
			breakpoint_table_look(world->breaks);
		}
		assert_int_equal(far_searches, i);
		fakes[0].is_loaded = true;
		revision++;
		breakpoint_table_look(world->breaks);
	}
}

/* What a person waits for does not grow with the square of the file. */
static void test_refused_in_a_large_file(void **state)
{
	struct world *world = *state;
	struct fake *fake = &fakes[1];
	static struct unit units[2000];
	int last = fake->last;

	for (int i = 0; i < 2000; i++)
		units[i].line = i / 2 + fake->code.first_line;
	fake->code.units = units;
	fake->code.count = 2000;
	fake->last = units[1999].line;
	set(world, "[{'id': 1, 'path': 'train.py', 'line': 5000}]");
	expect(world, 0, 0, 0, "line 5000 of train.py is after the last line with code (1004)");
	/* Its own line, near and far, and those of each that could be it. */
	assert_in_range(walks, 1, 40);
	fake->last = last;
}

static void test_refused(void **state)
{
	struct world *world = *state;

	set(world, "[{'id': 1, 'path': 'train.py', 'line': 4}, {'id': 2, 'path': 'x/train.py', "
		   "'line': 6}, {'id': 3, 'path': 'train.py', 'line': 70}]");
	expect(world, 0, 0, 0,
	       "line 4 of train.py has no code (blank or a comment?): the next line with code is "
	       "6");
	expect(world, 1, 0, 0, "pending: no code of train.py is loaded yet");
	expect(world, 2, 0, 0, "line 70 of train.py is after the last line with code (9)");
	revision++;
	breakpoint_table_look(world->breaks);
	assert_int_equal(far_searches, 0);
	expect_mark(world, "refused");
}

/* Where the top of the file has run it may be in that, or not loaded yet. */
static void test_absent(void **state)
{
	static const char message[] = "pending: no code of line 2 of train.py is loaded yet; the "
				      "next line with code is 6";
	struct world *world = *state;

	fakes[0].is_loaded = false;
	set(world, "[{'id': 1, 'path': 'train.py', 'line': 2}]");
	expect(world, 0, 0, 0, message);
	expect_mark(world, "pending");
	assert_true(breakpoint_table_are_any(world->breaks));
	/* No watch is spent on it. */
	assert_false(breakpoint_table_are_pending(world->breaks));
	/* It is told before it is looked for everywhere, which is done once. */
	assert_int_equal(far_searches, 0);
	assert_true(breakpoint_table_are_far(world->breaks));
	for (int i = 0; i < 2; i++) {
		breakpoint_table_look(world->breaks);
		revision++;
		assert_false(breakpoint_table_are_far(world->breaks));
		assert_int_equal(far_searches, 1);
	}
	expect(world, 0, 0, 0, message);
	fakes[0].is_loaded = true;
	revision++;
	breakpoint_table_look(world->breaks);
	expect(world, 0, 1, 0, NULL);
}

static void test_pending(void **state)
{
	struct world *world = *state;
	json_t *answer;

	set(world, "[{'id': 1, 'path': 'late.py', 'line': 2}, {'id': 2, 'function': 'late'}]");
	expect(world, 0, 0, 0, "pending: no code of late.py is loaded yet");
	expect(world, 1, 0, 0, "pending: no function late is loaded yet");
	assert_true(breakpoint_table_are_pending(world->breaks));
	assert_true(breakpoint_table_are_any(world->breaks));
	answer = breakpoint_table_to_json(world->breaks);
	assert_true(json_is_true(json_object_get(
		json_array_get(json_object_get(answer, "breakpoints"), 0), "pending")));
	json_decref(answer);
	/* Nothing is searched while nothing is loaded. */
	searches = 0;
	assert_false(breakpoint_table_look(world->breaks));
	assert_int_equal(searches, 0);
	fakes[2].is_loaded = true;
	revision++;
	assert_true(breakpoint_table_look(world->breaks));
	assert_false(breakpoint_table_look(world->breaks));
	assert_false(breakpoint_table_are_pending(world->breaks));
	expect(world, 0, 1, 0, NULL);
	assert_int_equal(at(world, 2, 2, NULL), 2);
}

static void test_starts(void **state)
{
	struct world *world = *state;

	set(world, "[{'id': 1, 'path': 'late.py', 'line': 2}, {'id': 2, 'path': 'train.py', "
		   "'line': 6}, {'id': 3, 'function': 'late'}]");
	fakes[2].is_loaded = true;
	assert_false(breakpoint_table_starts(world->breaks, fakes[0].code.address));
	assert_true(breakpoint_table_starts(world->breaks, fakes[2].code.address));
	assert_int_equal(at(world, 2, 2, NULL), 2);
	expect(world, 0, 1, 1, NULL);
	expect(world, 2, 3, 1, NULL);
}

/* The body of the file is all of it: there is nothing to wait for. */
static void test_starts_without_the_line(void **state)
{
	struct world *world = *state;

	fakes[0].is_loaded = fakes[1].is_loaded = false;
	set(world, "[{'id': 1, 'path': 'train.py', 'line': 70}]");
	expect(world, 0, 0, 0, "pending: no code of train.py is loaded yet");
	fakes[0].is_loaded = true;
	assert_true(breakpoint_table_starts(world->breaks, fakes[0].code.address));
	expect(world, 0, 0, 0, "line 70 of train.py is after the last line with code (3)");
	expect_mark(world, "refused");
	assert_false(breakpoint_table_starts(world->breaks, fakes[0].code.address));
}

/* Code that is gone, and something else at its address. */
static void test_gone(void **state)
{
	struct world *world = *state;
	char *name = fakes[1].code.name;
	uint64_t addresses[8];

	set(world, "[{'id': 1, 'path': 'train.py', 'line': 6}]");
	fakes[1].code.name = (char[]){ "another" };
	assert_int_equal(at(world, 1, 6, NULL), 0);
	fakes[1].code.name = name;
	assert_int_equal(at(world, 1, 6, NULL), 1);
	fakes[1].is_loaded = false;
	revision++;
	assert_true(breakpoint_table_look(world->breaks));
	assert_int_equal(queries(world, addresses), 0);
	expect(world, 0, 0, 1, "line 6 of train.py is after the last line with code (3)");
}

static void test_files_of_one_name(void **state)
{
	struct world *world = *state;

	fakes[3].is_loaded = true;
	set(world, "[{'id': 1, 'path': 'train.py', 'line': 6}, {'id': 2, 'path': '/job/train.py', "
		   "'line': 6}]");
	expect(world, 0, 1, 0,
	       "several files match the name: the breakpoint is set in /job/train.py and in "
	       "/other/train.py");
	expect(world, 1, 2, 0, NULL);
	assert_int_equal(at(world, 1, 6, NULL), 2);
	assert_int_equal(at(world, 3, 6, NULL), 1);
}

static void test_short(void **state)
{
	struct world *world = *state;
	uint64_t addresses[8];

	set(world,
	    "[{'id': 1, 'path': 'train.py', 'line': 6}, {'id': 2, 'path': 'train.py', 'line': 7}, "
	    "{'id': 3, 'path': 'train.py', 'line': 8}, {'id': 4, 'path': 'train.py', 'line': 9}]");
	assert_int_equal(queries(world, addresses), 5);
	breakpoint_table_short(world->breaks, 1, NULL);
	expect(world, 2, 3, 0, NULL);
	expect(world, 3, 0, 0,
	       "no free debug register: a thread has 4, used by breakpoints 1, 2, 3; disable a "
	       "breakpoint, or inject an agent");
	/* A step has two of them. */
	breakpoint_table_short(world->breaks, 3, NULL);
	expect(world, 0, 1, 0, NULL);
	expect(world, 1, 2, 0,
	       "the breakpoint is set at 1 of 2 places: no free debug register: a thread has 4, "
	       "used by breakpoints 1, 2 and the step; disable a breakpoint, or inject an agent");
	breakpoint_table_short(world->breaks, 4, NULL);
	expect(world, 1, 0, 0,
	       "no free debug register: a thread has 4, used by breakpoint 1 and the step; disable "
	       "a breakpoint, or inject an agent");
	breakpoint_table_short(world->breaks, 5, NULL);
	expect(world, 1, 0, 0,
	       "no free debug register: a thread has 4, used by the step; the breakpoint is set "
	       "again when the step ends");
	breakpoint_table_short(world->breaks, 0, NULL);
	expect(world, 3, 4, 0, NULL);
}

static void test_wrong_list(void **state)
{
	static const char *const lists[] = {
		"{}",
		"[1]",
		"[{'id': 0, 'path': 'a', 'line': 1}]",
		"[{'id': 2}]",
		"[{'id': 2, 'path': 'a', 'line': -1}]",
		"[{'id': 2, 'path': 'a', 'line': 1, 'function': 'f'}]",
	};
	struct world *world = *state;

	set(world, "[{'id': 1, 'path': 'train.py', 'line': 6}]");
	for (size_t i = 0; i < ARRAY_LENGTH(lists); i++) {
		struct error error = ERROR_INIT;
		json_t *list = parse(lists[i]);

		assert_int_equal(breakpoint_table_set(world->breaks, list, &error), -1);
		assert_true(error_is_set(&error));
		json_decref(list);
	}
	assert_int_equal(breakpoint_table_set(world->breaks, NULL, NULL), -1);
	expect(world, 0, 1, 0, NULL);
	/* Watches of variables are somebody else's. */
	set(world, "[{'id': 1, 'watch': 'x'}, {'id': 2, 'path': 'train.py', 'line': 6}, {'id': 2, "
		   "'path': 'train.py', 'line': 8}]");
	expect(world, 0, 2, 0, NULL);
	set(world, "[]");
	assert_false(breakpoint_table_are_any(world->breaks));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_line, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_loop, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_function, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_counts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_condition, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_wrong_condition, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_unknown_name, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_temporary, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_disabled, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_log, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_much_to_log, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_wrong_log, set_up, tear_down),
		cmocka_unit_test(test_formats),
		cmocka_unit_test_setup_teardown(test_absent, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_starts_without_the_line, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refused_in_a_large_file, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_looked_for_everywhere, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_pending, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_starts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_files_of_one_name, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_short, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_wrong_list, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
