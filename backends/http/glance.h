/*
 * glance: one short question to the agent in a process, for who can wait for
 * its answer (`doctor`): no library is loaded for it.
 */
#ifndef BACKENDS_HTTP_GLANCE_H
#define BACKENDS_HTTP_GLANCE_H

#include <jansson.h>

struct error;
struct process;

/*
 * GET on the process's own socket. NULL and a sentence: there is no agent, or
 * it said no, or nothing within those seconds.
 */
json_t *glance(const struct process *process, const char *path, double seconds,
	       struct error *error);

#endif
