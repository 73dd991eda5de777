/*
 * activity: finds what a thread does, from its frames and its system call.
 *
 * Frames are searched from the innermost outwards through library code, up to and including the
 * first frame of user code: callers of that frame do not show what the thread does now. Of all
 * matching rows, the one whose kind has the highest weight wins (a DataLoader's wait is also a
 * queue's wait and a poll). Of rows with equal kinds, the outermost frame wins, because that is the
 * function that the user called (broadcast_object_list, not the broadcast in it). A call of a C
 * function that waits for other ranks counts as an innermost frame. If no row matches, the C
 * function that the thread is in decides (c-call.h), else a blocked thread's system call.
 */
#include "model/activity.h"

#include <ctype.h>
#include <string.h>
#include <sys/syscall.h>

#include "banned.h"
#include "base/array.h"
#include "model/c-call.h"
#include "model/debug-state.h"
#include "model/place.h"
#include "model/rank.h"
#include "model/session.h"
#include "model/source.h"
#include "model/wait-group.h"
#include "protocol/stack.h"

struct place_row {
	const char *func; /* "*": any function */
	const char *file; /* end of the path; if this text ends in '/': a folder in the path */
	enum activity_kind kind;
	const char *name; /* NULL: the function's */
};

#define C10D "torch/distributed/distributed_c10d.py"
#define FUNCTIONAL "torch/distributed/_functional_collectives.py"
#define DATALOADER "torch/utils/data/dataloader.py"
#define WORKER "torch/utils/data/_utils/worker.py"
#define INSTALLED "site-packages/"

static const struct place_row place_rows[] = {
	{ "all_gather", C10D, ACTIVITY_PEERS, NULL },
	{ "_all_gather_base", C10D, ACTIVITY_PEERS, NULL },
	{ "all_gather_coalesced", C10D, ACTIVITY_PEERS, NULL },
	{ "all_gather_into_tensor", C10D, ACTIVITY_PEERS, NULL },
	{ "all_gather_object", C10D, ACTIVITY_PEERS, NULL },
	{ "all_gather_single", C10D, ACTIVITY_PEERS, NULL },
	{ "all_reduce", C10D, ACTIVITY_PEERS, NULL },
	{ "all_reduce_coalesced", C10D, ACTIVITY_PEERS, NULL },
	{ "all_to_all", C10D, ACTIVITY_PEERS, NULL },
	{ "all_to_all_single", C10D, ACTIVITY_PEERS, NULL },
	{ "barrier", C10D, ACTIVITY_PEERS, NULL },
	{ "batch_isend_irecv", C10D, ACTIVITY_PEERS, NULL },
	{ "broadcast", C10D, ACTIVITY_PEERS, NULL },
	{ "broadcast_object_list", C10D, ACTIVITY_PEERS, NULL },
	{ "_coalescing_manager", C10D, ACTIVITY_PEERS, "coalesced" },
	{ "gather", C10D, ACTIVITY_PEERS, NULL },
	{ "gather_object", C10D, ACTIVITY_PEERS, NULL },
	{ "init_process_group", C10D, ACTIVITY_PEERS, NULL },
	{ "irecv", C10D, ACTIVITY_PEERS, NULL },
	{ "isend", C10D, ACTIVITY_PEERS, NULL },
	{ "monitored_barrier", C10D, ACTIVITY_PEERS, NULL },
	{ "new_group", C10D, ACTIVITY_PEERS, NULL },
	{ "recv", C10D, ACTIVITY_PEERS, NULL },
	{ "recv_object_list", C10D, ACTIVITY_PEERS, NULL },
	{ "reduce", C10D, ACTIVITY_PEERS, NULL },
	{ "reduce_scatter", C10D, ACTIVITY_PEERS, NULL },
	{ "_reduce_scatter_base", C10D, ACTIVITY_PEERS, NULL },
	{ "reduce_scatter_single", C10D, ACTIVITY_PEERS, NULL },
	{ "reduce_scatter_tensor", C10D, ACTIVITY_PEERS, NULL },
	{ "scatter", C10D, ACTIVITY_PEERS, NULL },
	{ "scatter_object_list", C10D, ACTIVITY_PEERS, NULL },
	{ "send", C10D, ACTIVITY_PEERS, NULL },
	{ "send_object_list", C10D, ACTIVITY_PEERS, NULL },
	{ "split_group", C10D, ACTIVITY_PEERS, NULL },
	{ "_store_based_barrier", C10D, ACTIVITY_PEERS, "store barrier" },
	{ "*", "torch/distributed/rendezvous.py", ACTIVITY_PEERS, "rendezvous" },
	{ "*", "torch/distributed/elastic/utils/store.py", ACTIVITY_PEERS, "store" },
	{ "all_gather_tensor", FUNCTIONAL, ACTIVITY_PEERS, NULL },
	{ "all_reduce", FUNCTIONAL, ACTIVITY_PEERS, NULL },
	{ "all_to_all_single", FUNCTIONAL, ACTIVITY_PEERS, NULL },
	{ "broadcast", FUNCTIONAL, ACTIVITY_PEERS, NULL },
	{ "reduce_scatter_tensor", FUNCTIONAL, ACTIVITY_PEERS, NULL },
	{ "wait", FUNCTIONAL, ACTIVITY_PEERS, "wait_tensor" },
	{ "wait_tensor", FUNCTIONAL, ACTIVITY_PEERS, NULL },
	{ "_sync_module_states", "torch/distributed/utils.py", ACTIVITY_PEERS, "parameter sync" },
	{ "_sync_params_and_buffers", "torch/distributed/utils.py", ACTIVITY_PEERS,
	  "parameter sync" },
	{ "_verify_param_shape_across_processes", "torch/distributed/utils.py", ACTIVITY_PEERS,
	  "parameter check" },
	{ "all_gather", "deepspeed/comm/comm.py", ACTIVITY_PEERS, NULL },
	{ "all_reduce", "deepspeed/comm/comm.py", ACTIVITY_PEERS, NULL },
	{ "barrier", "deepspeed/comm/comm.py", ACTIVITY_PEERS, NULL },
	{ "broadcast", "deepspeed/comm/comm.py", ACTIVITY_PEERS, NULL },
	{ "reduce_scatter_fn", "deepspeed/comm/comm.py", ACTIVITY_PEERS, "reduce_scatter" },
	{ "gather", "accelerate/utils/operations.py", ACTIVITY_PEERS, NULL },
	{ "reduce", "accelerate/utils/operations.py", ACTIVITY_PEERS, NULL },
	{ "wait_for_everyone", "accelerate/state.py", ACTIVITY_PEERS, NULL },
	{ "initialize", "jax/_src/distributed.py", ACTIVITY_PEERS, "jax.distributed.initialize" },
	{ "*", "jax/experimental/multihost_utils.py", ACTIVITY_PEERS, NULL },
	{ "shutdown", "torch/distributed/rpc/api.py", ACTIVITY_PEERS, ACTIVITY_RPC_SHUTDOWN },
	{ "rpc_sync", "torch/distributed/rpc/api.py", ACTIVITY_PEERS, NULL },
	{ "*", "mpi4py/util/pkl5.py", ACTIVITY_PEERS, ACTIVITY_MPI },
	/* our own package: ranks that wait while other ranks are stopped */
	{ "wait", "probetui/holds.py", ACTIVITY_PEERS, ACTIVITY_HOLD },
	/* libraries without rows of their own: names that only collectives have */
	{ "all_gather", INSTALLED, ACTIVITY_PEERS, NULL },
	{ "all_reduce", INSTALLED, ACTIVITY_PEERS, NULL },
	{ "all_to_all", INSTALLED, ACTIVITY_PEERS, NULL },
	{ "allgather", INSTALLED, ACTIVITY_PEERS, NULL },
	{ "allreduce", INSTALLED, ACTIVITY_PEERS, NULL },
	{ "alltoall", INSTALLED, ACTIVITY_PEERS, NULL },
	{ "barrier", INSTALLED, ACTIVITY_PEERS, NULL },
	{ "reduce_scatter", INSTALLED, ACTIVITY_PEERS, NULL },

	{ "_get_data", DATALOADER, ACTIVITY_DATA, ACTIVITY_DATALOADER },
	{ "_try_get_data", DATALOADER, ACTIVITY_DATA, ACTIVITY_DATALOADER },
	{ "fetch", "torch/utils/data/_utils/fetch.py", ACTIVITY_DATA, "DataLoader fetch" },
	{ "_worker_loop", WORKER, ACTIVITY_LOCK, ACTIVITY_WORKER_IDLE },
	{ "_shutdown_workers", DATALOADER, ACTIVITY_LOCK, "DataLoader shutdown" },

	{ "save", "torch/serialization.py", ACTIVITY_SAVE, "torch.save" },
	{ "load", "torch/serialization.py", ACTIVITY_SAVE, "torch.load" },
	{ "*", "torch/distributed/checkpoint/", ACTIVITY_SAVE, "checkpoint" },
	{ "*", "safetensors/torch.py", ACTIVITY_SAVE, "safetensors" },

	{ "backward", "torch/_tensor.py", ACTIVITY_TRAIN, NULL },
	{ "backward", "torch/autograd/__init__.py", ACTIVITY_TRAIN, NULL },
	{ "grad", "torch/autograd/__init__.py", ACTIVITY_TRAIN, NULL },
	{ "*", "torch/optim/", ACTIVITY_TRAIN, "optimizer step" },

	{ "synchronize", "torch/cuda/__init__.py", ACTIVITY_LOCK, "cuda synchronize" },
	{ "synchronize", "torch/cuda/streams.py", ACTIVITY_LOCK, "cuda synchronize" },
	{ "acquire", "threading.py", ACTIVITY_LOCK, "lock" },
	{ "wait", "threading.py", ACTIVITY_LOCK, "event" },
	{ "join", "threading.py", ACTIVITY_LOCK, "thread join" },
	{ "result", "concurrent/futures/_base.py", ACTIVITY_LOCK, "future" },
	{ "get", "queue.py", ACTIVITY_LOCK, "queue get" },
	{ "put", "queue.py", ACTIVITY_LOCK, "queue put" },
	{ "get", "multiprocessing/queues.py", ACTIVITY_LOCK, "queue get" },
	{ "put", "multiprocessing/queues.py", ACTIVITY_LOCK, "queue put" },
	{ "main_loop", "ray/_private/worker.py", ACTIVITY_LOCK, ACTIVITY_RAY_LOOP },
	{ "get", "multiprocessing/pool.py", ACTIVITY_LOCK, "pool" },
	{ "_retrieve", "joblib/parallel.py", ACTIVITY_LOCK, ACTIVITY_JOBLIB },
	{ "iflatmap_unordered", "datasets/utils/py_utils.py", ACTIVITY_LOCK, ACTIVITY_DATASETS },
	{ "wait", "multiprocessing/connection.py", ACTIVITY_LOCK, "pipe" },
	{ "_recv", "multiprocessing/connection.py", ACTIVITY_LOCK, "pipe" },
	{ "wait", "multiprocessing/synchronize.py", ACTIVITY_LOCK, "event" },
	{ "join", "multiprocessing/process.py", ACTIVITY_LOCK, "process join" },
	{ "wait", "multiprocessing/popen_fork.py", ACTIVITY_LOCK, "child wait" },
	{ "wait", "subprocess.py", ACTIVITY_LOCK, "child wait" },
	{ "communicate", "subprocess.py", ACTIVITY_LOCK, "child wait" },
	{ "run_forever", "asyncio/base_events.py", ACTIVITY_LOCK, ACTIVITY_EVENT_LOOP },

	{ "*", "http/client.py", ACTIVITY_READ, "http" },
	{ "*", "urllib3/", ACTIVITY_READ, "http" },

	{ "_shutdown", "threading.py", ACTIVITY_TEARDOWN, "thread shutdown" },
	{ "_exit_function", "multiprocessing/util.py", ACTIVITY_TEARDOWN, "child shutdown" },
	{ "_python_exit", "concurrent/futures/thread.py", ACTIVITY_TEARDOWN, "thread shutdown" },
	{ "_python_exit", "concurrent/futures/process.py", ACTIVITY_TEARDOWN, "child shutdown" },
	{ "destroy_process_group", C10D, ACTIVITY_TEARDOWN, NULL },
	{ "_abort_process_group", C10D, ACTIVITY_TEARDOWN, NULL },
	{ "park", "probetui/debugging/engine.py", ACTIVITY_TEARDOWN, ACTIVITY_CAUGHT },
	{ "wait", "probetui/debugging/stop.py", ACTIVITY_LOCK, ACTIVITY_BROKEN },
	{ "print_exception", "traceback.py", ACTIVITY_TEARDOWN, "traceback" },
	{ "print_exc", "traceback.py", ACTIVITY_TEARDOWN, "traceback" },
};

struct syscall_row {
	int number;
	bool needs_zero; /* the row matches only if the system call's first argument is 0 */
	enum activity_kind kind;
	const char *name;
};

/* Rows with needs_zero must precede other rows of the same number. */
static const struct syscall_row syscall_rows[] = {
	{ SYS_clock_nanosleep, false, ACTIVITY_SLEEP, "time.sleep" },
	{ SYS_nanosleep, false, ACTIVITY_SLEEP, "time.sleep" },
	/* time.sleep() before 3.11: select() without descriptors */
	{ SYS_pselect6, true, ACTIVITY_SLEEP, "time.sleep" },
	{ SYS_pselect6, false, ACTIVITY_LOCK, "poll" },
#ifdef SYS_select
	{ SYS_select, true, ACTIVITY_SLEEP, "time.sleep" },
	{ SYS_select, false, ACTIVITY_LOCK, "poll" },
	{ SYS_poll, false, ACTIVITY_LOCK, "poll" },
	{ SYS_epoll_wait, false, ACTIVITY_LOCK, "poll" },
	{ SYS_pause, false, ACTIVITY_LOCK, "pause" },
#endif
	{ SYS_ppoll, false, ACTIVITY_LOCK, "poll" },
	{ SYS_epoll_pwait, false, ACTIVITY_LOCK, "poll" },
	{ SYS_recvfrom, false, ACTIVITY_PEERS, "recv" },
	{ SYS_recvmsg, false, ACTIVITY_PEERS, "recv" },
	{ SYS_sendto, false, ACTIVITY_PEERS, "send" },
	{ SYS_sendmsg, false, ACTIVITY_PEERS, "send" },
	{ SYS_accept, false, ACTIVITY_PEERS, "accept" },
	{ SYS_accept4, false, ACTIVITY_PEERS, "accept" },
	{ SYS_connect, false, ACTIVITY_PEERS, "connect" },
	{ SYS_read, false, ACTIVITY_READ, "read" },
	{ SYS_readv, false, ACTIVITY_READ, "read" },
	{ SYS_pread64, false, ACTIVITY_READ, "read" },
	{ SYS_write, false, ACTIVITY_READ, "write" },
	{ SYS_writev, false, ACTIVITY_READ, "write" },
	{ SYS_pwrite64, false, ACTIVITY_READ, "write" },
	{ SYS_openat, false, ACTIVITY_READ, "open" },
	{ SYS_newfstatat, false, ACTIVITY_READ, "stat" },
	{ SYS_fsync, false, ACTIVITY_READ, "fsync" },
	{ SYS_flock, false, ACTIVITY_LOCK, "file lock" },
	{ SYS_fcntl, false, ACTIVITY_LOCK, "file lock" },
	{ SYS_futex, false, ACTIVITY_LOCK, "lock" },
	{ SYS_wait4, false, ACTIVITY_LOCK, "child wait" },
	{ SYS_waitid, false, ACTIVITY_LOCK, "child wait" },
	{ SYS_rt_sigtimedwait, false, ACTIVITY_LOCK, "signal" },
};

/* Weight of a kind when several rows match; the highest wins. */
static const int kind_weights[] = {
	[ACTIVITY_UNKNOWN] = 0, [ACTIVITY_COMPUTE] = 1,	 [ACTIVITY_SLEEP] = 2, [ACTIVITY_READ] = 3,
	[ACTIVITY_LOCK] = 4,	[ACTIVITY_TRAIN] = 5,	 [ACTIVITY_SAVE] = 6,  [ACTIVITY_DATA] = 7,
	[ACTIVITY_PEERS] = 8,	[ACTIVITY_TEARDOWN] = 9,
};

static const char *const kind_words[] = {
	[ACTIVITY_COMPUTE] = "run", [ACTIVITY_PEERS] = "wait",	[ACTIVITY_DATA] = "data",
	[ACTIVITY_SAVE] = "save",   [ACTIVITY_TRAIN] = "train", [ACTIVITY_SLEEP] = "sleep",
	[ACTIVITY_LOCK] = "lock",   [ACTIVITY_READ] = "read",	[ACTIVITY_TEARDOWN] = "exit",
	[ACTIVITY_UNKNOWN] = "?",
};

static struct activity activity_make(enum activity_kind kind, const char *name, size_t frame_index)
{
	struct activity activity = { .kind = kind, .frame_index = frame_index };

	snprintf(activity.name, sizeof(activity.name), "%s", name);
	return activity;
}

/*
 * True if file ends in wanted or, if wanted ends in '/', contains that folder; the match must begin
 * at the start of a path component.
 */
static bool file_matches(const char *file, const char *wanted)
{
	size_t length = strlen(file);
	size_t wanted_length = strlen(wanted);
	const char *found;

	if (wanted[wanted_length - 1] == '/') {
		found = strstr(file, wanted);
		return found && (found == file || found[-1] == '/');
	}
	if (length < wanted_length)
		return false;
	found = file + length - wanted_length;
	return strcmp(found, wanted) == 0 && (found == file || found[-1] == '/');
}

static const struct place_row *activity_find_row(const struct code *code)
{
	for (size_t i = 0; i < ARRAY_LENGTH(place_rows); i++) {
		const struct place_row *row = &place_rows[i];

		if (row->func[0] != '*' && strcmp(row->func, code->func) != 0)
			continue;
		/* A user's own queue.py or threading.py is not a library's file. */
		if (file_matches(code->file, row->file) && place_is_library(code->file))
			return row;
	}
	return NULL;
}

/* True for the placeholder of a code object that the node could not read. */
static bool activity_is_unknown(const struct code *code)
{
	return strcmp(code->func, "?") == 0 && strcmp(code->file, "?") == 0;
}

/* True for the activities of rows whose functions poll. */
static bool activity_polls(const char *name)
{
	static const char *const names[] = {
		ACTIVITY_DATASETS,
		ACTIVITY_JOBLIB,
		ACTIVITY_MPI,
		ACTIVITY_RAY_LOOP,
		/* TCPStore asks again and again how many workers have come. */
		"init_process_group",
	};

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

/*
 * Sets *is_reached if the search comes to a frame of user code. False: no row matches, and the
 * call waits for no rank.
 */
static bool activity_of_frames(const struct stack *stack, const struct c_call *call,
			       struct activity *activity, bool *is_reached)
{
	const struct place_row *best = NULL;
	int best_weight = call->is_collective ? kind_weights[call->kind] : 0;
	size_t best_index = 0;
	const char *name;

	*is_reached = false;

	for (size_t i = 0; i < stack->frame_count; i++) {
		const struct code *code = stack->frames[i].code;
		const struct place_row *row = activity_find_row(code);

		if (row && kind_weights[row->kind] >= best_weight) {
			best = row;
			best_weight = kind_weights[row->kind];
			best_index = i;
		}
		if (activity_is_unknown(code))
			break;
		if (code->type == FRAME_PYTHON && !place_is_library(code->file) &&
		    !place_is_generated(stack, i)) {
			*is_reached = true;
			break;
		}
	}
	if (!best && !call->is_collective)
		return false;
	if (!best) {
		*activity = activity_make(call->kind, call->name, 0);
		activity->is_polling = call->is_polling;
		return true;
	}
	name = best->name ? best->name : stack->frames[best_index].code->func;
	*activity = activity_make(best->kind, name, best_index);
	activity->is_polling = activity_polls(name);
	return true;
}

static struct activity activity_of_syscall(const struct thread_sample *sample)
{
	for (size_t i = 0; i < ARRAY_LENGTH(syscall_rows); i++) {
		const struct syscall_row *row = &syscall_rows[i];

		if (row->number != sample->syscall)
			continue;
		/* select()'s nfds is an int: the upper half of the register is undefined. */
		if (row->needs_zero && (uint32_t)sample->argument != 0)
			continue;
		return activity_make(row->kind, row->name, 0);
	}
	return activity_make(ACTIVITY_UNKNOWN, "", 0);
}

/*
 * True if the missing part of a sample could change the result: a lock may be part of a collective
 * whose outer frames are missing, and a thread whose system call is missing may wait for its peers
 * instead of sleeping.
 */
static bool lacks(const struct thread_sample *sample, bool has_place, bool is_reached)
{
	bool has_state = sample->state != THREAD_UNKNOWN &&
			 (sample->state != THREAD_BLOCKED || sample->syscall >= 0);

	return sample->missing && (!is_reached || !(has_place || has_state));
}

/* A function without a row has its name, and the kind of its system call. */
static struct activity activity_of_blocked(const struct thread_sample *sample,
					   const struct c_call *call)
{
	struct activity activity = activity_of_syscall(sample);

	if (call->name[0])
		snprintf(activity.name, sizeof(activity.name), "%s", call->name);
	return activity;
}

struct activity activity_of(const struct thread *thread)
{
	const struct thread_sample *sample = &thread->sample;
	struct c_call call = { .kind = ACTIVITY_UNKNOWN };
	struct activity activity;
	bool is_reached = false;
	bool has_place;

	if (sample->state == THREAD_GIL)
		return activity_make(ACTIVITY_LOCK, "GIL wait", 0);
	if (sample->call)
		call = c_call_find(sample->call);
	/* A thread that holds the GIL may be about to make the call, or to return from it. */
	if (sample->state == THREAD_RUNNING && sample->has_gil && !call.is_collective)
		call = (struct c_call){ .kind = ACTIVITY_UNKNOWN };
	has_place =
		sample->stack && activity_of_frames(sample->stack, &call, &activity, &is_reached);
	if (lacks(sample, has_place || call.kind != ACTIVITY_UNKNOWN, is_reached))
		return activity_make(ACTIVITY_UNKNOWN, "", 0);
	if (has_place)
		return activity;
	if (call.kind != ACTIVITY_UNKNOWN)
		return activity_make(call.kind, call.name, 0);
	/* The interpreter shuts down: the main thread has left its last frame. */
	if (sample->is_main && sample->stack && sample->stack->frame_count == 0)
		return activity_make(ACTIVITY_TEARDOWN, "interpreter shutdown", 0);
	switch (sample->state) {
	case THREAD_RUNNING:
	case THREAD_GIL:
		return activity_make(ACTIVITY_COMPUTE, "", 0);
	case THREAD_GC:
		return activity_make(ACTIVITY_COMPUTE, "garbage collection", 0);
	case THREAD_BLOCKED:
	case THREAD_STOPPED:
		return activity_of_blocked(sample, &call);
	case THREAD_UNKNOWN:
		break;
	}
	return activity_make(ACTIVITY_UNKNOWN, "", 0);
}

const char *activity_word(enum activity_kind kind)
{
	return kind_words[kind];
}

bool activity_is_point_to_point(const struct activity *activity)
{
	static const char *const names[] = {
		"send",
		"recv",
		"isend",
		"irecv",
		"send_object_list",
		"recv_object_list",
		"batch_isend_irecv",
		"coalesced",
		"accept",
		"connect",
		"recv_into",
		"recvfrom",
		"recvmsg",
		"sendall",
		"sendto",
		"sendmsg",
	};
	/* Of "socket.recv" or "Intracomm.Recv" the function. */
	const char *dot = strrchr(activity->name, '.');
	const char *name = dot ? dot + 1 : activity->name;

	if (activity->kind != ACTIVITY_PEERS)
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		if (strcasecmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

/* The file of the frame that shows the activity; "": the C function or the system call does. */
static const char *activity_file(const struct thread *thread)
{
	const struct stack *stack = thread->sample.stack;

	return stack && thread->activity.frame_index < stack->frame_count
		       ? stack->frames[thread->activity.frame_index].code->file
		       : "";
}

bool activity_names_peer(const struct thread *thread)
{
	return activity_is_point_to_point(&thread->activity) &&
	       file_matches(activity_file(thread), C10D);
}

/* Functions that wait for the store, of which no Flight Recorder has an entry. */
static bool is_setup(const char *name)
{
	static const char *const names[] = { "init_process_group", "new_group", "split_group" };

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

bool activity_is_setup(const struct activity *activity)
{
	return activity->kind == ACTIVITY_PEERS && is_setup(activity->name);
}

bool activity_is_collective(const struct thread *thread)
{
	static const char module[] = "torch._C._distributed_c10d.";
	static const char *const files[] = {
		C10D,
		FUNCTIONAL,
		"torch/distributed/utils.py",
		"deepspeed/comm/comm.py",
		"accelerate/utils/operations.py",
		"accelerate/state.py",
	};
	const struct activity *activity = &thread->activity;
	const char *call = thread->sample.call;

	if (activity->kind == ACTIVITY_TRAIN)
		return true;
	if (activity->kind != ACTIVITY_PEERS || activity_is_point_to_point(activity) ||
	    is_setup(activity->name))
		return false;
	if (call && strncmp(call, module, strlen(module)) == 0)
		return !strstr(call, "Store.");
	for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
		if (file_matches(activity_file(thread), files[i]))
			return true;
	}
	return false;
}

bool activity_is_receive(const struct activity *activity)
{
	return activity_is_point_to_point(activity) && strcasestr(activity->name, "recv");
}

/* Main threads that wait while a thread with a frame of these files runs the program. */
static const struct {
	const char *activity;
	const char *file; /* as in place_rows */
} service_rows[] = {
	{ ACTIVITY_RAY_LOOP, "ray/train/" },
	{ ACTIVITY_RPC_SHUTDOWN, "torch/distributed/rpc/internal.py" },
	{ ACTIVITY_EVENT_LOOP, "distributed/threadpoolexecutor.py" },
};

bool activity_is_service(const struct activity *activity)
{
	for (size_t i = 0; i < ARRAY_LENGTH(service_rows); i++) {
		if (strcmp(activity->name, service_rows[i].activity) == 0)
			return true;
	}
	return false;
}

bool activity_is_served_by(const struct activity *activity, const struct stack *stack)
{
	for (size_t i = 0; i < ARRAY_LENGTH(service_rows); i++) {
		if (strcmp(activity->name, service_rows[i].activity) != 0)
			continue;
		for (size_t j = 0; j < stack->frame_count; j++) {
			if (file_matches(stack->frames[j].code->file, service_rows[i].file))
				return true;
		}
	}
	return false;
}

bool activity_is_hold(const struct activity *activity)
{
	return activity->kind == ACTIVITY_PEERS && strcmp(activity->name, ACTIVITY_HOLD) == 0;
}

bool activity_is_wait(enum activity_kind kind)
{
	return kind == ACTIVITY_PEERS || kind == ACTIVITY_DATA || kind == ACTIVITY_LOCK ||
	       kind == ACTIVITY_READ;
}

struct name {
	const char *name;
	bool is_common; /* counts only behind "dist." or another prefix */
};

static const struct name names[] = {
	{ "all_reduce", false },
	{ "all_reduce_coalesced", false },
	{ "allreduce", false },
	{ "all_gather", false },
	{ "all_gather_coalesced", false },
	{ "all_gather_into_tensor", false },
	{ "all_gather_object", false },
	{ "all_gather_tensor", false },
	{ "allgather", false },
	{ "all_to_all", false },
	{ "all_to_all_single", false },
	{ "alltoall", false },
	{ "barrier", false },
	{ "monitored_barrier", false },
	{ "wait_for_everyone", false },
	{ "broadcast_object_list", false },
	{ "gather_object", false },
	{ "scatter_object_list", false },
	{ "reduce_scatter", false },
	{ "reduce_scatter_tensor", false },
	{ "init_process_group", false },
	{ "new_group", false },
	{ "broadcast", true },
	{ "gather", true },
	{ "scatter", true },
	{ "reduce", true },
	{ "send", true },
	{ "recv", true },
};

static const char *const prefixes[] = { "dist.", "distributed.", "comm.", "accelerator.", "hvd." };

static bool is_part_of_name(char character)
{
	return isalnum((unsigned char)character) || character == '_';
}

static bool is_behind_prefix(const char *text, const char *at)
{
	for (size_t i = 0; i < ARRAY_LENGTH(prefixes); i++) {
		size_t length = strlen(prefixes[i]);

		if ((size_t)(at - text) >= length && memcmp(at - length, prefixes[i], length) == 0)
			return true;
	}
	return false;
}

/* True if text calls the function before any comment; "def name(" is not a call. */
static bool calls(const char *text, const struct name *row)
{
	size_t length = strlen(row->name);
	const char *end = text + strcspn(text, "#");
	const char *at = text;

	while ((at = strstr(at, row->name)) && at < end) {
		const char *behind = at + length;
		bool is_whole = at == text || !is_part_of_name(at[-1]);
		bool is_made = at - text >= 4 && memcmp(at - 4, "def ", 4) == 0;

		if (is_whole && !is_made && *behind == '(' &&
		    (!row->is_common || is_behind_prefix(text, at)))
			return true;
		at = behind;
	}
	return false;
}

const char *collective_of_line(const char *text)
{
	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		if (calls(text, &names[i]))
			return names[i].name;
	}
	return NULL;
}

static const struct frame *collective_frame_of(const struct rank *rank, int depth)
{
	const struct thread *thread = debug_state_thread(rank);
	const struct stack *stack = thread ? thread->sample.stack : NULL;

	if (!stack || depth < 0 || (size_t)depth >= stack->frame_count)
		return NULL;
	return &stack->frames[depth];
}

/*
 * Finds a peer that waits in a collective called from frame's line; returns the collective's name,
 * NULL: no such peer.
 */
static const char *collective_find_peer(const struct session *session, const struct frame *frame)
{
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *peer = session->ranks[i];
		const struct thread *thread = rank_main_thread(peer);
		const struct stack *stack = thread ? thread->sample.stack : NULL;

		if (wait_group_role_of(peer) != WAIT_GROUP_WAITS)
			continue;
		for (size_t j = 0; stack && j < stack->frame_count; j++) {
			const struct frame *own = &stack->frames[j];

			if (own->lineno == frame->lineno &&
			    strcmp(own->code->func, frame->code->func) == 0 &&
			    strcmp(own->code->file, frame->code->file) == 0)
				return thread->activity.name;
		}
	}
	return NULL;
}

bool collective_is_ahead(struct collective *collective, const struct session *session,
			 const struct rank *rank, int depth, bool is_far)
{
	const struct frame *frame = collective_frame_of(rank, depth);
	const struct source *source;
	int last;

	if (!frame)
		return false;
	*collective = (struct collective){ collective_find_peer(session, frame), frame->lineno };
	if (collective->name)
		return true;
	source = session_find_source(session, rank->node, rank->process.pid, frame->code->file);
	if (!source)
		return false;
	last = frame->lineno;
	if (is_far)
		last = source_function_end(source,
					   place_is_module(frame) ? 0 : frame->code->first_lineno,
					   frame->lineno);
	for (int line = frame->lineno; line <= last; line++) {
		const char *text = source_line(source, line);

		collective->name = text ? collective_of_line(text) : NULL;
		collective->line = line;
		if (collective->name)
			return true;
	}
	return false;
}
