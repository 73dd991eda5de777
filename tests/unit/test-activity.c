/* activity: what a thread does, from its stack or its system call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <cmocka.h>

#include "banned.h"
#include "base/array.h"
#include "scene.h"

#define C10D "torch/distributed/distributed_c10d.py"
#define USER " < train train.py:17 < <module> train.py:19"
#define QUEUE "wait lib/threading.py:320 < get lib/queue.py:171"

static void expect(const struct seen *seen, enum activity_kind kind, const char *name)
{
	struct scene scene;
	const struct thread *thread;

	scene_init(&scene);
	scene_start(&scene, 1);
	assert_int_equal(scene_see(&scene, seen), 0);
	thread = rank_main_thread(session_find_rank(&scene.session, 0));
	assert_string_equal(thread->activity.name, name);
	assert_int_equal(thread->activity.kind, kind);
	scene_clear(&scene);
}

static void frames_say_what_is_done(void **state)
{
	static const struct {
		const char *stack;
		enum activity_kind kind;
		const char *name;
	} rows[] = {
		{ "all_reduce " C10D ":3252" USER, ACTIVITY_PEERS, "all_reduce" },
		{ "barrier " C10D ":1 < wrapper torch/distributed/c10d_logger.py:83" USER,
		  ACTIVITY_PEERS, "barrier" },
		/* of one kind, what the user called */
		{ "broadcast " C10D ":1 < broadcast_object_list " C10D ":2" USER, ACTIVITY_PEERS,
		  "broadcast_object_list" },
		/* another kind inside of it says less */
		{ QUEUE " < all_reduce " C10D ":1" USER, ACTIVITY_PEERS, "all_reduce" },
		{ "all_gather_object " C10D
		  ":1 < save torch/distributed/checkpoint/state_dict_saver.py:9" USER,
		  ACTIVITY_PEERS, "all_gather_object" },
		{ QUEUE " < _try_get_data torch/utils/data/dataloader.py:1" USER, ACTIVITY_DATA,
		  "DataLoader wait" },
		{ "_next /w/agent/probetui/debugging/stop.py:150 < wait "
		  "/w/agent/probetui/debugging/stop.py:136 < park "
		  "/w/agent/probetui/debugging/engine.py:166 < excepthook "
		  "/w/agent/probetui/debugging/uncaught.py:145",
		  ACTIVITY_TEARDOWN, ACTIVITY_CAUGHT },
		{ "_next /w/agent/probetui/debugging/stop.py:150 < wait "
		  "/w/agent/probetui/debugging/stop.py:136 < _wait "
		  "/w/agent/probetui/debugging/reaching.py:267" USER,
		  ACTIVITY_LOCK, ACTIVITY_BROKEN },
		{ "save torch/serialization.py:9" USER, ACTIVITY_SAVE, "torch.save" },
		{ "backward torch/_tensor.py:1" USER, ACTIVITY_TRAIN, "backward" },
		{ "step torch/optim/adam.py:1" USER, ACTIVITY_TRAIN, "optimizer step" },
		{ QUEUE USER, ACTIVITY_LOCK, "queue get" },
		{ "wait lib/subprocess.py:1264 < run lib/subprocess.py:1" USER, ACTIVITY_LOCK,
		  "child wait" },
		{ "join lib/threading.py:1119 < _shutdown lib/threading.py:9", ACTIVITY_TEARDOWN,
		  "thread shutdown" },
		{ "destroy_process_group " C10D ":1" USER, ACTIVITY_TEARDOWN,
		  "destroy_process_group" },
		/* a file of the user's is not torch's, nor Python's */
		{ "all_reduce train.py:3" USER, ACTIVITY_LOCK, "lock" },
		{ "get queue.py:3" USER, ACTIVITY_LOCK, "lock" },
		/* what calls user code is not what is done now */
		{ "__getitem__ data.py:9 < fetch torch/utils/data/_utils/fetch.py:52" USER,
		  ACTIVITY_LOCK, "lock" },
		/* torch from a source tree */
		{ "all_reduce /home/me/pytorch/torch/distributed/distributed_c10d.py:3252 < "
		  "wrapper /home/me/pytorch/torch/distributed/c10d_logger.py:83" USER,
		  ACTIVITY_PEERS, "all_reduce" },
		{ "all_reduce /job/mytorch/distributed/distributed_c10d.py:1", ACTIVITY_LOCK,
		  "lock" },
		{ "", ACTIVITY_TEARDOWN, "interpreter shutdown" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct seen seen = { .pid = 100, .stack = rows[i].stack };

		expect(&seen, rows[i].kind, rows[i].name);
	}
}

static void else_the_system_call_does(void **state)
{
	static const struct {
		int syscall;
		uint64_t argument;
		enum activity_kind kind;
		const char *name;
	} rows[] = {
		{ SYS_clock_nanosleep, 1, ACTIVITY_SLEEP, "time.sleep" },
		{ SYS_pselect6, 0, ACTIVITY_SLEEP, "time.sleep" },
		{ SYS_pselect6, 4, ACTIVITY_LOCK, "poll" },
		{ SYS_recvfrom, 3, ACTIVITY_PEERS, "recv" },
		{ SYS_accept4, 3, ACTIVITY_PEERS, "accept" },
		{ SYS_pread64, 3, ACTIVITY_READ, "read" },
		{ SYS_write, 3, ACTIVITY_READ, "write" },
		{ SYS_futex, 3, ACTIVITY_LOCK, "lock" },
		{ SYS_wait4, 3, ACTIVITY_LOCK, "child wait" },
		{ SYS_getpid, 3, ACTIVITY_UNKNOWN, "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct seen seen = { .pid = 100,
				     .stack = "train train.py:3",
				     .syscall = rows[i].syscall,
				     .argument = rows[i].argument };

		expect(&seen, rows[i].kind, rows[i].name);
	}
}

static void the_c_function_says_more(void **state)
{
	static const char work[] = "torch._C._distributed_c10d.Work.wait";
	const struct {
		struct seen seen;
		enum activity_kind kind;
		const char *name;
	} rows[] = {
		{ { .stack = "train train.py:3", .call = work }, ACTIVITY_PEERS, "Work.wait" },
		/* a library that polls uses processor time, but waits */
		{ { .stack = "train train.py:3", .call = work, .state = "running" },
		  ACTIVITY_PEERS,
		  "Work.wait" },
		{ { .stack = "train train.py:3",
		    .call = "mpi4py.MPI.Intracomm.bcast",
		    .state = "running" },
		  ACTIVITY_PEERS,
		  "Intracomm.bcast" },
		{ { .stack = "train train.py:3", .call = "numpy.dot", .state = "running" },
		  ACTIVITY_COMPUTE,
		  "" },
		/* what the user called names it, unless that waits for nobody */
		{ { .stack = "all_reduce " C10D ":1" USER, .call = work },
		  ACTIVITY_PEERS,
		  "all_reduce" },
		{ { .stack = "step torch/optim/adam.py:1" USER, .call = work },
		  ACTIVITY_PEERS,
		  "Work.wait" },
		{ { .stack = QUEUE USER, .call = "_thread.lock.acquire" },
		  ACTIVITY_LOCK,
		  "queue get" },
		{ { .stack = "read lib/http/client.py:1" USER, .call = "socket.socket.recv_into" },
		  ACTIVITY_READ,
		  "http" },
		{ { .stack = "train train.py:3", .call = "_thread.lock.__enter__" },
		  ACTIVITY_LOCK,
		  "Lock.acquire" },
		{ { .stack = "train train.py:3", .call = "time.sleep" },
		  ACTIVITY_SLEEP,
		  "time.sleep" },
		{ { .stack = "train train.py:3",
		    .call = "socket.socket.recv",
		    .syscall = SYS_poll },
		  ACTIVITY_PEERS,
		  "socket.recv" },
		{ { .stack = "train train.py:3", .call = "posix.waitpid" },
		  ACTIVITY_LOCK,
		  "os.waitpid" },
		/* of other functions the system call says what they do */
		{ { .stack = "train train.py:3",
		    .call = "_io.FileIO.read",
		    .syscall = SYS_pread64 },
		  ACTIVITY_READ,
		  "FileIO.read" },
		{ { .stack = "train train.py:3", .call = "fetch" }, ACTIVITY_LOCK, "fetch" },
		{ { .stack = "train train.py:3", .call = "shards.Loader", .syscall = SYS_pread64 },
		  ACTIVITY_READ,
		  "Loader" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct seen seen = rows[i].seen;

		seen.pid = 100;
		expect(&seen, rows[i].kind, rows[i].name);
	}
}

static void running_threads_compute(void **state)
{
	struct seen seen = { .pid = 100, .stack = "train train.py:3", .state = "running" };

	(void)state;
	expect(&seen, ACTIVITY_COMPUTE, "");
	seen.state = "gil";
	expect(&seen, ACTIVITY_LOCK, "GIL wait");
	seen.state = "gc";
	expect(&seen, ACTIVITY_COMPUTE, "garbage collection");
	seen.state = "unknown";
	expect(&seen, ACTIVITY_UNKNOWN, "");
}

#define UNREAD "the system call could not be read: Too many open files"
#define UNKNOWN "? ?:0"

/* What could not be read is no reason to take a thread for something else. */
static void what_is_missing_is_not_guessed(void **state)
{
	static const struct {
		struct seen seen;
		enum activity_kind kind;
		const char *name;
	} rows[] = {
		/* the frames say it: the call does not matter */
		{ { .stack = "all_reduce " C10D ":1" USER, .syscall = -1 },
		  ACTIVITY_PEERS,
		  "all_reduce" },
		{ { .stack = "train train.py:3", .syscall = -1 }, ACTIVITY_UNKNOWN, "" },
		{ { .stack = "train train.py:3", .syscall = -1, .state = "unknown" },
		  ACTIVITY_UNKNOWN,
		  "" },
		/* only the times are missing */
		{ { .stack = "train train.py:3", .syscall = SYS_recvfrom },
		  ACTIVITY_PEERS,
		  "recv" },
		{ { .stack = "train train.py:3", .state = "running" }, ACTIVITY_COMPUTE, "" },
		/* outer frames may be a collective's */
		{ { .stack = QUEUE }, ACTIVITY_UNKNOWN, "" },
		{ { .stack = QUEUE " < " UNKNOWN USER }, ACTIVITY_UNKNOWN, "" },
		{ { .stack = UNKNOWN USER, .syscall = SYS_recvfrom }, ACTIVITY_UNKNOWN, "" },
		/* no frame at all is no interpreter's end then */
		{ { .stack = "" }, ACTIVITY_UNKNOWN, "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		struct seen seen = rows[i].seen;

		seen.pid = 100;
		seen.missing = UNREAD;
		expect(&seen, rows[i].kind, rows[i].name);
	}
}

static void a_card_has_five_columns(void **state)
{
	(void)state;
	for (int i = ACTIVITY_COMPUTE; i <= ACTIVITY_UNKNOWN; i++) {
		size_t length = strlen(activity_word((enum activity_kind)i));

		assert_true(length >= 1 && length <= 5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_say_what_is_done),
		cmocka_unit_test(else_the_system_call_does),
		cmocka_unit_test(the_c_function_says_more),
		cmocka_unit_test(running_threads_compute),
		cmocka_unit_test(what_is_missing_is_not_guessed),
		cmocka_unit_test(a_card_has_five_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
