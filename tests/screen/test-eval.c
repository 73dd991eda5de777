/*
 * Code that ranks run, on the screen: the line that is typed, blocks of
 * several lines, what ranks answered, equal answers together.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "model/answers.h"
#include "stage.h"
#include "ui/view.h"

static struct answers *ask(struct stage *stage, const char *code)
{
	struct session *session = &stage->engine.session;
	struct answers *answers = eval_history_add(&session->eval_history, code, ANSWERS_EVAL,
						   session->eval_history.count + 1, 0);

	for (int rank = 0; rank < 8; rank++)
		answers_wait(answers, rank);
	return answers;
}

static void answer(struct answers *answers, int rank, const char *value, const char *output)
{
	answers_take_whole(answers, &(struct answer){
					    .rank = rank,
					    .value = (char *)value,
					    .output = (char *)output,
				    });
}

static void answer_all(struct answers *answers, const char *value, const char *output)
{
	for (int rank = 0; rank < 8; rank++)
		answer(answers, rank, value, output);
}

static void raise_in(struct answers *answers, int rank, const char *error, const char *traceback)
{
	answers_take_whole(answers, &(struct answer){
					    .rank = rank,
					    .error = (char *)error,
					    .traceback = (char *)traceback,
					    .is_raised = true,
				    });
}

/* A walk: a rate is looked at, set, a block runs, some fail. */
static void talk(struct stage *stage)
{
	struct answers *answers = ask(stage, "opt.param_groups[0]['lr']");

	answer_all(answers, "0.001", NULL);
	answer(answers, 3, "0.01", NULL);
	answer_all(ask(stage, "opt.param_groups[0]['lr'] = 1e-4"), NULL, NULL);
	answers = ask(stage, "for name in names:\n    print(name)\n");
	answer_all(answers, NULL, "weight\nbias\n");
	raise_in(answers, 5, "NameError: name 'names' is not defined",
		 "Traceback (most recent call last):\n"
		 "  File \"<eval>\", line 1, in <module>\n"
		 "NameError: name 'names' is not defined\n");
	answers_take(answers, 6, NULL, "Process 4189 has no agent; probetui inject puts it in.");
	answers = ask(stage, "len(loader)");
	answer(answers, 0, "120", NULL);
	stage_keys(stage, "e i f Space l e n ( x ) :");
	stage_keys(stage, "Enter Space Space x");
}

static void talk_with_tracebacks(struct stage *stage)
{
	talk(stage);
	stage_keys(stage, "C-t");
}

static void open_empty(struct stage *stage)
{
	stage_keys(stage, "e");
}

struct picture {
	const char *name;
	int row_count;
	int column_count;
	void (*talk)(struct stage *stage);
};

static void draw(const struct picture *picture)
{
	struct buffer drawn = BUFFER_INIT;
	void *state;

	assert_int_equal(stage_begin_hung8(&state), 0);
	stage_resize(state, picture->row_count, picture->column_count);
	picture->talk(state);
	stage_draw(state, &drawn);
	stage_check_golden(picture->name, &drawn);
	buffer_clear(&drawn);
	stage_end(&state);
}

static void draws_the_picture(void **state)
{
	static const struct picture pictures[] = {
		{ "eval-80x24", 24, 80, talk },
		{ "eval-40x10", 10, 40, talk },
		{ "eval-120x30", 30, 120, talk_with_tracebacks },
		{ "eval-empty-80x24", 24, 80, open_empty },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(pictures); i++)
		draw(&pictures[i]);
}

static void a_block_goes_on(void **state)
{
	struct stage *stage = *state;

	stage_keys(stage, "e d e f Space f ( ) : Enter");
	stage_check_shows(stage, "│>>> def f():");
	stage_check_shows(stage, "│... ");
	stage_keys(stage, "Tab x");
	stage_check_shows(stage, "│...     x");
	stage_keys(stage, "C-c");
	stage_check_hides(stage, "def f");
	stage_check_shows(stage, "│>>> ");
}

static void what_was_typed_comes_back(void **state)
{
	struct stage *stage = *state;

	stage_keys(stage, "e a ( Enter b Enter C-c");
	stage_keys(stage, "Up");
	stage_check_shows(stage, ">>> b");
	stage_keys(stage, "Up");
	stage_check_shows(stage, ">>> a(");
}

static void it_is_scrolled(void **state)
{
	struct stage *stage = *state;

	for (int i = 0; i < 30; i++) {
		char code[32];

		snprintf(code, sizeof(code), "step + %d", i);
		answer_all(ask(stage, code), "41", NULL);
	}
	stage_keys(stage, "e");
	stage_check_shows(stage, "step + 29");
	stage_check_hides(stage, "step + 3 ");
	stage_keys(stage, "PgUp");
	stage_check_shows(stage, "lines back");
	stage_check_hides(stage, "step + 29");
	stage_keys(stage, "PgUp PgUp PgUp PgUp PgUp");
	stage_check_shows(stage, ">>> step + 0");
	stage_keys(stage, "x");
	stage_check_shows(stage, "step + 29");
}

static void the_focus_is_named(void **state)
{
	struct stage *stage = *state;

	stage_keys(stage, "@ 2 - 4 Enter e");
	stage_check_shows(stage, "Eval · ranks 2-4 (3)");
	stage_keys(stage, "Esc");
	assert_int_equal(stage->app.view.kind, VIEW_HOME);
	stage_keys(stage, "e C-d");
	assert_int_equal(stage->app.view.kind, VIEW_HOME);
}

static void offer(struct stage *stage, const char *const *labels, int length)
{
	struct repl *repl = &stage->app.view.repl;
	json_t *targets = json_array();

	free(repl->completed);
	repl->completed = strdup(repl->line.text.data);
	for (; *labels != NULL; labels++)
		json_array_append_new(targets,
				      json_pack("{s:s, s:i}", "label", *labels, "length", length));
	repl_offer(repl, targets);
	json_decref(targets);
}

static void names_are_completed(void **state)
{
	static const char *const one[] = { "param_groups", NULL };
	static const char *const two[] = { "state", "state_dict", NULL };
	struct stage *stage = *state;

	stage_keys(stage, "e o p t . p a");
	offer(stage, one, 2);
	stage_check_shows(stage, ">>> opt.param_groups ");
	assert_int_equal(stage->app.view.repl.line.cursor, 16);
	stage_keys(stage, "C-u o . s");
	offer(stage, two, 1);
	stage_check_shows(stage, ">>> o.state   state  state_dict");
	stage_keys(stage, "Tab Tab");
	stage_check_shows(stage, ">>> o.state_dict   state  state_dict");
	/* It has moved on since it was asked. */
	stage_keys(stage, "C-u x");
	stage->app.view.repl.completed[0] = 'y';
	repl_offer(&stage->app.view.repl, NULL);
	stage_check_shows(stage, ">>> x ");
}

static void a_local_is_set(void **state)
{
	struct stage *stage = *state;

	stage_keys(stage, "3 Enter Tab Tab Tab i");
	stage_check_shows(stage, "assign step =");
	stage_keys(stage, "Esc Down Enter");
	stage_check_shows(stage, "assign rank =");
	stage_keys(stage, "Esc 1 Enter i");
	stage_check_shows(stage, "no variable of the frame under the cursor");
}

/* Where what is seen of a rank comes from, and how old it is. */
static void the_source_of_a_stack_is_said(void **state)
{
	struct stage *stage = *state;
	struct session *session = &stage->engine.session;
	struct rank *rank = session_find_rank(session, 3);

	stage_keys(stage, "3 Enter");
	stage_check_hides(stage, "agent");
	rank->sample_source = strdup("http");
	stage_check_shows(stage, "from agent \u00b7 3");
	session->now += 12;
	stage_keys(stage, "G");
	stage_check_shows(stage, "agent 12s ago: ti");
	free(rank->sample_source);
	rank->sample_source = NULL;
	rank->debugger.state = DEBUGGER_CONNECTING;
	rank->debugger.backend = strdup("http");
	stage_check_shows(stage, "agent silent \u00b7 3");
	stage_check_shows(stage, " 12s ago: connecti");
}

static int begin_stopped(void **state)
{
	return stage_begin(state, "stopped8.jsonl");
}

static void it_fits_any_size(void **state)
{
	struct stage *stage = *state;

	talk(stage);
	for (int rows = 1; rows < 30; rows += 3) {
		for (int columns = 1; columns < 90; columns += 4) {
			stage_resize(stage, rows, columns);
			stage_keys(stage, "PgUp");
			app_draw(&stage->app);
			stage_keys(stage, "C-t");
			app_draw(&stage->app);
		}
	}
}

#define ON_STAGE(test) cmocka_unit_test_setup_teardown(test, stage_begin_hung8, stage_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draws_the_picture),
		ON_STAGE(a_block_goes_on),
		ON_STAGE(what_was_typed_comes_back),
		ON_STAGE(it_is_scrolled),
		ON_STAGE(the_focus_is_named),
		ON_STAGE(names_are_completed),
		ON_STAGE(the_source_of_a_stack_is_said),
		cmocka_unit_test_setup_teardown(a_local_is_set, begin_stopped, stage_end),
		ON_STAGE(it_fits_any_size),
	};

	return cmocka_run_group_tests_name("eval", tests, NULL, NULL);
}
