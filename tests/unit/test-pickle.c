/* pickle: what torch and Python write, what is refused, and that hostile pickles stay small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/pickle.h"

/* A pickle as a string constant, which may contain NULs, and its length. */
#define PICKLE(bytes) bytes, sizeof(bytes) - 1

struct pickle_case {
	const char *bytes;
	size_t length;
	const char *says;
};

static void values_become_json(void **state)
{
	static const struct pickle_case cases[] = {
		{ PICKLE("\x80\x02N."), "null" },
		{ PICKLE("\x80\x02(\x88\x89t."), "[true,false]" },
		{ PICKLE("(K\xffM\xff\xffJ\xff\xff\xff\xffJ\xff\xff\xff\x7ft."),
		  "[255,65535,-1,2147483647]" },
		{ PICKLE("(\x8a\x00\x8a\x01\xff\x8a\x02\xff\x00"
			 "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"
			 "\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80t."),
		  "[0,-1,255,9223372036854775807,-9223372036854775808]" },
		{ PICKLE("(G\x3f\xf8\x00\x00\x00\x00\x00\x00"
			 "G\x7f\xf0\x00\x00\x00\x00\x00\x00t."),
		  "[1.5,null]" },
		{ PICKLE("(X\x00\x00\x00\x00X\x02\x00\x00\x00\xc3\xa9t."), "[\"\",\"\xc3\xa9\"]" },
		{ PICKLE("X\x02\x00\x00\x00\xff!."), "\"\xef\xbf\xbd!\"" },
		{ PICKLE("X\x03\x00\x00\x00"
			 "a\x00"
			 "b."),
		  "\"a\"" },
		{ PICKLE("()K\x01\x85K\x01K\x02\x86K\x01K\x02K\x03\x87(K\x04tt."),
		  "[[],[1],[1,2],[1,2,3],[4]]" },
		{ PICKLE("](K\x01K\x02"
			 "eK\x03"
			 "a."),
		  "[1,2,3]" },
		{ PICKLE("}(X\x01\x00\x00\x00"
			 "aK\x01uX\x01\x00\x00\x00"
			 "bNs."),
		  "{\"a\":1,\"b\":null}" },
		{ PICKLE("]q\x00(]q\x01K\x01"
			 "a\x85h\x01"
			 "e."),
		  "[[[1]],[1]]" },
		{ PICKLE("((K\x01tr\x00\x00\x00\x00j\x00\x00\x00\x00t."), "[[1],[1]]" },
		{ PICKLE("(]K\x01"
			 "aq\x00h\x00t."),
		  "[[1],[1]]" },
		{ PICKLE("](}q\x00(X\x01\x00\x00\x00"
			 "aNuh\x00"
			 "e."),
		  "[{\"a\":null},{\"a\":null}]" },
		{ PICKLE("N.behind"), "null" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct error error = ERROR_INIT;
		struct buffer out = BUFFER_INIT;
		json_t *value = pickle_parse(cases[i].bytes, cases[i].length, &error);

		if (!value)
			fail_msg("case %zu: %s", i, error.message);
		json_append(&out, value);
		assert_string_equal(out.data, cases[i].says);
		json_decref(value);
		buffer_clear(&out);
	}
}

static void what_is_wrong_is_refused(void **state)
{
	static const struct pickle_case cases[] = {
		{ PICKLE(""), "the pickle ends too early, at byte 0" },
		{ PICKLE("\x80\x02}"), "the pickle ends too early, at byte 3" },
		{ PICKLE("X\xff\xff\xff\xff"
			 "abc"),
		  "the pickle ends too early, at byte 8" },
		{ PICKLE("\x80\x04\x95"), "the pickle has protocol 4: only protocol 2 is read" },
		{ PICKLE("I1\n."), "invalid pickle at byte 0: protocol 2 has no opcode 0x49" },
		{ PICKLE("."), "invalid pickle at byte 0: more or less than one value at the end" },
		{ PICKLE("NN."),
		  "invalid pickle at byte 2: more or less than one value at the end" },
		{ PICKLE("(."), "invalid pickle at byte 1: a value is missing" },
		{ PICKLE("\x85"), "invalid pickle at byte 0: a value is missing" },
		{ PICKLE("N(\x86"), "invalid pickle at byte 2: a value is missing" },
		{ PICKLE("t"), "invalid pickle at byte 0: a mark is missing" },
		{ PICKLE("(e"), "invalid pickle at byte 1: no list to add to" },
		{ PICKLE("N(Ke"), "the pickle ends too early, at byte 4" },
		{ PICKLE("N(e"), "invalid pickle at byte 2: no list to add to" },
		{ PICKLE("}Na"), "invalid pickle at byte 2: no list to add to" },
		{ PICKLE("]NNs"), "invalid pickle at byte 3: no dict to add to" },
		{ PICKLE(")Na"),
		  "invalid pickle at byte 2: a tuple grows, or a value that contains itself" },
		{ PICKLE("]q\x00q\x01"),
		  "invalid pickle at byte 3: a value has two entries in the memo" },
		{ PICKLE("}(Nu"), "invalid pickle at byte 3: a key has no value" },
		{ PICKLE("}NNs"), "invalid pickle at byte 3: a key is not a string" },
		{ PICKLE("\x8a\x09"
			 "123456789."),
		  "invalid pickle at byte 0: an integer of more than 64 bits" },
		{ PICKLE("q\x00"), "invalid pickle at byte 0: a value is missing" },
		{ PICKLE("Nq\x01"), "invalid pickle at byte 1: the memo has no such entry" },
		{ PICKLE("Nr\xff\xff\xff\xff"),
		  "invalid pickle at byte 1: the memo has no such entry" },
		{ PICKLE("h\x00"), "invalid pickle at byte 0: the memo has no such entry" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct error error = ERROR_INIT;

		assert_null(pickle_parse(cases[i].bytes, cases[i].length, &error));
		assert_string_equal(error.message, cases[i].says);
	}
}

/* os.system("true"), as pickletools names the opcodes, and each other way to an object. */
static void no_object_is_named(void **state)
{
	static const struct pickle_case cases[] = {
		{ PICKLE("\x80\x02"
			 "cos\nsystem\nX\x04\x00\x00\x00true\x85R."),
		  "the pickle names or calls a Python object (GLOBAL at byte 2): only plain data "
		  "is read" },
		{ PICKLE(")R"), "REDUCE" },
		{ PICKLE("N}b"), "BUILD" },
		{ PICKLE("(ios\nsystem\n."), "INST" },
		{ PICKLE("(o"), "OBJ" },
		{ PICKLE("))\x81"), "NEWOBJ" },
		{ PICKLE(")))\x92"), "NEWOBJ_EX" },
		{ PICKLE("\x93"), "STACK_GLOBAL" },
		{ PICKLE("\x82\x01"), "EXT1" },
		{ PICKLE("P0\n"), "PERSID" },
		{ PICKLE("NQ"), "BINPERSID" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct error error = ERROR_INIT;

		assert_null(pickle_parse(cases[i].bytes, cases[i].length, &error));
		assert_non_null(strstr(error.message, cases[i].says));
		assert_non_null(strstr(error.message, "names or calls a Python object"));
	}
}

/* a = [a]; a = [b], b = [a]; a = {"a": a}, as Python's own pickler writes them; a = [a, a]. */
static void no_value_contains_itself(void **state)
{
	static const struct pickle_case cases[] = {
		{ PICKLE("]q\x00h\x00"
			 "a."),
		  NULL },
		{ PICKLE("]q\x00]q\x01h\x00"
			 "aa."),
		  NULL },
		{ PICKLE("}q\x00X\x01\x00\x00\x00"
			 "ah\x00s."),
		  NULL },
		{ PICKLE("]q\x00(h\x00h\x00"
			 "e."),
		  NULL },
		{ PICKLE("]q\x00(]q\x01h\x00"
			 "eh\x01"
			 "e."),
		  NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(cases); i++) {
		struct error error = ERROR_INIT;

		assert_null(pickle_parse(cases[i].bytes, cases[i].length, &error));
		assert_non_null(
			strstr(error.message, "a tuple grows, or a value that contains itself"));
	}
}

/* Parses a pickle that is expected to fail, and clears it. */
static void expect_failure(struct buffer *pickle, const char *why)
{
	struct error error = ERROR_INIT;

	assert_null(pickle_parse(pickle->data, pickle->length, &error));
	assert_non_null(strstr(error.message, why));
	buffer_clear(pickle);
}

static void append_times(struct buffer *pickle, const char *bytes, size_t length, int count)
{
	for (int i = 0; i < count; i++)
		buffer_append(pickle, bytes, length);
}

static void append_get(struct buffer *pickle, int number)
{
	const char get[] = { 'h', (char)number };

	buffer_append(pickle, get, sizeof(get));
}

/* Each tuple has the one before it ten times: the last would have 10^30 values. */
static void sharing_does_not_multiply(void **state)
{
	struct buffer pickle = BUFFER_INIT;

	(void)state;
	buffer_append_string(&pickle, "((Nt");
	for (int i = 0; i < 30; i++) {
		const char put[] = { 'q', (char)i };

		buffer_append(&pickle, put, sizeof(put));
		buffer_append_char(&pickle, '(');
		for (int j = 0; j < 10; j++)
			append_get(&pickle, i);
		buffer_append_char(&pickle, 't');
	}
	buffer_append_string(&pickle, "t.");
	expect_failure(&pickle, "the values need too much memory");
}

/* A million times the same string is little memory, but much when it is written out. */
static void a_shared_string_does_not_multiply(void **state)
{
	struct buffer pickle = BUFFER_INIT;

	(void)state;
	buffer_append(&pickle, "](X\x00\x00\x01\x00", 7);
	append_times(&pickle, "x", 1, 0x10000);
	buffer_append(&pickle, "q\x00", 2);
	append_times(&pickle, "h\x00", 2, 1000000);
	buffer_append_string(&pickle, "e.");
	expect_failure(&pickle, "the values need too much memory");
}

static void limits_hold(void **state)
{
	struct buffer pickle = BUFFER_INIT;

	(void)state;
	append_times(&pickle, "]", 1, 66);
	append_times(&pickle, "a", 1, 65);
	expect_failure(&pickle, "the values are nested too deeply");
	append_times(&pickle, ")", 1, 1);
	append_times(&pickle, "\x85", 1, 66);
	expect_failure(&pickle, "the values are nested too deeply");
	append_times(&pickle, "(", 1, (1 << 20) + 1);
	expect_failure(&pickle, "too many values on the stack");
	buffer_append(&pickle, "X\x01\x00\x10\x00", 5);
	append_times(&pickle, "x", 1, (1 << 20) + 1);
	expect_failure(&pickle, "a string is too long");
}

/* 64 levels are read, as is a list of a million elements. */
static void within_the_limits_it_is_read(void **state)
{
	struct buffer pickle = BUFFER_INIT;
	json_t *value;

	(void)state;
	append_times(&pickle, "]", 1, 64);
	append_times(&pickle, "a", 1, 63);
	buffer_append_string(&pickle, ".");
	value = pickle_parse(pickle.data, pickle.length, NULL);
	assert_int_equal(json_array_size(value), 1);
	json_decref(value);
	buffer_reset(&pickle);
	buffer_append_string(&pickle, "](");
	append_times(&pickle, "N", 1, 1000000);
	buffer_append_string(&pickle, "e.");
	value = pickle_parse(pickle.data, pickle.length, NULL);
	assert_int_equal(json_array_size(value), 1000000);
	json_decref(value);
	buffer_clear(&pickle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_become_json),
		cmocka_unit_test(what_is_wrong_is_refused),
		cmocka_unit_test(no_object_is_named),
		cmocka_unit_test(no_value_contains_itself),
		cmocka_unit_test(sharing_does_not_multiply),
		cmocka_unit_test(a_shared_string_does_not_multiply),
		cmocka_unit_test(limits_hold),
		cmocka_unit_test(within_the_limits_it_is_read),
	};

	return cmocka_run_group_tests_name("test-pickle", tests, NULL, NULL);
}
