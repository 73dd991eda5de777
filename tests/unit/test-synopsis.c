/* synopsis: what the arguments text of a row says may stand there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "engine/synopsis.h"

/* What may stand behind previous, with blanks between. */
static void check(const char *arguments, const char *previous, const char *wanted)
{
	struct synopsis_part parts[SYNOPSIS_PARTS];
	size_t count = synopsis_split(arguments, parts);
	struct buffer fitting = BUFFER_INIT;

	for (size_t i = 0; i < count; i++)
		if (synopsis_fits(parts, count, i, previous))
			buffer_printf(&fitting, "%s ", parts[i].text);
	assert_string_equal(fitting.data, wanted);
	buffer_clear(&fitting);
}

static void a_choice_is_words(void **state)
{
	(void)state;
	check("[cards | table | cells]", NULL, "cards table cells ");
	check("", NULL, "");
	check("next | previous | N", "next", "next previous N ");
}

static void a_value_stands_behind_its_word(void **state)
{
	static const char wait[] = "verdict TEXT | exited [ranks SET] [timeout S]";

	(void)state;
	check(wait, NULL, "verdict exited ranks timeout ");
	check(wait, "ranks", "SET ");
	check(wait, "exited", "verdict exited ranks timeout ");
	check("--rank R [--frame DEPTH]", "--frame", "DEPTH ");
	check("--rank R [--frame DEPTH]", "3", "--rank --frame ");
	check("KEY [COMMAND LINE]", NULL, "KEY COMMAND LINE ");
}

static void a_placeholder_has_a_kind(void **state)
{
	struct synopsis_part parts[SYNOPSIS_PARTS];

	(void)state;
	assert_int_equal(synopsis_split("--x FILE | Ts THEME on", parts), 5);
	assert_int_equal(parts[0].kind, SYNOPSIS_WORD);
	assert_int_equal(parts[1].kind, SYNOPSIS_FILE);
	assert_true(parts[1].is_value);
	assert_int_equal(parts[2].kind, SYNOPSIS_FREE);
	assert_int_equal(parts[3].kind, SYNOPSIS_THEME);
	assert_false(parts[3].is_value);
	assert_int_equal(parts[4].kind, SYNOPSIS_WORD);
}

static void a_long_text_is_bounded(void **state)
{
	struct synopsis_part parts[SYNOPSIS_PARTS];
	struct buffer text = BUFFER_INIT;

	(void)state;
	buffer_append_string(&text, "a-word-that-is-longer-than-a-part-may-be");
	for (int i = 0; i < 100; i++)
		buffer_append_string(&text, " w");
	assert_int_equal(synopsis_split(text.data, parts), SYNOPSIS_PARTS);
	assert_string_equal(parts[0].text, "w");
	buffer_clear(&text);
}

static void words_are_counted(void **state)
{
	static const struct {
		const char *synopsis;
		struct synopsis_count count;
	} rows[] = {
		{ "", { 0, 0, false } },
		{ "A B", { 2, 2, false } },
		{ "[SETTING [VALUE]]", { 0, 2, false } },
		{ "next | previous", { 1, 1, true } },
		{ "[tensor]", { 0, 1, true } },
		{ "next | previous | N", { 1, 1, false } },
		{ "next [N] | previous [N] | first", { 1, 2, false } },
		{ "[majority | RANK [RANK] | Ts]", { 0, 2, false } },
		{ "ROW COLUMN [open]", { 2, 3, false } },
		{ "TARGET | [--yes] [ranks SET]", { 0, 1, false } },
		{ "[--merge] [--locals [--secrets]] [PID | ranks SET]", { 0, 0, false } },
		{ "EXPR [--rank R] [--sample] [--slice SLICE]", { 1, 1, false } },
		{ "--rank R [--thread TID]", { 0, 0, false } },
		{ "PORT | PID", { 1, 1, false } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct synopsis_count count;

		synopsis_count(rows[i].synopsis, &count);
		assert_int_equal(count.minimum, rows[i].count.minimum);
		assert_int_equal(count.maximum, rows[i].count.maximum);
		assert_int_equal(count.is_choice, rows[i].count.is_choice);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_choice_is_words),
		cmocka_unit_test(a_value_stands_behind_its_word),
		cmocka_unit_test(a_placeholder_has_a_kind),
		cmocka_unit_test(a_long_text_is_bounded),
		cmocka_unit_test(words_are_counted),
	};

	return cmocka_run_group_tests_name("synopsis", tests, NULL, NULL);
}
