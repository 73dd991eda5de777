/*
 * agent-probe: one GET to the agent of a process, for a caller that can wait
 * (`doctor`). Does not load libcurl.
 */
#ifndef BACKENDS_HTTP_AGENT_PROBE_H
#define BACKENDS_HTTP_AGENT_PROBE_H

#include <jansson.h>

struct error;
struct process;

/*
 * GET on the socket below the process's /tmp. NULL: no agent, or no answer with
 * status 200 within that time.
 */
json_t *agent_probe(const struct process *process, const char *path, double seconds,
		    struct error *error);

#endif
