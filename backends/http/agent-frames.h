/*
 * agent-frames: parses the stacks and exceptions in the agent's answers. The number of
 * frames and causes is limited.
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
 * Appends the frames of an answer to stackTrace. True: the agent has more, from
 * index *count on. Free with agent_frames_free().
 */
bool agent_frames_read(struct halt_frame **frames, size_t *count, const json_t *body);
void agent_frames_free(struct halt_frame *frames, size_t count);
/* Returns the stack of the table that has these frames. */
const struct stack *agent_frames_intern(const struct halt_frame *frames, size_t count,
					struct stack_table *stacks);
/*
 * Returns a text of the answer to exceptionInfo, to free(): a line for the exception
 * and one for each of its causes. NULL: the answer has no exception.
 */
char *agent_frames_read_exception(const json_t *body);

#endif
