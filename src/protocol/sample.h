/*
 * sample: the threads of one process at one time; the body of the event `sampled`.
 */
#ifndef PROTOCOL_SAMPLE_H
#define PROTOCOL_SAMPLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct stack;
struct stack_table;

#define SAMPLE_THREADS_MAXIMUM 4096

enum thread_state {
	THREAD_RUNNING, /* on a CPU or runnable */
	THREAD_BLOCKED, /* in a system call */
	THREAD_GIL,	/* waiting for the GIL */
	THREAD_GC,	/* in the garbage collector */
	THREAD_STOPPED, /* stopped by a signal or a tracer */
	THREAD_UNKNOWN,
};

enum exactness {
	EXACT,	    /* the thread could not run while it was read */
	CONSISTENT, /* two reads agree; the thread may have run between them */
	TORN,	    /* the two reads differ: frames may not belong together */
};

struct thread_sample {
	pid_t tid;	/* thread ID; for an asyncio task its number, negated */
	pid_t loop_tid; /* tid of the thread that runs the asyncio task; 0: not a task */
	char *name;	/* NULL: unknown */
	bool is_main;
	bool has_gil;
	bool is_gil_known;
	enum thread_state state;
	enum exactness exactness;
	int interpreter;   /* number of the interpreter; 0: the main one */
	int syscall;	   /* system call number; -1: none or unknown */
	uint64_t argument; /* first argument of the system call */
	char wchan[48];	   /* kernel function that the thread sleeps in; "": unknown */
	/* C function that the innermost frame calls: "_thread.lock.acquire"; NULL: unknown, none */
	char *call;
	/* name of the child that the thread waits for in wait4(2); NULL: unknown, none */
	char *awaited;
	/* uncaught exception after which a main thread shuts down: "ValueError: no"; NULL: none */
	char *raised;
	/* its traceback, the innermost frame first, borrowed; NULL: not known */
	const struct stack *raised_stack;
	pid_t holder; /* process that holds the file's lock that the thread waits for; 0: unknown */
	/* hash of the values of its frames, if it is in a call and has run; 0: not read */
	uint64_t values;
	uint64_t cpu_ns;	   /* CPU time used since the thread's start, nanoseconds */
	uint64_t switches;	   /* number of times the thread was scheduled */
	const struct stack *stack; /* Python stack, borrowed from the table; NULL: not read */
	/* The Python stack merged with native frames, borrowed; NULL: not requested, or none. */
	const struct stack *native;
	char *error; /* why the stack is missing or short; NULL: no error */
	/* Which parts of the sample could not be read, and why; NULL: it is complete. */
	char *missing;
};

struct process_sample {
	pid_t pid;
	uint64_t epoch; /* number of this sample; the node counts the samples of each process */
	double time;	/* seconds on the node's monotonic clock */
	/* nanoseconds for which the process was stopped to take this sample */
	uint64_t held_ns;
	uint64_t syscalls; /* system calls that the node made for this sample */
	uint64_t memory;   /* resident bytes; 0: unknown */
	char *error;	   /* why nothing could be read; NULL: no error */
	/* backend that sent the sample, "http"; NULL: the node has read the memory */
	char *source;
	struct thread_sample *threads; /* main thread first */
	size_t thread_count;
	size_t thread_capacity;
};

/* Frees the members; the sample is then empty and usable. */
void process_sample_clear(struct process_sample *sample);
/*
 * Appends a thread with zeroed members (but state THREAD_UNKNOWN and syscall -1) and returns it,
 * borrowed until the next thread is added.
 */
struct thread_sample *process_sample_add(struct process_sample *sample);

const char *thread_state_name(enum thread_state state); /* "running" … */
const char *exactness_name(enum exactness exactness);	/* "exact" … */

/*
 * Returns the JSON of a sample, a new reference. A thread refers to its stack by id; "stacks" has
 * the stacks that were not sent before (stack_table_send()).
 */
json_t *process_sample_to_json(struct process_sample *sample, struct stack_table *table);
/*
 * Reads json into *sample, which is cleared first, and its stacks into table. Returns 0; -1 and
 * *error.
 */
int process_sample_from_json(struct process_sample *sample, struct stack_table *table,
			     const json_t *json, struct error *error);

#endif
