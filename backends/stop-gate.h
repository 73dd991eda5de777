/*
 * stop-gate: requests that stop a process wait until the collectives in flight
 * in its job may last.
 *
 * An operation of torch.distributed takes its time-out when it begins. So the
 * agents raise the limits first (timeout-extension.h), and a request that stops a
 * process is sent when no operation with the old limit can be in flight any
 * more: gloo's deadlines are read (collective-deadline.h), operations of other backends
 * are taken to be over after a second. A request waits 3 s at most, as an
 * operation that hangs does not end, and not at all where no agent raises a
 * limit. Later requests for the same process wait behind: the order stays; but
 * `continue` withdraws the pauses that wait, which are answered then.
 * Requests to stop at exceptions are not delayed, as no exception is to be
 * missed, while the limits are being raised: stop_limit resumes in time what
 * waits in an operation that began before. Nor are the breakpoints that a rank
 * of a job of ours gets before it runs anything (ptrace/launched-programs.h): it would pass
 * them, and has begun no operation; an agent raises its limits once it answers.
 */
#ifndef BACKENDS_STOP_GATE_H
#define BACKENDS_STOP_GATE_H

#include <stdbool.h>
#include <sys/types.h>

#include "backends/backend.h"

struct message;
struct node;
struct stop_gate;

struct stop_gate *stop_gate_new(struct node *node);
/* Requests that wait are dropped without an answer. */
void stop_gate_free(struct stop_gate *gate);
/* True: the gate keeps a copy, and calls request_send() with it later. */
bool stop_gate_take(struct stop_gate *gate, pid_t pid, enum request_kind kind,
		    const struct message *request);

#endif
