/* base64: there and back, and what is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"

static void there_and_back(void **state)
{
	static const char *const pairs[][2] = {
		{ "", "" },	   { "f", "Zg==" },	   { "fo", "Zm8=" },
		{ "foo", "Zm9v" }, { "foob", "Zm9vYg==" }, { "\xff\xfe\xfd", "//79" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(pairs); i++) {
		struct buffer text = BUFFER_INIT;
		struct buffer bytes = BUFFER_INIT;

		base64_encode(&text, pairs[i][0], strlen(pairs[i][0]));
		assert_string_equal(text.data, pairs[i][1]);
		assert_int_equal(base64_decode(&bytes, text.data, text.length), 0);
		assert_string_equal(bytes.data, pairs[i][0]);
		buffer_clear(&text);
		buffer_clear(&bytes);
	}
}

static void what_is_none(void **state)
{
	static const char *const texts[] = { "Z",    "Zg=",	 "Zg",	  "Z===",   "====",
					     "Zg=v", "Zg==Zg==", "Zm9\n", "Zm\xff=" };
	struct buffer bytes = BUFFER_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(texts); i++)
		assert_int_equal(base64_decode(&bytes, texts[i], strlen(texts[i])), -1);
	buffer_clear(&bytes);
	buffer_init(&bytes, 2);
	assert_int_equal(base64_decode(&bytes, "Zm9v", 4), -1);
	buffer_clear(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(what_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
