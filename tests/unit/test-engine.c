/*
 * engine: what it asks of a node, and what it makes of recordings. The nodes
 * are shell scripts that answer line by line.
 */
#include <setjmp.h>
#include <signal.h>
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
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/loop.h"
#include "engine/command.h"
#include "engine/engine.h"
#include "engine/evidence.h"
#include "engine/request.h"
#include "engine/script-events.h"
#include "model/source.h"
#include "protocol/stack.h"

#define LIMIT_SECONDS 120.0

#define RANK(NAME, NUMBER, PID, MORE)                                                              \
	"{\"seq\":1,\"type\":\"event\",\"event\":\"" NAME "\",\"body\":"                           \
	"{\"pid\":" PID ",\"rank\":" NUMBER ",\"world_size\":2,\"uid\":0,"                         \
	"\"start_time\":" PID ",\"job\":\"127.0.0.1:29500\","                                      \
	"\"launcher_pid\":9,\"script\":\"t.py\",\"script_path\":\"/w/t.py\","                      \
	"\"cwd\":\"/w\"" MORE "}}\n"
#define LIVE ",\"state\":\"live\""
#define DISCOVERED                                                                                 \
	"{\"seq\":3,\"type\":\"response\",\"request_seq\":2,\"success\":true,"                     \
	"\"command\":\"discover\",\"body\":{\"looked_at\":2,\"uid\":0,"                            \
	"\"bystanders\":[]}}\n"
#define SAMPLED                                                                                    \
	"{\"seq\":4,\"type\":\"event\",\"event\":\"sampled\",\"body\":"                            \
	"{\"pid\":10,\"epoch\":1,\"time\":1,\"stacks\":[{\"id\":1,"                                \
	"\"dropped\":0,\"codes\":[[1,\"f\",null,\"/w/t.py\",1,0],"                                 \
	"[2,\"lib\",null,\"/usr/lib/python3.11/site-packages/l.py\",1,0]],"                        \
	"\"frames\":[[2,30],[1,17]]}],\"threads\":[{\"tid\":10,"                                   \
	"\"is_main\":true,\"state\":\"blocked\",\"exact\":\"exact\","                              \
	"\"stack\":1}]}}\n"

static const struct command_tables commands = { { &engine_commands }, COMMAND_SHELL };

struct stage {
	struct engine engine;
	char folder[64];
};

static char *path_of(const struct stage *stage, const char *name)
{
	return xasprintf("%s/%s", stage->folder, name);
}

static void write_file(const struct stage *stage, const char *name, const char *content)
{
	char *path = path_of(stage, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(content, file);
	fclose(file);
	chmod(path, 0700);
	free(path);
}

static void stage_init(struct stage *stage)
{
	struct settings settings;

	snprintf(stage->folder, sizeof(stage->folder), "/tmp/test-engine-XXXXXX");
	assert_non_null(mkdtemp(stage->folder));
	settings_init(&settings);
	engine_init(&stage->engine, &settings);
}

static void stage_clear(struct stage *stage)
{
	static const char *const names[] = { "node", "record", "first", "second" };

	engine_clear(&stage->engine);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *path = path_of(stage, names[i]);

		unlink(path);
		free(path);
	}
	assert_int_equal(rmdir(stage->folder), 0);
}

/* body is sh; the files "first" and "second" hold messages to send. */
static void start(struct stage *stage, const char *body)
{
	struct error error = ERROR_INIT;
	char *script = xasprintf("#!/bin/sh\ncd %s\n%s", stage->folder, body);
	char *path = path_of(stage, "node");

	write_file(stage, "node", script);
	setenv("PROBETUI_NODE", path, 1);
	assert_int_equal(engine_start(&stage->engine, &error), 0);
	free(path);
	free(script);
}

static bool is_first_found(const struct engine *engine, void *data)
{
	(void)data;
	return engine->session.is_discovered;
}

static bool is_followed(const struct engine *engine, void *data)
{
	const struct rank *rank = session_find_rank(&engine->session, 0);

	(void)data;
	return rank && rank->process.script && strcmp(rank->process.script, "followed") == 0;
}

static bool is_lost(const struct engine *engine, void *data)
{
	(void)data;
	return engine_is_deaf(engine);
}

static bool is_nothing(const struct engine *engine, void *data)
{
	(void)engine;
	(void)data;
	return false;
}

/* One rank goes and another comes in one read: their number is the same. */
static void a_restarted_rank_is_sampled(void **state)
{
	struct stage stage;
	struct engine *engine = &stage.engine;

	(void)state;
	stage_init(&stage);
	engine->is_screen = true;
	engine->settings.job = xstrdup("29500");
	engine->session.choice.wanted_job = xstrdup("29500");
	write_file(&stage, "first",
		   RANK("rankAdded", "0", "10", LIVE) RANK("rankAdded", "1", "11", LIVE)
			   DISCOVERED);
	write_file(&stage, "second",
		   RANK("rankRemoved", "0", "10", ",\"state\":\"exited\"")
			   RANK("rankAdded", "0", "20", LIVE));
	start(&stage, "read hello; read discover; cat first\n"
		      "read sample; cat second\n"
		      "while read sample; do case $sample in *20*)\n"
		      "sed -n 2p second | sed s/rankAdded/rankChanged/ |\n"
		      "sed s/t.py/followed/;;\nesac; done\n");
	assert_int_equal(engine_wait(engine, is_first_found, NULL, LIMIT_SECONDS), 0);
	engine_sample_every(engine, 0.25);
	assert_int_equal(engine_wait(engine, is_followed, NULL, LIMIT_SECONDS), 0);
	stage_clear(&stage);
}

static bool has_logged(const char *text)
{
	for (size_t i = 0; log_line(i); i++) {
		if (strstr(log_line(i), text))
			return true;
	}
	return false;
}

static void a_lost_node_is_logged(void **state)
{
	struct stage stage;

	(void)state;
	stage_init(&stage);
	stage.engine.is_screen = true;
	start(&stage, "read hello; exit 7\n");
	engine_wait(&stage.engine, is_lost, NULL, LIMIT_SECONDS);
	assert_true(has_logged("exited with status 7"));
	assert_true(stage.engine.session.nodes[0].is_gone);
	stage_clear(&stage);
}

static void a_failure_is_logged_by_its_command(void **state)
{
	struct stage stage;
	struct engine *engine = &stage.engine;
	struct request *request;

	(void)state;
	stage_init(&stage);
	engine->is_screen = true;
	write_file(&stage, "first",
		   "{\"seq\":9,\"type\":\"response\",\"request_seq\":3,\"success\":false,"
		   "\"command\":\"setBreakpoints\",\"message\":\"It will not.\"}\n");
	start(&stage, "read hello; read discover; read breaks; cat first\n"
		      "read more\n");
	request = request_start(engine, LOCAL_NODE, "setBreakpoints", json_object(), NULL, NULL);
	assert_int_equal(request_seq(request), 3);
	request_wait(engine, request, LIMIT_SECONDS);
	request_cancel(engine, request);
	assert_true(has_logged("break: It will not."));
	stage_clear(&stage);
}

/* Where nothing can change any more, nothing is waited for. */
static void nothing_is_waited_for_in_vain(void **state)
{
	struct stage stage;
	double begun = loop_now();

	(void)state;
	stage_init(&stage);
	start(&stage, "exit 0\n");
	assert_int_equal(engine_wait(&stage.engine, is_nothing, NULL, LIMIT_SECONDS), -1);
	assert_true(loop_now() - begun < LIMIT_SECONDS);
	stage_clear(&stage);
}

/* With --record the files of the user's own frames are asked for, once. */
static void a_recording_gets_the_sources(void **state)
{
	struct stage stage;
	struct engine *engine = &stage.engine;
	const struct source *source;

	(void)state;
	stage_init(&stage);
	engine->settings.record = path_of(&stage, "record");
	write_file(&stage, "first",
		   RANK("rankAdded", "0", "10", LIVE) RANK("rankAdded", "1", "11", LIVE)
			   DISCOVERED SAMPLED);
	write_file(
		&stage, "second",
		"{\"seq\":9,\"type\":\"response\",\"request_seq\":3,\"success\":true,\"command\":"
		"\"source\",\"body\":{\"pid\":10,\"path\":\"/w/t.py\",\"content\":\"a = 1\"}}\n");
	start(&stage, "read hello; read discover; cat first\n"
		      "read source; cat second\nread more; exit 0\n");
	assert_int_equal(engine_wait(engine, is_first_found, NULL, LIMIT_SECONDS), 0);
	engine_record_sources(engine);
	source = session_find_source(&engine->session, 0, 10, "/w/t.py");
	assert_non_null(source);
	assert_string_equal(source_line(source, 1), "a = 1");
	/* The library's file was not asked for, nor this one again. */
	assert_int_equal(engine->requests.seq, 3);
	engine_record_sources(engine);
	assert_int_equal(engine->requests.seq, 3);
	stage_clear(&stage);
}

static bool is_sampled(const struct engine *engine, void *data)
{
	const struct rank *rank = session_find_rank(&engine->session, 0);

	(void)data;
	return rank && rank->sampled_at >= 0;
}

/* What is known when it begins is in it: ranks, stacks, files. */
static void check_late_recording(const struct stage *stage, const char *path)
{
	struct settings settings;
	struct engine again;
	struct error error = ERROR_INIT;
	const struct source *source;
	const struct rank *rank;

	assert_int_equal(stage->engine.session.rank_count, 2);
	settings_init(&settings);
	settings_add_replay(&settings, path);
	engine_init(&again, &settings);
	again.is_screen = true;
	assert_int_equal(engine_start(&again, &error), 0);
	rank = session_find_rank(&again.session, 0);
	assert_non_null(rank);
	assert_string_equal(rank_main_thread(rank)->sample.stack->frames[0].code->func, "lib");
	source = session_find_source(&again.session, 0, 10, "/w/t.py");
	assert_non_null(source);
	assert_string_equal(source_line(source, 1), "a = 1");
	engine_clear(&again);
}

static void a_recording_may_begin_late(void **state)
{
	struct stage stage;
	struct engine *engine = &stage.engine;
	struct error error = ERROR_INIT;
	char *path;

	(void)state;
	stage_init(&stage);
	path = path_of(&stage, "record");
	write_file(&stage, "first",
		   RANK("rankAdded", "0", "10", LIVE) RANK("rankAdded", "1", "11", LIVE) DISCOVERED
		   "{\"seq\":9,\"type\":\"response\",\"request_seq\":3,\"success\":true,"
		   "\"command\":\"source\",\"body\":{\"pid\":10,\"path\":\"/w/"
		   "t.py\",\"content\":\"a = 1\"}}\n" SAMPLED);
	start(&stage, "read hello; read discover; cat first; read more\n");
	assert_int_equal(engine_wait(engine, is_sampled, NULL, LIMIT_SECONDS), 0);
	assert_null(engine_record_path(engine));
	assert_int_equal(engine_record(engine, path, &error), 0);
	assert_string_equal(engine_record_path(engine), path);
	assert_int_equal(engine_record(engine, "/nowhere/x", &error), -1);
	assert_non_null(strstr(error.message, "already recording to "));
	engine_record_stop(engine);
	assert_null(engine_record_path(engine));
	check_late_recording(&stage, path);
	free(path);
	stage_clear(&stage);
}

static void seeking_keeps_what_was_chosen(void **state)
{
	struct stage stage;
	struct engine *engine = &stage.engine;
	struct error error = ERROR_INIT;
	char *path;

	(void)state;
	stage_init(&stage);
	engine->is_screen = true;
	path = xasprintf("%s/tests/recordings/hung8.jsonl", getenv("SRCDIR"));
	settings_add_replay(&engine->settings, path);
	free(path);
	assert_int_equal(engine_start(engine, &error), 0);
	engine_seek(engine, 10);
	rankset_clear(&engine->session.choice.focus);
	rankset_add(&engine->session.choice.focus, 3);
	engine->session.choice.is_focus_all = false;
	engine->session.choice.selection.rank = 5;
	engine_seek(engine, 5);
	assert_int_equal(engine->session.rank_count, 8);
	assert_int_equal(rankset_count(&engine->session.choice.focus), 1);
	assert_int_equal(engine->session.choice.selection.rank, 5);
	stage_clear(&stage);
}

#define AT(TIME, REST) "{\"time\":" TIME "," REST
#define FOUND(NUMBER)                                                                              \
	AT("1", "\"seq\":1,\"type\":\"event\",\"event\":\"rankAdded\","                            \
		"\"body\":{\"pid\":10,\"rank\":" NUMBER ",\"world_size\":2,"                       \
		"\"uid\":0,\"start_time\":10,\"job\":\"127.0.0.1:29500\","                         \
		"\"state\":\"live\"}}\n")
#define ALL_FOUND                                                                                  \
	AT("2", "\"seq\":3,\"type\":\"response\",\"request_seq\":2,"                               \
		"\"success\":true,\"command\":\"discover\",\"body\":{"                             \
		"\"looked_at\":2,\"uid\":0,\"bystanders\":[]}}\n")
#define TOLD(MEMORY)                                                                               \
	AT("3", "\"seq\":4,\"type\":\"response\",\"request_seq\":3,"                               \
		"\"success\":true,\"command\":\"evidence\",\"body\":{"                             \
		"\"ranks\":[{\"pid\":10,\"memory\":" MEMORY "}],"                                  \
		"\"cgroups\":[{\"path\":\"/job\",\"usage\":" MEMORY "}],"                          \
		"\"kernel\":[{\"ago\":1,\"text\":\"" MEMORY "\"}]}}\n")

static int64_t memory_of(const struct engine *engine, int number)
{
	const struct rank *rank = session_find_rank(&engine->session, number);

	assert_non_null(rank);
	return json_get_integer(evidence_find(&engine->evidence, rank), "memory", 0);
}

static void seeking_keeps_the_job(void **state)
{
	struct stage stage;
	struct engine *engine = &stage.engine;
	const struct session *session = &engine->session;
	struct error error = ERROR_INIT;
	char *path;

	(void)state;
	stage_init(&stage);
	engine->is_screen = true;
	path = xasprintf("%s/tests/recordings/jobs.jsonl", getenv("SRCDIR"));
	settings_add_replay(&engine->settings, path);
	free(path);
	assert_int_equal(engine_start(engine, &error), 0);
	engine_seek(engine, 1e9);
	assert_int_equal(session->job, -1);
	session_choose_job(&engine->session, 1);
	engine_use_native(engine, true);
	engine_settle(engine);
	assert_int_equal(session->rank_count, 16);
	engine_seek(engine, session->now - 1);
	assert_int_equal(session->rank_count, 16);
	assert_true(session->choice.shows_native);
	/* Before it was found it is not there, and chosen when it is. */
	engine_seek(engine, 0);
	engine_seek(engine, 1e9);
	assert_int_equal(session->rank_count, 16);
	stage_clear(&stage);
}

/* A server that knows the names may be slow: nobody waits for it. */
static void users_are_looked_up_beside_the_loop(void **state)
{
	struct stage stage;
	struct engine *engine = &stage.engine;

	(void)state;
	stage_init(&stage);
	start(&stage, "cat\n");
	assert_null(users_name(engine, 0));
	assert_null(users_name(engine, 0));
	assert_int_equal(engine->users.pending, 1);
	users_await(engine, LIMIT_SECONDS);
	assert_string_equal(users_name(engine, 0), "root");
	/* One that nobody waits for any more. */
	assert_null(users_name(engine, 4000000000));
	stage_clear(&stage);
}

/* Both machines gave their rank the same pid. */
static void evidence_is_of_one_machine(void **state)
{
	struct stage stage;
	struct engine *engine = &stage.engine;
	struct error error = ERROR_INIT;
	char *first;
	char *second;
	json_t *kernel;

	(void)state;
	stage_init(&stage);
	write_file(&stage, "first", FOUND("0") ALL_FOUND TOLD("100"));
	write_file(&stage, "second", FOUND("1") ALL_FOUND TOLD("200"));
	first = path_of(&stage, "first");
	second = path_of(&stage, "second");
	settings_add_replay(&engine->settings, first);
	settings_add_replay(&engine->settings, second);
	assert_int_equal(engine_start(engine, &error), 0);
	engine_judge(engine);
	assert_int_equal(memory_of(engine, 0), 100);
	assert_int_equal(memory_of(engine, 1), 200);
	assert_int_equal(json_object_size(engine->evidence.cgroups), 2);
	kernel = evidence_kernel(&engine->evidence);
	assert_int_equal(json_array_size(kernel), 2);
	json_decref(kernel);
	free(first);
	free(second);
	stage_clear(&stage);
}

/* What the first process with the pid left is not the second one's. */
static void evidence_is_of_one_process(void **state)
{
	struct stage stage;
	struct engine *engine = &stage.engine;
	struct error error = ERROR_INIT;
	char *first;

	(void)state;
	stage_init(&stage);
	write_file(&stage, "first",
		   FOUND("0") ALL_FOUND TOLD("100")
			   AT("4", "\"seq\":1,\"type\":\"event\",\"event\":\"rankAdded\",\"body\":{"
				   "\"pid\":10,\"rank\":0,\"world_size\":1,\"uid\":0,\"start_"
				   "time\":99,\"job\":\"127.0.0.1:29500\",\"state\":\"live\"}}\n"));
	first = path_of(&stage, "first");
	settings_add_replay(&engine->settings, first);
	assert_int_equal(engine_start(engine, &error), 0);
	engine_judge(engine);
	assert_int_equal(memory_of(engine, 0), 0);
	free(first);
	stage_clear(&stage);
}

static void native_frames_are_given_back_after_a_mistake(void **state)
{
	struct stage stage;
	struct engine *engine = &stage.engine;
	struct buffer out = BUFFER_INIT;
	struct command_context context = {
		.engine = engine,
		.out = &out,
		.is_fresh = true,
	};
	struct error error = ERROR_INIT;

	(void)state;
	stage_init(&stage);
	write_file(&stage, "first", RANK("rankAdded", "0", "10", LIVE) DISCOVERED SAMPLED);
	start(&stage, "read hello; read discover; cat first\n"
		      "while read more; do :; done\n");
	assert_int_equal(engine_wait(engine, is_sampled, NULL, LIMIT_SECONDS), 0);
	assert_int_equal(
		command_run_line(&context, &commands, "stacks --native ranks class=7", &error), -1);
	assert_string_equal(error.message, "column 1: class 7 does not exist: the last class is 1");
	assert_false(engine->session.choice.shows_native);
	buffer_clear(&out);
	stage_clear(&stage);
}

/* A node that answers all, and writes down what lets ranks run. */
#define ANSWERS                                                                                    \
	"read hello; read discover; cat first\n"                                                   \
	"while read line; do\n"                                                                    \
	"seq=$(echo \"$line\" | sed 's/.*\"seq\":\\([0-9]*\\).*/\\1/')\n"                          \
	"name=$(echo \"$line\" | sed 's/.*\"command\":\"\\([a-z]*\\)\".*/\\1/')\n"                 \
	"if [ $name = continue ]; then echo \"$line\" >>second; fi\n"                              \
	"printf '{\"seq\":9,\"type\":\"response\",\"request_seq\":%s,'\\\n"                        \
	"'\"success\":true,\"command\":\"%s\",\"body\":{}}\\n' $seq $name\n"                       \
	"done\n"

static int run(struct engine *engine, const char *line, struct error *error)
{
	struct buffer out = BUFFER_INIT;
	struct buffer notes = BUFFER_INIT;
	struct command_context context = {
		.engine = engine,
		.out = &out,
		.notes = &notes,
	};
	int result = command_run_line(&context, &commands, line, error);

	buffer_clear(&notes);
	buffer_clear(&out);
	return result;
}

/* It is sent to a rank that runs yet, once, and to no other that runs. */
static void continue_withdraws_a_pause_that_has_not_come(void **state)
{
	struct stage stage;
	struct engine *engine = &stage.engine;
	struct buffer text = BUFFER_INIT;
	struct error error = ERROR_INIT;
	char *path;

	(void)state;
	stage_init(&stage);
	engine->settings.script = xstrdup("script");
	write_file(&stage, "first",
		   RANK("rankAdded", "0", "10", LIVE) RANK("rankAdded", "1", "11", LIVE)
			   DISCOVERED);
	start(&stage, ANSWERS);
	assert_int_equal(run(engine, "pause ranks 1", &error), 0);
	assert_int_equal(run(engine, "continue", &error), 0);
	assert_int_equal(run(engine, "continue", &error), -1);
	path = path_of(&stage, "second");
	assert_int_equal(file_read(path, "the log", &text, &error), 0);
	assert_non_null(strstr(text.data, "\"withdraw\":true"));
	assert_non_null(strstr(text.data, "\"pid\":11"));
	assert_null(strstr(text.data, "\"pid\":10"));
	assert_ptr_equal(strchr(text.data, '\n'), text.data + text.length - 1);
	buffer_clear(&text);
	free(path);
	stage_clear(&stage);
}

/* A node that writes down what it was asked after two ranks more than 16. */
static void start_many(struct stage *stage)
{
	struct buffer lines = BUFFER_INIT;

	for (int i = 0; i < 18; i++)
		buffer_printf(&lines,
			      "{\"seq\":1,\"type\":\"event\",\"event\":\"rankAdded\",\"body\":{"
			      "\"pid\":%d,\"rank\":%d,\"world_size\":18,\"uid\":0,\"start_time\":1,"
			      "\"job\":\"a:1\",\"launcher_pid\":9,\"state\":\"live\"}}\n",
			      10 + i, i);
	buffer_append_string(&lines, DISCOVERED);
	write_file(stage, "first", lines.data);
	buffer_clear(&lines);
	start(stage, "read hello; read discover; cat first\n"
		     "read one; read two; echo \"$one\" >second\n"
		     "echo \"$two\" >>second; exit 0\n");
}

/* What the node knows of when it reads the log is what it looks for there. */
static void the_kernels_log_is_asked_for_last(void **state)
{
	struct stage stage;
	struct engine *engine = &stage.engine;
	struct buffer text = BUFFER_INIT;
	struct error error = ERROR_INIT;
	char *path;
	struct request_group *group;
	const char *end;

	(void)state;
	stage_init(&stage);
	start_many(&stage);
	assert_int_equal(engine_wait(engine, is_first_found, NULL, LIMIT_SECONDS), 0);
	group = request_group_new(engine, NULL, NULL, NULL);
	evidence_ask(engine, group);
	request_group_wait(group, LIMIT_SECONDS);
	request_group_free(group);
	path = path_of(&stage, "second");
	assert_int_equal(file_read(path, "the log", &text, &error), 0);
	end = strchr(text.data, '\n');
	assert_non_null(end);
	assert_non_null(strstr(end, "kernel"));
	assert_true(strstr(text.data, "kernel") > end);
	buffer_clear(&text);
	free(path);
	stage_clear(&stage);
}

#define DEBUGGER(NAME, NUMBER, PID, MORE)                                                          \
	"{\"seq\":7,\"type\":\"event\",\"event\":\"" NAME "\",\"body\":"                           \
	"{\"pid\":" PID ",\"rank\":" NUMBER ",\"backend\":\"ptrace\"" MORE "}}\n"
#define STOPPED(NUMBER, PID)                                                                       \
	DEBUGGER("stopped", NUMBER, PID, ",\"state\":\"stopped\",\"stops\":1,\"reason\":\"pause\"")
#define SIGNALLED(NUMBER)                                                                          \
	"rank " NUMBER " was sent SIGTERM: resumed so that the process can handle the signal"
#define RESUMED(NUMBER, PID)                                                                       \
	DEBUGGER("continued", NUMBER, PID,                                                         \
		 ",\"state\":\"running\",\"reason\":\"signal\","                                   \
		 "\"description\":\"" SIGNALLED(NUMBER) "\"")

static bool is_anything_said(const struct engine *engine, void *data)
{
	(void)data;
	return engine->notice.text != NULL;
}

static void check_said(struct engine *engine, const char *sentence)
{
	bool is_error = true;
	char *said;

	assert_int_equal(engine_wait(engine, is_anything_said, NULL, LIMIT_SECONDS), 0);
	said = engine_take_notice(engine, &is_error);
	assert_string_equal(said, sentence);
	assert_false(is_error);
	free(said);
}

static void check_told(struct engine *engine, bool is_json, const char *text)
{
	struct buffer out = BUFFER_INIT;
	struct buffer notes = BUFFER_INIT;
	struct command_context context = {
		.engine = engine,
		.out = &out,
		.notes = &notes,
		.is_json = is_json,
		/* Behind the stop before it. */
		.stops_told = 1,
	};

	script_append_events(&context);
	assert_string_equal(out.data, text);
	assert_int_equal(notes.length, 0);
	rankset_clear(&context.exited);
	buffer_clear(&notes);
	buffer_clear(&out);
}

/* On the message line of a screen; in a script it is an event. */
static void a_resume_without_a_request_is_said(void **state)
{
	struct stage stage;
	struct engine *engine = &stage.engine;

	(void)state;
	stage_init(&stage);
	write_file(&stage, "first",
		   RANK("rankAdded", "0", "10", LIVE) RANK("rankAdded", "1", "11", LIVE)
			   DISCOVERED STOPPED("1", "11") RESUMED("1", "11"));
	start(&stage, "read hello; read discover; cat first; read more\n");
	check_said(engine, SIGNALLED("1"));
	check_told(engine, false, SIGNALLED("1") "\n");
	check_told(engine, true,
		   "{\"event\":\"continued\",\"rank\":1,\"reason\":\"signal\",\"description\":"
		   "\"" SIGNALLED("1") "\"}\n");
	stage_clear(&stage);
}

/* One line says that others were resumed, too. */
static void resumes_at_once_share_a_line(void **state)
{
	struct stage stage;

	(void)state;
	stage_init(&stage);
	write_file(&stage, "first",
		   RANK("rankAdded", "0", "10", LIVE) RANK("rankAdded", "1", "11", LIVE)
			   DISCOVERED STOPPED("0", "10") STOPPED("1", "11") RESUMED("0", "10")
				   RESUMED("1", "11"));
	start(&stage, "read hello; read discover; cat first; read more\n");
	check_said(&stage.engine, SIGNALLED("1") "; 1 more in the log (L)");
	stage_clear(&stage);
}

#define AGENT_ANSWERS                                                                              \
	"{\"seq\":4,\"type\":\"response\",\"request_seq\":3,\"success\":true,"                     \
	"\"command\":\"diagnose\",\"body\":{\"ranks\":[{\"rank\":0,\"pid\":10,"                    \
	"\"ways\":[{\"way\":\"agent\",\"ok\":true}]}]}}\n"
#define SET                                                                                        \
	"{\"seq\":5,\"type\":\"event\",\"event\":\"debugger\",\"body\":{"                          \
	"\"pid\":10,\"rank\":0,\"backend\":\"http\",\"target\":\"agent:10\","                      \
	"\"dialect\":\"agent\",\"state\":\"running\",\"at\":\"unknown\","                          \
	"\"breakpoints\":[{\"id\":1,\"number\":1,\"watch\":\"loss\"}]}}\n"
#define READ(seq, request)                                                                         \
	"{\"seq\":" seq ",\"type\":\"response\",\"request_seq\":" request ",\"success\":true,"     \
	"\"command\":\"tensor\",\"body\":{\"value\":{\"name\":\"loss\","                           \
	"\"value\":\"nan\",\"type\":\"float\"}}}\n"

static bool has_looked(const struct engine *engine, void *data)
{
	(void)data;
	return engine->watch_nan.looks > 0;
}

/* Watches loss in rank 0 of two, whose agent is found; then the node is `script`. */
static void begin_watch_nan(struct stage *stage, const char *script)
{
	struct rankset ranks = RANKSET_INIT;
	struct error error = ERROR_INIT;

	stage_init(stage);
	write_file(stage, "first",
		   RANK("rankAdded", "0", "10", LIVE) RANK("rankAdded", "1", "11", LIVE)
			   DISCOVERED);
	write_file(stage, "second", AGENT_ANSWERS SET READ("6", "4") READ("7", "6"));
	start(stage, script);
	assert_int_equal(engine_wait(&stage->engine, is_first_found, NULL, LIMIT_SECONDS), 0);
	rankset_add(&ranks, 0);
	assert_int_equal(watch_nan_begin(&stage->engine, "loss", false, false, &ranks, &error), 0);
	rankset_clear(&ranks);
}

#define BEGIN                                                                                      \
	"read hello; read discover; cat first\n"                                                   \
	"read diagnose; read tensor; sed -n 1p second\n"

/* A look that found a NaN while the rank's agent was setting its breakpoint leaves the NaN to the
 * agent, which knows the line. */
static void a_nan_is_left_to_the_agent(void **state)
{
	struct stage stage;
	struct engine *engine = &stage.engine;

	(void)state;
	begin_watch_nan(&stage, BEGIN "read breaks; sed -n 2,3p second; read more\n");
	assert_int_equal(engine_wait(engine, has_looked, NULL, LIMIT_SECONDS), 0);
	assert_int_equal(engine->watch_nan.state, WATCH_NAN_LOOKING);
	assert_true(rankset_contains(&engine->watch_nan.exact, 0));
	stage_clear(&stage);
}

static bool has_found(const struct engine *engine, void *data)
{
	(void)data;
	return engine->watch_nan.state == WATCH_NAN_FOUND;
}

/* An agent reports a value at a line: one that the thread never reaches is found by the next look.
 */
static void a_nan_that_no_agent_reports_is_found(void **state)
{
	struct stage stage;

	(void)state;
	begin_watch_nan(&stage, BEGIN "read breaks; sed -n 2,3p second; read tensor\n"
				      "sed 1,3d second; read more\n");
	assert_int_equal(engine_wait(&stage.engine, has_found, NULL, LIMIT_SECONDS), 0);
	assert_false(stage.engine.watch_nan.found.is_exact);
	stage_clear(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_nan_is_left_to_the_agent),
		cmocka_unit_test(a_nan_that_no_agent_reports_is_found),
		cmocka_unit_test(a_resume_without_a_request_is_said),
		cmocka_unit_test(resumes_at_once_share_a_line),
		cmocka_unit_test(continue_withdraws_a_pause_that_has_not_come),
		cmocka_unit_test(a_restarted_rank_is_sampled),
		cmocka_unit_test(a_failure_is_logged_by_its_command),
		cmocka_unit_test(a_lost_node_is_logged),
		cmocka_unit_test(nothing_is_waited_for_in_vain),
		cmocka_unit_test(a_recording_gets_the_sources),
		cmocka_unit_test(a_recording_may_begin_late),
		cmocka_unit_test(seeking_keeps_what_was_chosen),
		cmocka_unit_test(seeking_keeps_the_job),
		cmocka_unit_test(users_are_looked_up_beside_the_loop),
		cmocka_unit_test(evidence_is_of_one_machine),
		cmocka_unit_test(evidence_is_of_one_process),
		cmocka_unit_test(native_frames_are_given_back_after_a_mistake),
		cmocka_unit_test(the_kernels_log_is_asked_for_last),
	};

	log_set_quiet(1);
	/* As in main(): a node that has gone shows as an error of write(). */
	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
