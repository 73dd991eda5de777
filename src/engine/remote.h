/*
 * remote: the nodes on other machines (--on): starts them, renews their leases, and notices the
 * ones that do not answer.
 *
 * A node that has sent nothing for a while is silent: requests to it end at once, so that no
 * command waits for it, and the verdict begins with it. A message from it ends its silence.
 */
#ifndef ENGINE_REMOTE_H
#define ENGINE_REMOTE_H

#include <stddef.h>

struct engine;
struct error;
struct loop_timer;

/* Seconds of the lease that a node on another machine gets. */
#define REMOTE_LEASE 15.0

/* Only remote.c writes these members. */
struct remote {
	double renewed_at;	  /* time of the last renewal */
	struct loop_timer *timer; /* renews leases; NULL: no node is on another machine */
	struct loop_timer *first; /* when every node must have answered; NULL: that is past */
};

/*
 * Starts the node of every machine of settings.machines, and adds it to the session. Returns 0; -1
 * and *error: a target is wrong, or a client program cannot be started.
 */
int remote_start(struct engine *engine, struct error *error);
/* Begins to renew leases; engine->loop exists. */
void remote_watch(struct engine *engine);
/* Called with each piece that was read of a node's output. */
void remote_note_output(struct engine *engine, size_t node);
void remote_clear(struct engine *engine);

#endif
