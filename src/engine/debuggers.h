/*
 * debuggers: what the engine does for debuggers by itself, at each turn: the
 * targets of --connect are connected to, breakpoints are told to those that
 * lack them, what is displayed is evaluated.
 */
#ifndef ENGINE_DEBUGGERS_H
#define ENGINE_DEBUGGERS_H

#include <jansson.h>
#include <stdbool.h>

struct buffer;
struct engine;
struct rank;

/* Asks for the targets of --connect, `%r` for each rank of --ranks. */
void debuggers_connect(struct engine *engine);
/*
 * The body of an answer to `connect`. Of several jobs, where none is chosen,
 * the one is meant whose debugger was named.
 */
void debuggers_connected(struct engine *engine, const json_t *body);
/* Asks to be connected to the agent of that rank. */
void debuggers_connect_agent(struct engine *engine, const struct rank *rank);
/* Sends `set` to the node where its settings are not the engine's. */
void debuggers_send_settings(struct engine *engine);
/* After messages were applied. */
void debuggers_follow(struct engine *engine);
/* Evaluates the displays that are older than the stop of the selected rank. */
void debuggers_ask_displays(struct engine *engine);
/*
 * Where there are connections, waits a moment until the node has given them
 * up: stopped ranks resume before this program ends.
 */
void debuggers_leave(struct engine *engine);
/* Waits in a shell until those connected to have answered, or cannot. */
void debuggers_await(struct engine *engine, double seconds);
/*
 * Waits in a shell, that long at most, until agents that hold ranks at an
 * exception have told of it; false: there are none that had not.
 */
bool debuggers_await_holds(struct engine *engine, double seconds);
/*
 * Appends that ranks were connected to and have not answered, as their servers
 * may have other clients; false: there are none such.
 */
bool debuggers_append_silent(struct buffer *out, const struct engine *engine);

#endif
