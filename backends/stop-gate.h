/*
 * stop-gate: delays requests that stop a process until all collectives in flight
 * in its job have raised time-outs.
 *
 * An operation of torch.distributed takes its time-out when it begins. So the agents first raise
 * the time-outs (timeout-extension.h), and a request that stops a process is sent when no operation
 * with the old time-out is in flight: gloo's deadlines are read (collective-deadline.h), operations
 * of other backends are taken to be over after 1 s. A request waits 3 s at most, since an operation
 * that hangs does not end; where no agent raises time-outs, a request does not wait. Later requests
 * for the same process wait behind a waiting request, to keep their order; but `continue` withdraws
 * and answers waiting `pause` requests.
 *
 * Requests to stop at exceptions are not delayed, since no exception may be missed; stop-limit.c
 * resumes the ranks before an older operation times out. Breakpoints of a rank that is stopped
 * before its first instruction (ptrace/launched-programs.h) are not delayed either: the rank would
 * run past them, and it has begun no operation.
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
/* Drops the waiting requests without an answer. */
void stop_gate_free(struct stop_gate *gate);
/* Returns true if the gate has answered the request, or keeps a copy and calls request_send()
 * later; false if the caller is to send the request now. */
bool stop_gate_take(struct stop_gate *gate, pid_t pid, enum request_kind kind,
		    const struct message *request);

#endif
