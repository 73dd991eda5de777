/*
 * sample: what a node saw of one process at one time, thread by thread. The
 * body of the event `sampled`.
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
	THREAD_RUNNING, /* on a processor or ready for one */
	THREAD_BLOCKED, /* in a system call */
	THREAD_GIL,	/* waits for the GIL */
	THREAD_GC,	/* in the garbage collector */
	THREAD_STOPPED, /* stopped by a signal or a tracer */
	THREAD_UNKNOWN,
};

enum exactness {
	EXACT,	    /* the thread could not move while it was read */
	CONSISTENT, /* two copies agree; it may have moved */
	TORN,	    /* the copies differ: frames may not belong together */
};

struct thread_sample {
	pid_t tid;	/* an asyncio task: its number, negated */
	pid_t loop_tid; /* the thread that runs the task; 0: it is none */
	char *name;	/* NULL: unknown */
	bool is_main;
	bool has_gil;
	bool is_gil_known;
	enum thread_state state;
	enum exactness exactness;
	int interpreter;	   /* 0: the main one */
	int syscall;		   /* number, -1: none or unknown */
	uint64_t argument;	   /* its first argument */
	char wchan[48];		   /* kernel function it sleeps in, "" unknown */
	uint64_t cpu_ns;	   /* processor time used so far */
	uint64_t switches;	   /* times it was given a processor so far */
	const struct stack *stack; /* borrowed from the table; NULL: unreadable */
	/* Merged with native frames; borrowed; NULL: not asked for, or none. */
	const struct stack *native;
	char *error; /* why the stack is missing or short; NULL: fine */
	/* What could not be read, and why; NULL: it is whole. */
	char *missing;
};

struct process_sample {
	pid_t pid;
	uint64_t epoch;		       /* counts this process's samples */
	double time;		       /* node's monotonic clock, seconds */
	uint64_t held_ns;	       /* how long the process was held for this sample */
	uint64_t syscalls;	       /* what taking the sample cost the node */
	uint64_t memory;	       /* resident bytes; 0 unknown */
	char *error;		       /* nothing could be read; NULL: fine */
	char *source;		       /* who told it: "http"; NULL: read from outside */
	struct thread_sample *threads; /* main thread first */
	size_t thread_count;
	size_t thread_capacity;
};

/* Frees all; the sample is empty and usable. */
void process_sample_clear(struct process_sample *sample);
/* Lends a new zeroed thread at the end (state unknown, syscall -1). */
struct thread_sample *process_sample_add(struct process_sample *sample);

const char *thread_state_name(enum thread_state state); /* "running" … */
const char *exactness_name(enum exactness exactness);	/* "exact" … */

/*
 * To JSON: new stacks are sent along as "stacks": [see stack_table_send]; a
 * thread names its stack by id.
 */
json_t *process_sample_to_json(struct process_sample *sample, struct stack_table *table);
/* From JSON, into table and *sample (cleared first). */
int process_sample_from_json(struct process_sample *sample, struct stack_table *table,
			     const json_t *json, struct error *error);

#endif
