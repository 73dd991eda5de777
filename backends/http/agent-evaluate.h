/*
 * agent-evaluate: what is asked of an agent about values, and code that it runs.
 */
#ifndef BACKENDS_HTTP_AGENT_EVALUATE_H
#define BACKENDS_HTTP_AGENT_EVALUATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct agent;
struct error;
struct halt_frame;
struct message;

/* Each takes on the request of that name. */
int agent_evaluate(struct agent *agent, const struct message *request, struct error *error);
/* What is evaluated is to end; its requests are answered by that. */
void agent_cancel(struct agent *agent);
int agent_complete(struct agent *agent, const struct message *request, struct error *error);
int agent_set(struct agent *agent, const struct message *request, struct error *error);
int agent_execute(struct agent *agent, const struct message *request, struct error *error);
int agent_catch(struct agent *agent, const struct message *request, struct error *error);
int agent_watchdog(struct agent *agent, const struct message *request, struct error *error);
int agent_eject(struct agent *agent, const struct message *request, struct error *error);
int agent_variables(struct agent *agent, const struct message *request, struct error *error);
int agent_source(struct agent *agent, const struct message *request, struct error *error);
/* Whether the request is about code in a frame, not in __main__. */
bool agent_has_frame(const struct message *request);
/* Whether an address is a reference of the agent's. */
bool agent_is_reference(uint64_t address);

/* agent-variables.c, for both: where a value of the agent's can be opened; 0: nowhere. */
uint64_t agent_address(const json_t *told);
/* What is in it, as far as it is counted; -1: it cannot be opened. */
int64_t agent_child_count(const json_t *told);
/* The frame of the request, which stands; NULL and a sentence. */
const struct halt_frame *agent_find_frame(const struct agent *agent, const struct message *request,
					  struct error *error);

#endif
