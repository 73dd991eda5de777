/*
 * native: the one thread of a node that unwinds stacks and reads symbols, so
 * that the loop never waits for a file. One job a process at a time, jobs one
 * after the other; all they use is theirs alone while they run.
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

/*
 * say: called while symbols are being read, some times a second, and once
 * with total 0 at the end.
 */
struct native *native_new(struct loop *loop,
			  void (*say)(const struct progress_state *state, void *data), void *data);
/*
 * Before the loop, and after all its processes. A job that runs is told to
 * end, and the loop does not end before it.
 */
void native_free(struct native *native);
/* 0: native frames can be had; -1 and a sentence. */
int native_open(struct native *native, struct error *error);

/*
 * interpreter: an address in the process that lies in the interpreter's file.
 * done is called on the loop with what was given to native_start(), unwound,
 * and lends it for the call.
 */
struct native_process *native_process_new(struct native *native, pid_t pid, uint64_t interpreter,
					  void (*done)(struct capture_set *captures, void *data),
					  void *data);
/* done is not called any more. */
void native_process_free(struct native_process *process);
bool native_is_busy(const struct native_process *process);
/* Takes the captures out of *captures. The process is not busy. */
void native_start(struct native_process *process, struct capture_set *captures);

#endif
