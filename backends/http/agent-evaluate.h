/*
 * agent-evaluate: requests to an agent for values, and for code to run.
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

/* Except agent_cancel(), each of these functions serves the request of its name. They return 0, or
 * -1 and set error if the request was not started. */
int agent_evaluate(struct agent *agent, const struct message *request, struct error *error);
/* Interrupts the running evaluations, whose requests are then answered. */
void agent_cancel(struct agent *agent);
int agent_complete(struct agent *agent, const struct message *request, struct error *error);
int agent_set(struct agent *agent, const struct message *request, struct error *error);
int agent_execute(struct agent *agent, const struct message *request, struct error *error);
int agent_catch(struct agent *agent, const struct message *request, struct error *error);
int agent_watchdog(struct agent *agent, const struct message *request, struct error *error);
int agent_eject(struct agent *agent, const struct message *request, struct error *error);
int agent_variables(struct agent *agent, const struct message *request, struct error *error);
int agent_source(struct agent *agent, const struct message *request, struct error *error);
/* Whether the request names a frame in which its code runs; if not, the code runs in __main__. */
bool agent_has_frame(const struct message *request);
/* Whether an "address" is a variablesReference of the agent, not an address in memory. */
bool agent_is_reference(uint64_t address);

/* Returns the "address" under which a value's children can be requested; 0: no children. */
uint64_t agent_address(const json_t *told);
/* Returns the number of a value's children; -1: the value has none. */
int64_t agent_child_count(const json_t *told);
/* Returns the frame of a stopped thread that the request names. Returns NULL and sets error if
 * there is none. */
const struct halt_frame *agent_find_frame(const struct agent *agent, const struct message *request,
					  struct error *error);

#endif
