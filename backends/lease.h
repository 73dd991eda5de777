/*
 * lease: resumes all processes when the screen can no longer be reached.
 *
 * The end of the node's input tells that the screen is gone. A network that is cut, or a machine
 * that loses power, ends no input for hours (tcp(7), TCP_KEEPALIVE), and a process that a debugger
 * has stopped would stand for as long. So a screen that is on another machine asks for a lease, and
 * every line that it sends renews it. When the lease is over, the node detaches its debuggers, and
 * the processes resume; only a debugger that cannot detach without harm, such as a pdb in a step, is
 * left until the node exits, which it does when the screen is silent for four times as long again.
 */
#ifndef BACKENDS_LEASE_H
#define BACKENDS_LEASE_H

struct lease;
struct node;

struct lease *lease_new(struct node *node);
void lease_free(struct lease *lease);
/* From now on the lease is over when the screen is silent for so many seconds; 0: never. */
void lease_set(struct lease *lease, double seconds);
/* Called with each line of the screen. */
void lease_renew(struct lease *lease);

#endif
