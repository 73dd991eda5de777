/*
 * request, request_group: when the functions of answers are called, and when
 * not. The node is a shell script that answers out of order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/engine.h"
#include "engine/request.h"

#define LIMIT_SECONDS 120.0
#define ANSWER(SEQ, MORE)                                                                          \
	"{\"seq\":9,\"type\":\"response\",\"request_seq\":" SEQ ",\"command\":\"x\"," MORE "}\n"
#define VALUE(SEQ) ANSWER(SEQ, "\"success\":true,\"body\":{\"value\":" SEQ "}")

struct stage {
	struct engine engine;
	char path[64];
	struct buffer log; /* "3:3 4!It will not. " */
	struct request *other;
	struct request_group *group;
};

/*
 * The first two requests, initialize and discover, get no answer. machines: hosts of --on; NULL:
 * the node of this machine.
 */
static void begin_on(struct stage *stage, const char *machines, const char *answers)
{
	struct error error = ERROR_INIT;
	struct settings settings;
	char *script = xasprintf("#!/bin/sh\nread a; read a; read a; read a\n%s\n", answers);
	FILE *file;

	*stage = (struct stage){ .log = BUFFER_INIT };
	snprintf(stage->path, sizeof(stage->path), "/tmp/test-request-%d", (int)getpid());
	file = fopen(stage->path, "w");
	assert_non_null(file);
	fputs(script, file);
	fclose(file);
	chmod(stage->path, 0700);
	setenv("PROBETUI_NODE", stage->path, 1);
	settings_init(&settings);
	if (machines) {
		settings.machines = xcalloc(1, sizeof(char *));
		settings.machines[settings.machine_count++] =
			xasprintf("exec:%s:%s %%h", machines, stage->path);
	}
	engine_init(&stage->engine, &settings);
	assert_int_equal(engine_start(&stage->engine, &error), 0);
	free(script);
}

static void begin(struct stage *stage, const char *answers)
{
	begin_on(stage, NULL, answers);
}

static void end(struct stage *stage)
{
	request_group_free(stage->group);
	engine_clear(&stage->engine);
	buffer_clear(&stage->log);
	unlink(stage->path);
}

static void note(struct stage *stage, const json_t *body, const char *error)
{
	if (error)
		buffer_printf(&stage->log, "!%s ", error);
	else
		buffer_printf(&stage->log, "%d ", (int)json_get_integer(body, "value", 0));
}

static void on_done(struct engine *engine, json_t *body, const char *error, void *data)
{
	(void)engine;
	note(data, body, error);
}

static bool has_all(const struct engine *engine, void *data)
{
	const struct stage *stage = data;

	(void)engine;
	return stage->log.length > 0 && stage->log.data[stage->log.length - 2] == '.';
}

static struct request *ask(struct stage *stage)
{
	return request_start(&stage->engine, LOCAL_NODE, "x", NULL, on_done, stage);
}

/* The node ends behind its answers: what has none then fails. */
static void each_is_called_once_in_the_order_of_the_answers(void **state)
{
	struct stage stage;

	(void)state;
	begin(&stage, "cat <<'X'\n" VALUE("4") ANSWER("3", "\"success\":false,\"message\":\"no\"")
			      VALUE("4") VALUE("77") "X\nread a");
	ask(&stage);
	ask(&stage);
	ask(&stage);
	assert_int_equal(stage.log.length, 0);
	engine_wait(&stage.engine, has_all, &stage, LIMIT_SECONDS);
	assert_memory_equal(stage.log.data, "4 !no !", 7);
	assert_false(requests_are_ended(&stage.engine));
	end(&stage);
}

static void cancel_other(struct engine *engine, json_t *body, const char *error, void *data)
{
	struct stage *stage = data;

	note(stage, body, error);
	request_cancel(engine, stage->other);
	buffer_append_string(&stage->log, ". ");
}

/* Also when its answer has come in the same batch. */
static void who_is_cancelled_is_not_called(void **state)
{
	struct stage stage;

	(void)state;
	begin(&stage, "cat <<'X'\n" VALUE("3") VALUE("4") "X\nread a; read a");
	request_start(&stage.engine, LOCAL_NODE, "x", NULL, cancel_other, &stage);
	stage.other = ask(&stage);
	engine_wait(&stage.engine, has_all, &stage, LIMIT_SECONDS);
	assert_string_equal(stage.log.data, "3 . ");
	end(&stage);
}

static bool is_gone(const struct engine *engine, void *data)
{
	(void)data;
	return engine_is_deaf(engine);
}

static bool is_first_gone(const struct engine *engine, void *data)
{
	(void)data;
	return engine->session.nodes[0].is_gone && !requests_are_ended(engine);
}

static void without_a_node_the_loop_ends_it(void **state)
{
	struct stage stage;
	struct error error = ERROR_INIT;
	struct request *kept;

	(void)state;
	begin(&stage, "exit 0");
	request_post(&stage.engine, LOCAL_NODE, "x", NULL);
	request_post(&stage.engine, LOCAL_NODE, "x", NULL);
	engine_wait(&stage.engine, is_gone, NULL, LIMIT_SECONDS);
	assert_false(request_post(&stage.engine, LOCAL_NODE, "x", NULL));
	ask(&stage);
	assert_int_equal(stage.log.length, 0);
	assert_true(requests_are_ended(&stage.engine));
	engine_wait(&stage.engine, has_all, &stage, LIMIT_SECONDS);
	assert_int_equal(stage.log.data[0], '!');
	kept = request_start(&stage.engine, LOCAL_NODE, "x", NULL, NULL, NULL);
	assert_true(request_is_answered(kept));
	assert_int_equal(request_seq(kept), 0);
	assert_null(request_take(&stage.engine, kept, &error));
	assert_true(error_is_set(&error));
	end(&stage);
}

static void on_answer(struct engine *engine, const struct group_answer *answer, void *data)
{
	struct stage *stage = data;

	(void)engine;
	buffer_printf(&stage->log, "%d%s%s", answer->rank, answer->is_late ? "late" : "",
		      answer->tag ? (const char *)answer->tag : "");
	note(stage, answer->body, answer->error);
	/* Another page of the first. */
	if (answer->rank == 1 && request_group_count(stage->group) < 2)
		request_group_add(stage->group, LOCAL_NODE, 5, "x", NULL, NULL);
}

static void on_last(struct engine *engine, void *data)
{
	struct stage *stage = data;

	(void)engine;
	request_group_free(stage->group);
	stage->group = NULL;
	buffer_append_string(&stage->log, "done. ");
}

static void a_group_is_done_after_what_an_answer_adds(void **state)
{
	struct stage stage;

	(void)state;
	begin(&stage,
	      "cat <<'X'\n" VALUE("4") VALUE("3") "X\nread a; cat <<'X'\n" VALUE("5") "X\nread a");
	stage.group = request_group_new(&stage.engine, on_answer, on_last, &stage);
	request_group_add(stage.group, LOCAL_NODE, 0, "x", NULL, xstrdup("t"));
	request_group_add(stage.group, LOCAL_NODE, 1, "x", NULL, NULL);
	assert_int_equal(request_group_count(stage.group), 2);
	engine_wait(&stage.engine, has_all, &stage, LIMIT_SECONDS);
	assert_string_equal(stage.log.data, "14 0t3 55 done. ");
	assert_null(stage.group);
	end(&stage);
}

static void who_is_late_gets_the_error(void **state)
{
	struct stage stage;

	(void)state;
	begin(&stage, "cat <<'X'\n" VALUE("4") "X\nread a; read a");
	stage.group = request_group_new(&stage.engine, on_answer, on_last, &stage);
	request_group_add(stage.group, LOCAL_NODE, 2, "x", NULL, NULL);
	request_group_expire(stage.group, "too late");
	assert_string_equal(stage.log.data, "2late!too late done. ");
	assert_null(stage.group);
	end(&stage);
}

static void answers_are_kept_in_the_order_of_the_requests(void **state)
{
	struct stage stage;
	struct group_answer answer;

	(void)state;
	begin(&stage, "cat <<'X'\n" VALUE("4") VALUE("3") "X\nread a; read a");
	stage.group = request_group_new(&stage.engine, NULL, NULL, NULL);
	request_group_add(stage.group, LOCAL_NODE, 7, "x", NULL, NULL);
	request_group_add(stage.group, LOCAL_NODE, 8, "x", NULL, NULL);
	request_group_wait(stage.group, LIMIT_SECONDS);
	assert_int_equal(request_group_open_count(stage.group), 0);
	for (int i = 0; i < 2; i++) {
		assert_true(request_group_take(stage.group, &answer));
		assert_int_equal(answer.rank, 7 + i);
		assert_int_equal(json_get_integer(answer.body, "value", 0), 3 + i);
	}
	assert_false(request_group_take(stage.group, &answer));
	end(&stage);
}

/* What was sent behind `initialize` ends with the reason, after the whole batch. */
static void a_node_of_another_version_is_gone(void **state)
{
	struct stage stage;

	(void)state;
	begin(&stage,
	      "cat <<'X'\n" VALUE("3") "{\"seq\":1,\"type\":\"response\",\"request_seq\":1,"
				       "\"command\":\"initialize\","
				       "\"success\":false,\"message\":\"another version\"}\n" VALUE(
					       "4") "X\n"
						    "cat >/dev/null");
	ask(&stage);
	ask(&stage);
	request_start(&stage.engine, LOCAL_NODE, "x", NULL, cancel_other, &stage);
	engine_wait(&stage.engine, is_gone, NULL, LIMIT_SECONDS);
	assert_string_equal(stage.log.data, "3 4 !another version . ");
	assert_string_equal(stage.engine.session.nodes[0].gone_why, "another version");
	end(&stage);
}

/* Of two nodes: what a node is asked ends with that node, and by its answers only. */
static void nodes_are_asked_one_by_one(void **state)
{
	struct stage stage;

	(void)state;
	begin_on(&stage, "a,b",
		 "if [ $1 = a ]; then exit 0; fi\n"
		 "cat <<'X'\n" VALUE("7") VALUE("8") "X\ncat >/dev/null");
	assert_int_equal(stage.engine.link_count, 2);
	/* initialize and discover of two nodes are 1 to 4. */
	request_post_all(&stage.engine, "x", json_object());
	request_start(&stage.engine, 0, "x", NULL, on_done, &stage);
	request_start(&stage.engine, 1, "x", NULL, cancel_other, &stage);
	engine_wait(&stage.engine, has_all, &stage, LIMIT_SECONDS);
	assert_non_null(strstr(stage.log.data, "8 . "));
	/* Not the answer for the other node, before it or behind it. */
	assert_null(strstr(stage.log.data, "7 8 . "));
	assert_null(strstr(stage.log.data, "8 . 7 "));
	engine_wait(&stage.engine, is_first_gone, NULL, LIMIT_SECONDS);
	assert_non_null(strstr(stage.log.data, stage.path));
	assert_non_null(strstr(stage.log.data, " for a exited with status 0 "));
	assert_true(request_post(&stage.engine, 1, "x", NULL));
	assert_false(request_post(&stage.engine, 0, "x", NULL));
	end(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_called_once_in_the_order_of_the_answers),
		cmocka_unit_test(who_is_cancelled_is_not_called),
		cmocka_unit_test(without_a_node_the_loop_ends_it),
		cmocka_unit_test(a_group_is_done_after_what_an_answer_adds),
		cmocka_unit_test(who_is_late_gets_the_error),
		cmocka_unit_test(answers_are_kept_in_the_order_of_the_requests),
		cmocka_unit_test(a_node_of_another_version_is_gone),
		cmocka_unit_test(nodes_are_asked_one_by_one),
	};

	return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
