/* verdict: its cost. The scenarios assert what it finds (scenarios/verdict.txt). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <cmocka.h>

#include "banned.h"
#include "scene.h"

#define RANKS 1024

static void a_thousand_ranks_are_judged_at_once(void **state)
{
	struct scene scene;
	struct timespec start;
	struct timespec end;
	double seconds;

	(void)state;
	scene_init(&scene);
	scene_start(&scene, RANKS);
	for (int look = 0; look < 2; look++) {
		for (int rank = 0; rank < RANKS; rank++) {
			struct seen seen = WAITS(100 + rank, 17);

			seen.stack = rank == 3 ? LOADS : seen.stack;
			assert_int_equal(scene_see(&scene, &seen), 0);
		}
		scene_wait(&scene, 540);
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
	assert_int_equal(scene_judge(&scene)->state, VERDICT_HUNG);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
	seconds = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
	print_message("# 1,024 ranks judged in %.2f ms\n", seconds * 1e3);
	assert_true(seconds < 0.5);
	scene_clear(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thousand_ranks_are_judged_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
