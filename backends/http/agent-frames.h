/*
 * agent-frames: what the agent tells of stacks and exceptions, read. Whatever it
 * says has bounds here.
 */
#ifndef BACKENDS_HTTP_AGENT_FRAMES_H
#define BACKENDS_HTTP_AGENT_FRAMES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct halt_frame;
struct stack;
struct stack_table;

/*
 * Appends those of an answer to stackTrace. True: there are more, from *count
 * on. agent_frames_free() them.
 */
bool agent_frames_read(struct halt_frame **frames, size_t *count, const json_t *body);
void agent_frames_free(struct halt_frame *frames, size_t count);
const struct stack *agent_frames_intern(const struct halt_frame *frames, size_t count,
					struct stack_table *stacks);
/*
 * Of the answer to exceptionInfo: a line for what was raised, and one for
 * each that it came of; free() it. NULL: it tells nothing.
 */
char *agent_frames_read_exception(const json_t *body);

#endif
