/*
 * agent-resume: what stops a process by its agent, and lets it go on.
 */
#ifndef BACKENDS_HTTP_AGENT_RESUME_H
#define BACKENDS_HTTP_AGENT_RESUME_H

#include "backends/backend.h"

struct agent;
struct error;
struct message;

/* continue, next, stepIn, stepOut, until */
int agent_resume_go(struct agent *agent, enum request_kind kind, const struct message *request,
		    struct error *error);
int agent_resume_jump(struct agent *agent, const struct message *request, struct error *error);
int agent_resume_pause(struct agent *agent, const struct message *request, struct error *error);
/* The request's thread as the agent calls it, the main one unless it names
 * one; 0: it is not known. */
int64_t agent_resume_thread(const struct agent *agent, const struct message *request);

#endif
