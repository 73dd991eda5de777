/* collective: which lines of Python wait for all ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "base/array.h"
#include "model/activity.h"
#include "model/debug-state.h"
#include "model/source.h"
#include "scene.h"

struct line {
	const char *text;
	const char *name; /* NULL: none */
};

static void names_in_a_line(void **state)
{
	static const struct line lines[] = {
		{ "    dist.all_reduce(p.grad)", "all_reduce" },
		{ "work = all_gather_into_tensor(a, b)", "all_gather_into_tensor" },
		{ "dist.broadcast(t, 0)", "broadcast" },
		{ "t = torch.distributed.reduce(t, 0)", "reduce" },
		{ "accelerator.gather(x)", "gather" },
		{ "x = my_all_reduce(x)", NULL },
		{ "x.all_reduce_me(x)", NULL },
		{ "fn = dist.all_reduce", NULL },
		{ "def all_reduce(x):", NULL },
		{ "pass  # then dist.barrier()", NULL },
		{ "await asyncio.gather(a, b)", NULL },
		{ "functools.reduce(add, x)", NULL },
		{ "generator.send(None)", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(lines); i++) {
		const char *name = collective_of_line(lines[i].text);

		if (lines[i].name)
			assert_string_equal(name, lines[i].name);
		else
			assert_null(name);
	}
}

static void start(struct scene *scene, const char *stack)
{
	struct source *source = source_new("/job/train.py",
					   "def train():\n"
					   "    x = load()\n"
					   "    y = x\n"
					   "    dist.barrier()\n"
					   "def other():\n"
					   "    dist.all_reduce(x)\n"
					   "train()\n",
					   false, NULL);

	scene_init(scene);
	scene_start(scene, 2);
	scene_see(scene, &(struct seen){ .pid = 100, .stack = stack });
	session_add_source(&scene->session, 0, 100, source);
}

static void what_the_source_says(void **state)
{
	struct collective found;
	const struct rank *rank;
	struct scene scene;

	(void)state;
	start(&scene, "train train.py:2 < <module> train.py:7");
	rank = session_find_rank(&scene.session, 0);
	assert_false(collective_is_ahead(&found, &scene.session, rank, 0, false));
	assert_true(collective_is_ahead(&found, &scene.session, rank, 0, true));
	assert_string_equal(found.name, "barrier");
	assert_int_equal(found.line, 4);
	assert_false(collective_is_ahead(&found, &scene.session, rank, 1, true));
	/* No such frame. */
	assert_false(collective_is_ahead(&found, &scene.session, rank, 7, true));
	scene_clear(&scene);
}

/* A wrapper has another name, but peers were seen to wait in it. */
static void what_peers_do_there(void **state)
{
	struct seen waits = WAITS(101, 3);
	struct collective found;
	struct scene scene;

	(void)state;
	start(&scene, "train train.py:3 < <module> train.py:7");
	scene_see(&scene, &waits);
	assert_true(collective_is_ahead(&found, &scene.session,
					session_find_rank(&scene.session, 0), 0, false));
	assert_string_equal(found.name, "all_reduce");
	assert_int_equal(found.line, 3);
	scene_clear(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_in_a_line),
		cmocka_unit_test(what_the_source_says),
		cmocka_unit_test(what_peers_do_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
