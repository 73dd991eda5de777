/*
 * agent-bindings: what became of the breakpoints that are wanted, as the agent tells
 * of them. They are in the agent's debugger.
 */
#ifndef BACKENDS_HTTP_AGENT_BINDINGS_H
#define BACKENDS_HTTP_AGENT_BINDINGS_H

#include <jansson.h>

struct agent;
struct breakpoint_binding;
struct debugger;

/* Those that are wanted, as they were known before. */
void agent_bindings_begin(struct debugger *debugger, const json_t *list);
/* Lends; NULL: there is none of that number. */
struct breakpoint_binding *agent_bindings_find(struct debugger *debugger, int id);
/* A stop was for that breakpoint. */
void agent_bindings_count_hit(struct agent *agent, int id);
/* The event `breakpoint`. */
void agent_bindings_take(struct agent *agent, const json_t *body);
/* What the agent tells of it: DAP's Breakpoint. */
void agent_bindings_update(struct breakpoint_binding *binding, const json_t *told);
/* It is not set. */
void agent_bindings_refuse(struct breakpoint_binding *binding, const char *why);

#endif
