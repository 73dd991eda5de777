/*
 * agent-resume: pauses, steps and resumes the threads of a process through its agent.
 */
#ifndef BACKENDS_HTTP_AGENT_RESUME_H
#define BACKENDS_HTTP_AGENT_RESUME_H

#include "backends/backend.h"

struct agent;
struct error;
struct message;

/* Serves continue, next, stepIn, stepOut and until. Returns -1 and sets error if the request was
 * not started. */
int agent_resume_go(struct agent *agent, enum request_kind kind, const struct message *request,
		    struct error *error);
/* Serves jump. Returns -1 and sets error if the request was not started. */
int agent_resume_jump(struct agent *agent, const struct message *request, struct error *error);
/* Serves pause. Always returns 0. */
int agent_resume_pause(struct agent *agent, const struct message *request, struct error *error);
/* Returns the agent's number of the thread that the request names, by default of the main thread;
 * 0: unknown. */
int64_t agent_resume_thread(const struct agent *agent, const struct message *request);

#endif
