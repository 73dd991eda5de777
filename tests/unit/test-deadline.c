/* deadline: what a thread of gloo waits until is read from outside. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "banned.h"

#include "backends/collective-deadline.h"
#include "base/loop.h"

#define LIMIT 1000
#define LOOKS 1000

static void lines_of_the_kernel(void **state)
{
	uint64_t address = 0;
	bool is_realtime = true;

	(void)state;
	assert_true(collective_deadline_parse(
		"202 0x7f01 0x189 0x0 0x7f55aa 0x0 0xffffffff 0x7f56 0x7f57", &address,
		&is_realtime));
	assert_int_equal(address, 0x7f55aa);
	assert_true(is_realtime);
	assert_true(collective_deadline_parse(
		"202 0x7f01 0x89 0x0 0x7f55aa 0x0 0xffffffff 0x7f56 0x7f57", &address,
		&is_realtime));
	assert_false(is_realtime);
	/* What a tracer has interrupted is restarted; poll(2) of 137 files. */
	assert_true(collective_deadline_parse(
		"219 0x7f01 0x89 0x0 0x7f55aa 0x0 0xffffffff 0x7f56 0x7f57", &address,
		&is_realtime));
	assert_int_equal(address, 0x7f55aa);
	assert_false(collective_deadline_parse(
		"219 0x7f01 0x9 0x7d0 0x7f55aa 0x0 0x0 0x7f56 0x7f57", &address, &is_realtime));
	/* Without a limit; FUTEX_WAIT, whose time is relative; others. */
	assert_false(collective_deadline_parse(
		"202 0x7f01 0x189 0x0 0x0 0x0 0xffffffff 0x7f56 0x7f57", &address, &is_realtime));
	assert_false(collective_deadline_parse("202 0x7f01 0x80 0x0 0x7f55aa 0x0 0x0 0x7f56 0x7f57",
					       &address, &is_realtime));
	assert_false(collective_deadline_parse("7 0x1 0x189 0x0 0x7f55aa 0x0 0x0 0x1 0x2", &address,
					       &is_realtime));
	assert_false(collective_deadline_parse("running", &address, &is_realtime));
	assert_false(collective_deadline_parse("-1 0x7f56 0x7f57", &address, &is_realtime));
	assert_false(collective_deadline_parse("", &address, &is_realtime));
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t over = PTHREAD_COND_INITIALIZER;
static bool is_over;

static void *wait_with_limit(void *data)
{
	struct timespec until;

	pthread_setname_np(pthread_self(), data);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += LIMIT;
	pthread_mutex_lock(&lock);
	while (!is_over)
		pthread_cond_timedwait(&over, &lock, &until);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void a_thread_of_gloo(void **state)
{
	static char gloo[] = "pt_gloo_runloop";
	static char other[] = "worker";
	struct deadlines deadlines = { .count = 0 };
	pthread_t threads[2];
	double left = -1;

	(void)state;
	is_over = false;
	assert_int_equal(pthread_create(&threads[0], NULL, wait_with_limit, other), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, wait_with_limit, gloo), 0);
	while (left < 0) {
		deadlines_read(&deadlines, getpid());
		left = deadlines_left(&deadlines, loop_now());
		sched_yield();
	}
	assert_true(left <= LIMIT);
	assert_int_equal(deadlines.count, 1);
	assert_false(deadlines.waits[0].is_main);
	assert_true(deadlines.has_gloo);
	assert_false(deadlines.has_nccl);
	pthread_mutex_lock(&lock);
	is_over = true;
	pthread_cond_broadcast(&over);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	deadlines_read(&deadlines, getpid());
	assert_int_equal(deadlines.count, 0);
	assert_true(deadlines_left(&deadlines, loop_now()) < 0);
}

static void *wait_again_and_again(void *data)
{
	struct timespec until;

	pthread_setname_np(pthread_self(), data);
	pthread_mutex_lock(&lock);
	while (!is_over) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 5000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&over, &lock, &until);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* As a thread of gloo does that frees a tensor. */
static void a_wait_for_the_gil_is_none(void **state)
{
	static char gloo[] = "pt_gloo_runloop";
	struct deadlines deadlines = { .count = 0 };
	pthread_t thread;

	(void)state;
	is_over = false;
	assert_int_equal(pthread_create(&thread, NULL, wait_again_and_again, gloo), 0);
	while (!deadlines.has_gloo)
		deadlines_read(&deadlines, getpid());
	for (int i = 0; i < LOOKS; i++) {
		deadlines_read(&deadlines, getpid());
		assert_int_equal(deadlines.count, 0);
	}
	pthread_mutex_lock(&lock);
	is_over = true;
	pthread_cond_broadcast(&over);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_the_kernel),
		cmocka_unit_test(a_thread_of_gloo),
		cmocka_unit_test(a_wait_for_the_gil_is_none),
	};

	return cmocka_run_group_tests_name("deadline", tests, NULL, NULL);
}
