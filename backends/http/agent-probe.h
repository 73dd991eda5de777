/*
 * agent-probe: one blocking GET to the agent of a process (`doctor`). Does not load
 * libcurl.
 */
#ifndef BACKENDS_HTTP_AGENT_PROBE_H
#define BACKENDS_HTTP_AGENT_PROBE_H

#include <jansson.h>

struct error;
struct process;

/*
 * Sends GET path to the agent's Unix socket. Returns the JSON of the answer; NULL: no
 * agent, or no answer with status 200 within `seconds`; error is set.
 */
json_t *agent_probe(const struct process *process, const char *path, double seconds,
		    struct error *error);

#endif
