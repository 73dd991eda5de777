/* prompt: what a debugger writes, taken apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "backends/pdb/pdbprompt.h"
#include "base/array.h"
#include "base/buffer.h"

struct heard {
	struct pdbprompt prompt;
	struct buffer out;
};

static int begin(void **state)
{
	struct heard *heard = malloc(sizeof(*heard));

	pdbprompt_init(&heard->prompt);
	buffer_init(&heard->out, 0);
	*state = heard;
	return 0;
}

static int end(void **state)
{
	struct heard *heard = *state;

	pdbprompt_clear(&heard->prompt);
	buffer_clear(&heard->out);
	free(heard);
	return 0;
}

static enum pdbprompt_kind hear(struct heard *heard, const char *text)
{
	pdbprompt_feed(&heard->prompt, text, strlen(text), &heard->out);
	return pdbprompt_kind(&heard->prompt);
}

static void what_looks_like_a_prompt(void **state)
{
	static const struct {
		const char *text;
		enum pdbprompt_kind kind;
	} lines[] = {
		{ "", PDBPROMPT_NONE },
		{ "(Pdb) \n", PDBPROMPT_NONE },
		{ "(Pdb) ", PDBPROMPT_LIKELY },
		{ "(Pdb)", PDBPROMPT_LIKELY },
		{ "ipdb> ", PDBPROMPT_LIKELY },
		{ "(rank-3-pdb) ", PDBPROMPT_LIKELY },
		{ "((Pdb)) ", PDBPROMPT_LIKELY },
		{ "\033[0;32mipdb> \033[0m", PDBPROMPT_LIKELY },
		{ "45%\ripdb> ", PDBPROMPT_LIKELY },
		{ "Quit anyway? [y/n] ", PDBPROMPT_CONFIRM },
		{ ">>> ", PDBPROMPT_OTHER },
		{ "... ", PDBPROMPT_OTHER },
		{ "...     ", PDBPROMPT_OTHER },
		{ "In [12]: ", PDBPROMPT_OTHER },
		{ "In : ", PDBPROMPT_OTHER },
		{ "(Pd", PDBPROMPT_MAYBE },
		{ "epoch 3", PDBPROMPT_MAYBE },
		{ "(Pdb) x", PDBPROMPT_MAYBE },
		{ "pdb)", PDBPROMPT_LIKELY },
		{ "db> ", PDBPROMPT_MAYBE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(lines); i++) {
		void *fresh;

		begin(&fresh);
		assert_int_equal(hear(fresh, lines[i].text), lines[i].kind);
		end(&fresh);
	}
}

static void a_prompt_is_learned(void **state)
{
	struct heard *heard = *state;

	assert_int_equal(hear(heard, "debug: "), PDBPROMPT_MAYBE);
	pdbprompt_learn_line(&heard->prompt);
	assert_int_equal(pdbprompt_kind(&heard->prompt), PDBPROMPT_LEARNED);
	pdbprompt_take(&heard->prompt, PDBPROMPT_LEARNED, &heard->out);
	assert_int_equal(pdbprompt_kind(&heard->prompt), PDBPROMPT_NONE);
	assert_int_equal(hear(heard, "loss 0.5"), PDBPROMPT_MAYBE);
	assert_int_equal(hear(heard, "debug: "), PDBPROMPT_LEARNED);
	pdbprompt_take(&heard->prompt, PDBPROMPT_LEARNED, &heard->out);
	assert_string_equal(heard->out.data, "loss 0.5");
}

static void half_of_it_may_have_been_told(void **state)
{
	struct heard *heard = *state;

	pdbprompt_learn(&heard->prompt, "(Pdb) ");
	hear(heard, "so far (Pd");
	pdbprompt_flush(&heard->prompt, &heard->out);
	assert_string_equal(heard->out.data, "so far (Pd");
	assert_int_equal(hear(heard, "b) "), PDBPROMPT_LEARNED);
	pdbprompt_take(&heard->prompt, PDBPROMPT_LEARNED, &heard->out);
	assert_string_equal(heard->out.data, "so far (Pd");
}

static void text_is_without_escapes(void **state)
{
	struct heard *heard = *state;

	hear(heard, "\033[1;3");
	hear(heard, "1mred\033[0m\r");
	hear(heard, "\n\033]0;title\007a\033]8;;x\033\\b\033(Bc\001\002\n");
	assert_string_equal(heard->out.data, "red\nabc\n");
}

static void escapes_end_somewhere(void **state)
{
	struct heard *heard = *state;

	hear(heard, "\033]never ended\nnext\n\033[");
	for (int i = 0; i < 100; i++)
		hear(heard, "1;");
	hear(heard, "m\nlast\n");
	assert_non_null(strstr(heard->out.data, "next\n"));
	assert_non_null(strstr(heard->out.data, "last\n"));
}

static void a_prompt_that_was_printed_behind(void **state)
{
	struct heard *heard = *state;

	pdbprompt_learn(&heard->prompt, "ipdb> ");
	hear(heard, "ipdb");
	assert_false(pdbprompt_has_passed(&heard->prompt));
	assert_int_equal(hear(heard, "> step 3"), PDBPROMPT_MAYBE);
	assert_true(pdbprompt_has_passed(&heard->prompt));
	hear(heard, "\nmore\n");
	assert_true(pdbprompt_has_passed(&heard->prompt));
	pdbprompt_forget_passed(&heard->prompt);
	assert_false(pdbprompt_has_passed(&heard->prompt));
	hear(heard, "ipdb> \n");
	assert_true(pdbprompt_has_passed(&heard->prompt));
	pdbprompt_take(&heard->prompt, hear(heard, "ipdb> "), &heard->out);
	assert_false(pdbprompt_has_passed(&heard->prompt));
}

static void a_line_without_end_is_bounded(void **state)
{
	struct heard *heard = *state;
	char piece[1001];

	memset(piece, 'x', sizeof(piece) - 1);
	piece[1000] = '\0';
	pdbprompt_learn(&heard->prompt, "(Pdb) ");
	for (int i = 0; i < 1000; i++) {
		hear(heard, piece);
		assert_true(heard->prompt.line.length <= PDBPROMPT_LINE_MAXIMUM);
	}
	assert_int_equal(hear(heard, "(Pdb) "), PDBPROMPT_LEARNED);
	pdbprompt_take(&heard->prompt, PDBPROMPT_LEARNED, &heard->out);
	assert_int_equal(heard->out.length, 1000 * 1000);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(what_looks_like_a_prompt),	     TEST(a_prompt_is_learned),
		TEST(half_of_it_may_have_been_told), TEST(text_is_without_escapes),
		TEST(escapes_end_somewhere),	     TEST(a_prompt_that_was_printed_behind),
		TEST(a_line_without_end_is_bounded),
	};

	return cmocka_run_group_tests_name("pdb-prompt", tests, NULL, NULL);
}
