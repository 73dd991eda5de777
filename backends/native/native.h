/*
 * native: unwinds stacks and reads symbols on one other thread of the node, so that the loop never
 * waits for a file. Each process has at most one job at a time; jobs run one after the other, and a
 * running job is the only user of its data.
 */
#ifndef BACKENDS_NATIVE_NATIVE_H
#define BACKENDS_NATIVE_NATIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/native/progress.h"

struct capture_set;
struct error;
struct loop;
struct native;
struct native_process;

/* say: called some times per second while symbols are read, and once with total 0 at the end. */
struct native *native_new(struct loop *loop,
			  void (*say)(const struct progress_state *state, void *data), void *data);
/*
 * Call before the loop is freed, and after all native_process_free(). A running job is cancelled;
 * the loop does not end before the job has ended.
 */
void native_free(struct native *native);
/* Loads the unwinder. Returns 0, or -1 with *error set: native frames are unavailable. */
int native_open(struct native *native, struct error *error);

/*
 * interpreter: an address of the process within the interpreter's file. done is called on the loop
 * with the captures of native_start(), now unwound, which are borrowed for the call.
 */
struct native_process *native_process_new(struct native *native, pid_t pid, uint64_t interpreter,
					  void (*done)(struct capture_set *captures, void *data),
					  void *data);
/* done is not called any more, also for a running job. */
void native_process_free(struct native_process *process);
bool native_is_busy(const struct native_process *process);
/* Starts a job; moves the captures out of *captures. The process must not be busy. */
void native_start(struct native_process *process, struct capture_set *captures);

#endif
