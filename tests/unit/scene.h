/*
 * scene: a session for tests, filled the way a node fills it: by messages.
 *
 * Stacks are written innermost first, "load_batch train.py:5 < train
 * train.py:13". A file without a folder lies in /job; "torch/…" stands for
 * the installed torch, "lib/…" for Python's own library.
 */
#ifndef TESTS_UNIT_SCENE_H
#define TESTS_UNIT_SCENE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "model/session.h"

struct message;
struct strmap;

struct scene {
	struct session session;
	double now;
	uint64_t epoch;
	int64_t next_id;
	struct strmap *stacks; /* text -> its id, as a pointer */
	struct strmap *codes;
	struct error error;
	/* What was sent, after the session has taken it; may be NULL. */
	void (*sent)(const struct scene *scene, const struct message *message, void *data);
	void *sent_data;
};

/* A thread as one sample shows it. */
struct seen {
	int pid;
	int tid;	   /* 0: the main thread */
	const char *stack; /* NULL: unreadable */
	const char *state; /* NULL: blocked */
	int syscall;	   /* 0: futex */
	uint64_t argument;
	double cpu; /* seconds used so far */
	uint64_t switches;
	bool has_gil;
	const char *call;    /* the C function that it is in; NULL: unknown */
	uint64_t values;     /* hash of the values of its frames; 0: unknown */
	int holder;	     /* pid that holds the lock that it waits for; 0: unknown */
	const char *awaited; /* the child that it waits for, as pid 77; NULL: none */
	const char *missing; /* what of it could not be read; NULL: nothing */
};

#define WAITS(PID, LINE)                                                                           \
	{ .pid = (PID),                                                                            \
	  .stack = "all_reduce torch/distributed/distributed_c10d.py:"                             \
		   "3252 < wrapper torch/distributed/c10d_logger.py:83 "                           \
		   "< train train.py:" #LINE " < <module> train.py:19" }
#define LOADS "load_batch train.py:5 < train train.py:13 < <module> train.py:19"

void scene_init(struct scene *scene);
void scene_clear(struct scene *scene);
/* Sends a message; owned_body may be NULL. The session's answer. */
int scene_event(struct scene *scene, const char *name, json_t *owned_body);
int scene_response(struct scene *scene, const char *name, json_t *owned_body);
/* The same from text as scene_json() reads it. Fails the test if it is no JSON. */
int scene_text(struct scene *scene, const char *event, const char *text);
/* JSON from text, ' standing for "; NULL and *error. */
json_t *scene_json(const char *text, struct error *error);
/* A rank of the job at 127.0.0.1:29500, launcher 90, not yet discovered. */
json_t *scene_process(int rank, int pid, int world_size);
/* Ranks 0 to count - 1 with the pids 100, 101 …, and the end of discovery. */
void scene_start(struct scene *scene, int count);
void scene_discovered(struct scene *scene);
/* One sample of one process with one thread. */
int scene_see(struct scene *scene, const struct seen *seen);
/* The same with count threads, all of the first one's process. */
int scene_see_threads(struct scene *scene, const struct seen *seen, size_t count);
/* The node gives ids of stacks and codes anew. */
void scene_drop_stacks(struct scene *scene);
/* Moves the clock on. */
void scene_wait(struct scene *scene, double seconds);
/* The verdict on all so far. */
const struct verdict *scene_judge(struct scene *scene);

#endif
