/*
 * activity: what a thread does, in the terms of a training script: "all_reduce", "DataLoader wait".
 * A table of known functions (name and file of Python frames) gives the activity; else the C
 * function that the thread is in, else the thread's system call.
 */
#ifndef MODEL_ACTIVITY_H
#define MODEL_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct rank;
struct session;
struct stack;

enum activity_kind {
	ACTIVITY_COMPUTE, /* runs Python or C code that has no row in the table */
	ACTIVITY_PEERS,	  /* waits for other ranks: collective, barrier, recv */
	ACTIVITY_DATA,	  /* waits for a DataLoader */
	ACTIVITY_SAVE,	  /* writes or reads a checkpoint */
	ACTIVITY_TRAIN,	  /* backward, optimizer step */
	ACTIVITY_SLEEP,
	ACTIVITY_LOCK,	   /* waits for a lock, queue, event, thread, child */
	ACTIVITY_READ,	   /* reads or writes a file or a pipe */
	ACTIVITY_TEARDOWN, /* handles an uncaught exception, or shuts down */
	ACTIVITY_UNKNOWN,
};

struct activity {
	enum activity_kind kind;
	char name[64];	    /* "all_reduce", "time.sleep", "DataLoader wait"; "": no row matched */
	size_t frame_index; /* index of the frame that matched; 0 for a C function or system call */
	/*
	 * The function asks again and again whether the wait is over: then neither wakes, processor
	 * time, nor changes of the frames that it calls show progress.
	 */
	bool is_polling;
};

struct thread;

/* Name of the activity of a rank that waits for a worker of its DataLoader. */
#define ACTIVITY_DATALOADER "DataLoader wait"

/* Name of an idle DataLoader worker's activity. */
#define ACTIVITY_WORKER_IDLE "worker idle"

/* Name of the activity of a rank that waits in breakpoint(ranks=…) of the probetui package. */
#define ACTIVITY_HOLD "probetui.breakpoint"

/* Name of the activity of a rank that its agent stopped at an uncaught exception. */
#define ACTIVITY_CAUGHT "stopped at an exception"

/* Name of the activity of a rank that stopped in its agent's debugger. */
#define ACTIVITY_BROKEN "stopped by its agent"

/* Names of the activities of a main thread while another thread runs the program's functions. */
#define ACTIVITY_RAY_LOOP "Ray task loop"
#define ACTIVITY_RPC_SHUTDOWN "rpc.shutdown"
#define ACTIVITY_EVENT_LOOP "event loop"

/* Names of the activities of functions that poll. */
#define ACTIVITY_DATASETS "datasets pool"
#define ACTIVITY_JOBLIB "joblib.Parallel"
#define ACTIVITY_MPI "mpi"

/* Returns the activity of a thread's newest sample. */
struct activity activity_of(const struct thread *thread);
/* Returns "wait", "sleep", "data", …: a word of at most 5 columns for a rank's card. */
const char *activity_word(enum activity_kind kind);
/* True for send, recv and the like: peers need not be in the same call. */
bool activity_is_point_to_point(const struct activity *activity);
/* True in a send or recv of torch.distributed, whose variables name the peer. */
bool activity_names_peer(const struct thread *thread);
/*
 * True if the thread waits for a collective of torch.distributed, which it may have called before
 * at another line: in Work.wait(), in backward().
 */
bool activity_is_collective(const struct thread *thread);
/* True for the functions that make process groups, such as init_process_group(). */
bool activity_is_setup(const struct activity *activity);
/* True for those that wait for a message. */
bool activity_is_receive(const struct activity *activity);
/* True if the main thread only waits, while another thread may run the program. */
bool activity_is_service(const struct activity *activity);
/* True if the thread with this stack runs the program, for a main thread with this activity. */
bool activity_is_served_by(const struct activity *activity, const struct stack *stack);
/* True if the rank waits at breakpoint(ranks=…) until the stopped ranks have resumed. */
bool activity_is_hold(const struct activity *activity);
/* True if a thread with this kind of activity waits for another thread, process, rank or file. */
bool activity_is_wait(enum activity_kind kind);

/*
 * Finds calls in a line of Python that wait for all ranks of a group, by the
 * functions' names. The module (torch.distributed, deepspeed, a wrapper) is not checked.
 */

/*
 * Returns the borrowed name of the first collective that text, a line of Python, calls; NULL: none.
 */
const char *collective_of_line(const char *text);

/* The collective in which a stopped rank will wait for its peers. */
struct collective {
	const char *name; /* borrowed */
	int line;
};

/*
 * True if the rank's current line, in the frame at depth, calls a collective, judged by the source
 * text or by peers that wait in a call from this line. is_far: searches also the later lines of the
 * function. Fills *collective if true.
 */
bool collective_is_ahead(struct collective *collective, const struct session *session,
			 const struct rank *rank, int depth, bool is_far);

#endif
