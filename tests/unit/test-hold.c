/* hold: whose threads it stops, and that each of them gets away again. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "banned.h"

#include "backends/backend.h"
#include "backends/tracer/freezer.h"
#include "backends/tracer/tracee.h"
#include "backends/tracer/waits.h"
#include "base/error.h"
#include "base/loop.h"

#define LIMIT_NS 120000000000u

/* A process and its child. The child spins; a byte has the parent kill it. */
struct family {
	pid_t parent;
	pid_t child;
	int orders;
	int answers;
};

static void be_child(void)
{
	for (;;)
		;
}

static void be_parent(int orders, int answers)
{
	char byte;
	pid_t child = fork();

	if (child == 0)
		be_child();
	if (write(answers, &child, sizeof(child)) < 0)
		_exit(1);
	if (read(orders, &byte, 1) < 0)
		_exit(1);
	kill(child, SIGKILL);
	if (write(answers, &byte, 1) < 0)
		_exit(1);
	if (waitpid(child, NULL, 0) != child || write(answers, &byte, 1) < 0)
		_exit(1);
	_exit(0);
}

static void start(struct family *family)
{
	int orders[2];
	int answers[2];

	assert_int_equal(pipe(orders), 0);
	assert_int_equal(pipe(answers), 0);
	family->parent = fork();
	assert_true(family->parent >= 0);
	if (family->parent == 0) {
		close(orders[1]);
		close(answers[0]);
		be_parent(orders[0], answers[1]);
	}
	close(orders[0]);
	close(answers[1]);
	family->orders = orders[1];
	family->answers = answers[0];
	assert_int_equal(read(family->answers, &family->child, sizeof(family->child)),
			 sizeof(family->child));
}

static void order_death(const struct family *family)
{
	char byte = 'x';

	assert_int_equal(write(family->orders, &byte, 1), 1);
	assert_int_equal(read(family->answers, &byte, 1), 1);
}

/* The parent could wait for its child: it says so and ends. */
static void await_end(const struct family *family)
{
	char byte;
	int status;

	alarm(20);
	assert_int_equal(read(family->answers, &byte, 1), 1);
	assert_int_equal(waitpid(family->parent, &status, 0), family->parent);
	alarm(0);
	assert_int_equal(status, 0);
	close(family->orders);
	close(family->answers);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool settle(struct freeze *hold)
{
	uint64_t began = now_ns();

	while (!freeze_settle(hold))
		if (now_ns() - began > LIMIT_NS)
			return false;
	return true;
}

/* One that gets no processor for 50 ms does not stand in time. */
static void begin(struct freeze *hold, pid_t child)
{
	uint64_t began = now_ns();
	struct error error;

	do {
		error = (struct error)ERROR_INIT;
		if (freeze_begin(hold, child, child, &error) == 0)
			return;
		assert_true(settle(hold));
	} while (now_ns() - began < LIMIT_NS);
	fail_msg("%s", error.message);
}

static void lets_go(void **state)
{
	struct family family;
	struct freeze hold;

	(void)state;
	start(&family);
	begin(&hold, family.child);
	assert_true(freeze_end(&hold) > 0);
	assert_int_equal(hold.tid, 0);
	order_death(&family);
	await_end(&family);
}

static void gives_a_dead_one_to_its_parent(void **state)
{
	struct family family;
	struct freeze hold;

	(void)state;
	start(&family);
	begin(&hold, family.child);
	order_death(&family);
	freeze_end(&hold);
	assert_true(settle(&hold));
	await_end(&family);
}

/* As begin(). */
static void begin_one(struct freezer *holds, pid_t child)
{
	uint64_t began = now_ns();
	struct error error;

	do {
		error = (struct error)ERROR_INIT;
		if (freezer_begin(holds, child, child, &error) == 0)
			return;
	} while (now_ns() - began < LIMIT_NS);
	fail_msg("%s", error.message);
}

static void gives_all_dead_ones_to_their_parents(void **state)
{
	struct freezer *holds = freezer_new(NULL);
	struct family families[3];
	uint64_t began;

	(void)state;
	for (int i = 0; i < 3; i++) {
		start(&families[i]);
		begin_one(holds, families[i].child);
		order_death(&families[i]);
		freezer_end(holds);
	}
	began = now_ns();
	while (freezer_settle(holds) > 0)
		assert_true(now_ns() - began < LIMIT_NS);
	for (int i = 0; i < 3; i++)
		await_end(&families[i]);
	freezer_free(holds);
}

static void leaves_another_process_alone(void **state)
{
	struct error error = ERROR_INIT;
	struct family family;
	struct freeze hold;

	(void)state;
	start(&family);
	assert_int_equal(freeze_begin(&hold, family.parent, family.child, &error), -1);
	assert_int_equal(hold.tid, 0);
	assert_non_null(strstr(error.message, "cannot be stopped"));
	order_death(&family);
	await_end(&family);
}

static void note_end(struct tracee *tracee, void *data)
{
	(void)tracee;
	*(bool *)data = true;
}

/* It ends well, so its status is 0, and just when it is to be held. */
static void leaves_its_end_to_who_traces_it(void **state)
{
	struct loop *loop = loop_new();
	struct waits *waits = waits_new(loop);
	struct error error = ERROR_INIT;
	bool has_ended = false;
	const struct tracee_calls calls = {
		.gone = note_end,
		.data = &has_ended,
	};
	struct reason reason;
	struct tracee *tracee;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		be_child();
	}
	tracee = tracee_new(waits, child, &calls, &reason);
	assert_non_null(tracee);
	waits_return(waits, child, 0);
	assert_int_equal(tracee_hold(tracee, child, &error), -1);
	assert_non_null(strstr(error.message, "has exited"));
	tracee_release(tracee, child);
	waits_take(waits);
	assert_true(has_ended);
	tracee_free(tracee);
	waits_free(waits);
	loop_free(loop);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lets_go),
		cmocka_unit_test(gives_a_dead_one_to_its_parent),
		cmocka_unit_test(gives_all_dead_ones_to_their_parents),
		cmocka_unit_test(leaves_another_process_alone),
		cmocka_unit_test(leaves_its_end_to_who_traces_it),
	};

	return cmocka_run_group_tests_name("hold", tests, NULL, NULL);
}
