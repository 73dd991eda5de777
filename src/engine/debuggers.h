/*
 * debuggers: what the engine does for debuggers without a command: connects to the targets of
 * --connect, sends breakpoints to debuggers that lack them, evaluates the expressions of `display`.
 */
#ifndef ENGINE_DEBUGGERS_H
#define ENGINE_DEBUGGERS_H

#include <jansson.h>
#include <stdbool.h>

struct buffer;
struct engine;
struct rank;

/*
 * Sends `connect` for each target of --connect; for a target with `%r` once for each rank of
 * --ranks.
 */
void debuggers_connect(struct engine *engine);
/*
 * Takes the body of an answer to `connect`: if no job was chosen yet, chooses the connected rank's
 * job.
 */
void debuggers_connected(struct engine *engine, const json_t *body);
/* Sends `connect` for the agent of rank. */
void debuggers_connect_agent(struct engine *engine, const struct rank *rank);
/* Sends `set` to the node if the node's settings differ from the engine's. */
void debuggers_send_settings(struct engine *engine);
/*
 * Call after messages were applied: connects to agents, reports resumed ranks, sends breakpoints.
 */
void debuggers_follow(struct engine *engine);
/* Evaluates the displays whose values are older than the present stop of the selected rank. */
void debuggers_ask_displays(struct engine *engine);
/*
 * If there are debugger connections, closes them and waits up to a second for the node: stopped
 * ranks resume before this program ends.
 */
void debuggers_leave(struct engine *engine);
/* In a shell: waits up to `seconds` seconds until no debugger is still connecting. */
void debuggers_await(struct engine *engine, double seconds);
/*
 * In a shell: connects to agents that have stopped their ranks at an exception since the last call,
 * and waits up to `seconds` seconds for their reports. Returns false if there are no such agents.
 */
bool debuggers_await_holds(struct engine *engine, double seconds);
/*
 * Appends ranks whose debuggers are connected but do not answer (perhaps they serve another
 * client), or were lost before the first stop. Returns false if there are none.
 */
bool debuggers_append_silent(struct buffer *out, const struct engine *engine);

#endif
