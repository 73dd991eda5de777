#include "backends/lease.h"

#include <stdbool.h>
#include <stdlib.h>

#include "backends/node.h"
#include "backends/requests.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/loop.h"

/* Checks per lease. */
#define CHECKS 15
/* From the end of the lease until the node exits, in leases. */
#define LEAVE 4

struct lease {
	struct node *node;
	struct loop_timer *timer; /* NULL: there is no lease */
	double seconds;
	double renewed_at; /* time of the last line, loop_now() */
	double checked_at;
	bool is_over; /* the debuggers were detached, and the screen has sent nothing since */
};

struct lease *lease_new(struct node *node)
{
	struct lease *lease = xcalloc(1, sizeof(*lease));

	lease->node = node;
	return lease;
}

static void stop_timer(struct lease *lease)
{
	if (lease->timer)
		loop_timer_stop(lease->timer);
	lease->timer = NULL;
}

void lease_free(struct lease *lease)
{
	if (!lease)
		return;
	stop_timer(lease);
	free(lease);
}

/*
 * True if this check comes much later than it was due, as the node did not run (SIGSTOP, a machine
 * that was suspended): lines of the screen may wait in the pipe, and the next check sees them.
 */
static bool is_late(struct lease *lease, double now)
{
	double since = now - lease->checked_at;

	lease->checked_at = now;
	return since > lease->seconds / 2;
}

static void on_check(void *data)
{
	struct lease *lease = data;
	double now = loop_now();
	double silence = now - lease->renewed_at;

	if (is_late(lease, now) || silence <= lease->seconds)
		return;
	if (!lease->is_over) {
		lease->is_over = true;
		detach_all(lease->node);
		node_flush(lease->node);
	}
	if (silence > (1 + LEAVE) * lease->seconds)
		node_leave(lease->node);
}

void lease_set(struct lease *lease, double seconds)
{
	stop_timer(lease);
	lease->seconds = seconds;
	lease->checked_at = loop_now();
	lease_renew(lease);
	if (seconds > 0)
		lease->timer = loop_timer(node_loop(lease->node), seconds / CHECKS,
					  seconds / CHECKS, on_check, lease);
}

void lease_renew(struct lease *lease)
{
	lease->renewed_at = loop_now();
	lease->is_over = false;
}
