/* place: which frames are the user's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "model/place.h"
#include "protocol/process.h"
#include "protocol/stack.h"

static char func[] = "f";
static char cwd[] = "/home/me/run";
static char script[] = "/home/me/code/train.py";

static bool is_user(char *file, enum frame_type type)
{
	struct process process = { .cwd = cwd, .script_path = script };
	struct code code = { .func = func, .file = file, .type = type };
	struct frame frame = { &code, 1 };

	return place_is_user(&process, &frame);
}

static void user_code_is_not_installed(void **state)
{
	static const struct {
		char file[96];
		bool is_user;
	} rows[] = {
		{ "/home/me/run/a.py", true },
		{ "/home/me/code/lib/b.py", true },
		{ "/home/me/editable/src/mine/a.py", true },
		{ "train.py", true },
		{ "<string>", true },
		{ "<stdin>", true },
		{ "<frozen runpy>", false },
		{ "", false },
		{ "/home/me/run/venv/lib/python3.11/queue.py", false },
		{ "/home/me/run/site-packages/x.py", false },
		{ "/usr/lib/python3/dist-packages/x.py", false },
		{ "/home/me/lightning/src/lightning/pytorch/loops/fit_loop.py", false },
		{ "/home/me/ray/python/ray/train/session.py", false },
		{ "/home/me/src/accelerate/src/accelerate/accelerator.py", false },
		{ "/home/me/src/accelerate/examples/train.py", true },
		{ "/home/me/.pex/installed_wheels/0/numpy.whl/numpy/core.py", false },
		{ "/tmp/torchinductor_me/ab/cabqwertyuiopasdfghjklzxcvbnm234567qwertyuiop.py",
		  false },
		{ "/tmp/torchinductor_me/xy/cabqwertyuiopasdfghjklzxcvbnm234567qwertyuiop.py",
		  true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		char file[96];

		memcpy(file, rows[i].file, sizeof(file));
		if (is_user(file, FRAME_PYTHON) != rows[i].is_user)
			fail_msg("%s", file);
		assert_false(is_user(file, FRAME_NATIVE));
	}
}

/* Wherever the agent was put, also below the job's own folder. */
static void the_agent_is_no_user_code(void **state)
{
	static const struct {
		char file[80];
		bool is_agents;
	} rows[] = {
		{ "/usr/share/probetui/agent/probetui/server.py", true },
		{ "/tmp/probetui-0123456789abcdef/probetui/agent.py", true },
		{ "/home/me/run/probetui/debugging/stop.py", true },
		{ "/home/me/run/probetui/dap/stopped.py", true },
		{ "/home/me/run/probetui/holds.py", true },
		{ "probetui/debugging/watchdogs.py", true },
		{ "/home/me/run/probetui/train.py", false },
		{ "/home/me/run/probetui/tests/jobs/agent.py", false },
		{ "/home/me/run/debugging/stop.py", false },
		{ "/home/me/run/myprobetui/debugging/stop.py", false },
		{ "/home/me/run/agent.py", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		char file[80];

		memcpy(file, rows[i].file, sizeof(file));
		if (place_is_agent(file) != rows[i].is_agents ||
		    is_user(file, FRAME_PYTHON) == rows[i].is_agents)
			fail_msg("%s", file);
	}
}

/* What stands still in it was called by the program, or by nobody. */
static void the_agent_is_not_where_one_is(void **state)
{
	char at[] = "/tmp/probetui-0123456789abcdef/probetui/debugging/stop.py";
	char user[] = "/home/me/run/a.py";
	char threading[] = "/usr/lib/python3.11/threading.py";
	struct process process = { .cwd = cwd };
	struct code codes[] = { { .func = func, .file = at },
				{ .func = func, .file = at },
				{ .func = func, .file = user },
				{ .func = func, .file = threading } };
	struct frame frames[] = {
		{ &codes[0], 151 }, { &codes[1], 136 }, { &codes[2], 17 }, { &codes[3], 9 }
	};
	struct stack stack = { .frames = frames, .frame_count = 4 };

	(void)state;
	assert_ptr_equal(place_find(&process, &stack), &frames[2]);
	codes[2].file = threading;
	assert_ptr_equal(place_find(&process, &stack), &frames[2]);
	stack.frame_count = 2;
	assert_null(place_find(&process, &stack));
	stack.frame_count = 0;
	assert_null(place_find(&process, &stack));
	assert_null(place_find(&process, NULL));
}

/* It closes when the program has ended: all of the stack is the agent's. */
static void a_library_that_the_agent_called_is_no_place(void **state)
{
	char at[] = "/tmp/probetui-0123456789abcdef/probetui/debugging/stop.py";
	char library[] = "/usr/lib/python3.11/contextlib.py";
	struct process process = { .cwd = cwd };
	struct code codes[] = { { .func = func, .file = at },
				{ .func = func, .file = library },
				{ .func = func, .file = at } };
	struct frame frames[] = { { &codes[0], 151 }, { &codes[1], 457 }, { &codes[2], 17 } };
	struct stack stack = { .frames = frames, .frame_count = 3 };

	(void)state;
	assert_null(place_find(&process, &stack));
}

static void the_root_folder_holds_all(void **state)
{
	char root[] = "/";
	char file[] = "/data/train.py";
	struct process process = { .cwd = root };
	struct code code = { .func = func, .file = file };
	struct frame frame = { &code, 1 };

	(void)state;
	assert_true(place_is_user(&process, &frame));
}

/* pip install . and python -m mine.train: the package that runs is no library. */
static void the_package_that_runs_is_user_code(void **state)
{
	static const struct {
		char script[32];
		char script_path[64];
		char file[64];
		bool is_user;
	} rows[] = {
		{ "-m mine.train", "", "/venv/site-packages/mine/loop.py", true },
		{ "-m mine", "", "/venv/site-packages/mine/loop.py", true },
		{ "-m mine.train", "", "/venv/site-packages/mine.py", true },
		{ "-m mine.train", "", "/venv/site-packages/mined/loop.py", false },
		{ "-m mine.train", "", "/venv/site-packages/min/loop.py", false },
		{ "-m torch.utils.x", "", "/venv/site-packages/torch/x.py", false },
		{ "-m ", "", "/venv/site-packages/", false },
		{ "train.py", "/venv/site-packages/mine/train.py",
		  "/venv/site-packages/mine/loop.py", true },
		{ "x.py", "/venv/site-packages/ray/x.py", "/venv/site-packages/ray/y.py", false },
		{ "train.py", "/home/me/train.py", "/venv/site-packages/mine/loop.py", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		char name[32], path[64], file[64];
		struct process process = { .cwd = cwd, .script = name, .script_path = path };
		struct code code = { .func = func, .file = file };
		struct frame frame = { &code, 1 };

		memcpy(name, rows[i].script, sizeof(name));
		memcpy(path, rows[i].script_path, sizeof(path));
		memcpy(file, rows[i].file, sizeof(file));
		if (place_is_user(&process, &frame) != rows[i].is_user)
			fail_msg("row %zu", i);
	}
}

static void a_console_script_is_where_its_package_is(void **state)
{
	struct process process = { .cwd = cwd };
	char library[] = "/venv/lib/python3.11/site-packages/torch/x.py";
	char loop[] = "/venv/lib/python3.11/site-packages/mine/loop.py";
	char main_file[] = "/venv/lib/python3.11/site-packages/mine/cli.py";
	char script_file[] = "/venv/bin/mine";
	char click[] = "/venv/lib/python3.11/site-packages/click/core.py";
	char torchrun[] = "/venv/lib/python3.11/site-packages/torch/run.py";
	char own_script[] = "/home/me/bin/train.py";
	struct code codes[] = { { .func = func, .file = library },
				{ .func = func, .file = loop },
				{ .func = func, .file = main_file },
				{ .func = func, .file = script_file } };
	struct frame frames[] = {
		{ &codes[0], 1 }, { &codes[1], 1 }, { &codes[2], 1 }, { &codes[3], 1 }
	};
	struct stack stack = { .frames = frames, .frame_count = 4 };

	(void)state;
	assert_int_equal(place_user_frame(&process, &stack), 1);
	codes[2].file = click;
	assert_int_equal(place_user_frame(&process, &stack), 1);
	codes[2].file = main_file;
	codes[3].file = own_script;
	assert_int_equal(place_user_frame(&process, &stack), 3);
	codes[3].file = script_file;
	codes[2].file = torchrun;
	assert_int_equal(place_user_frame(&process, &stack), 3);
	stack.frames = frames + 3;
	stack.frame_count = 1;
	assert_int_equal(place_user_frame(&process, &stack), 0);
}

static void the_top_user_frame_is_the_innermost(void **state)
{
	struct process process = { .cwd = cwd };
	char library[] = "/usr/lib/python3.11/queue.py";
	char user[] = "/home/me/run/a.py";
	char elsewhere[] = "/opt/shared/b.py";
	struct code codes[] = { { .func = func, .file = library },
				{ .func = func, .file = elsewhere },
				{ .func = func, .file = user } };
	struct frame frames[] = { { &codes[0], 1 }, { &codes[1], 1 }, { &codes[2], 1 } };
	struct stack stack = { .frames = frames, .frame_count = 3 };

	(void)state;
	assert_int_equal(place_user_frame(&process, &stack), 1);
	codes[1].file = library;
	assert_int_equal(place_user_frame(&process, &stack), 2);
	stack.frame_count = 1;
	assert_int_equal(place_user_frame(&process, &stack), 0);
	stack.frame_count = 0;
	assert_int_equal(place_user_frame(&process, &stack), 0);
}

static void a_spawned_process_is_in_its_file(void **state)
{
	struct process process = { .cwd = cwd };
	char file[] = "/data/spawn.py";
	char library[] = "/usr/lib/python3.11/multiprocessing/spawn.py";
	char command[] = "<string>";
	struct code codes[] = { { .func = func, .file = file },
				{ .func = func, .file = library },
				{ .func = func, .file = command } };
	struct frame frames[] = { { &codes[0], 1 }, { &codes[1], 1 }, { &codes[2], 1 } };
	struct stack stack = { .frames = frames, .frame_count = 3 };
	struct stack typed = { .frames = frames + 1, .frame_count = 2 };

	(void)state;
	assert_int_equal(place_user_frame(&process, &stack), 0);
	assert_int_equal(place_user_frame(&process, &typed), 1);
}

static void a_place_is_escaped(void **state)
{
	char file[] = "/x/a\033.py";
	struct code code = { .func = func, .file = file };
	struct frame frame = { &code, 17 };
	struct buffer out = BUFFER_INIT;

	(void)state;
	place_append(&out, &frame);
	assert_string_equal(out.data, "a^[.py:17");
	buffer_reset(&out);
	frame.lineno = 0;
	place_append(&out, &frame);
	assert_string_equal(out.data, "a^[.py");
	buffer_clear(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(user_code_is_not_installed),
		cmocka_unit_test(the_agent_is_no_user_code),
		cmocka_unit_test(the_agent_is_not_where_one_is),
		cmocka_unit_test(a_library_that_the_agent_called_is_no_place),
		cmocka_unit_test(the_root_folder_holds_all),
		cmocka_unit_test(the_package_that_runs_is_user_code),
		cmocka_unit_test(a_console_script_is_where_its_package_is),
		cmocka_unit_test(the_top_user_frame_is_the_innermost),
		cmocka_unit_test(a_spawned_process_is_in_its_file),
		cmocka_unit_test(a_place_is_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
