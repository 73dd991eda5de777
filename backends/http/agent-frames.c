#include "backends/http/agent-frames.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/http/stopped-threads.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/json.h"

#define CHAIN_MAXIMUM 16

/* Returns "step" for "Net.step", "<lambda>" for "main.<locals>.<lambda>". */
static const char *agent_frames_last_part(const char *qualname)
{
	const char *dot = strrchr(qualname, '.');

	return dot && dot[1] ? dot + 1 : qualname;
}

static void agent_frames_read_frame(struct halt_frame *frame, const json_t *told)
{
	const json_t *source = json_object_get(told, "source");
	const char *name = json_get_string(told, "name", "?");
	const char *file = json_get_string(source, "path", NULL);
	int first = json_get_count(told, "firstLine");

	if (!file)
		file = json_get_string(source, "name", "?");
	frame->code = (struct code){
		.func = xstrdup(agent_frames_last_part(name)),
		.qualname = xstrdup_or_null(json_get_string(told, "qualname", NULL)),
		.file = xstrdup(json_get_string(told, "file", file)),
		.first_lineno = first,
		.type = FRAME_PYTHON,
	};
	frame->line = json_get_count(told, "line");
	frame->id = json_get_integer(told, "id", 0);
	frame->reference = json_get_integer(source, "sourceReference", 0);
}

bool agent_frames_read(struct halt_frame **frames, size_t *count, const json_t *body)
{
	const json_t *list = json_object_get(body, "stackFrames");
	int64_t total = json_get_integer(body, "totalFrames", 0);
	size_t more = json_array_size(list);

	if (more > STACK_FRAMES_MAXIMUM - *count)
		more = STACK_FRAMES_MAXIMUM - *count;
	*frames = xrealloc(*frames, (*count + more + 1) * sizeof(**frames));
	for (size_t i = 0; i < more; i++)
		agent_frames_read_frame(&(*frames)[*count + i], json_array_get(list, i));
	*count += more;
	return more > 0 && total > 0 && *count < STACK_FRAMES_MAXIMUM && *count < (size_t)total;
}

void agent_frames_free(struct halt_frame *frames, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(frames[i].code.func);
		free(frames[i].code.qualname);
		free(frames[i].code.file);
	}
	free(frames);
}

const struct stack *agent_frames_intern(const struct halt_frame *frames, size_t count,
					struct stack_table *stacks)
{
	struct frame *interned = xcalloc(count + 1, sizeof(*interned));
	const struct stack *stack;

	for (size_t i = 0; i < count; i++) {
		interned[i].code = stack_table_code(stacks, &frames[i].code);
		interned[i].lineno = frames[i].line;
	}
	stack = stack_table_stack(stacks, interned, count, 0);
	free(interned);
	return stack;
}

static void agent_frames_append_exception(struct buffer *out, const char *relation,
					  const json_t *details)
{
	debugger_append_exception(out, relation,
				  json_get_string(details, "typeName", "an exception"),
				  json_get_string(details, "message", ""));
}

/* Appends the causes: DAP nests them; "relation" (cause or context) is the agent's own key. */
static void append_chain(struct buffer *out, const json_t *details)
{
	for (int i = 0; i < CHAIN_MAXIMUM; i++) {
		const json_t *inner = json_array_get(json_object_get(details, "innerException"), 0);

		if (!json_is_object(inner))
			return;
		agent_frames_append_exception(out, json_get_string(inner, "relation", ""), inner);
		details = inner;
	}
}

char *agent_frames_read_exception(const json_t *body)
{
	const json_t *details = json_object_get(body, "details");
	struct buffer out = BUFFER_INIT;

	if (json_get_string(details, "typeName", NULL)) {
		agent_frames_append_exception(&out, NULL, details);
		append_chain(&out, details);
	} else if (json_get_string(body, "exceptionId", NULL)) {
		buffer_append_string(&out, json_get_string(body, "exceptionId", ""));
	} else {
		return NULL;
	}
	return buffer_take(&out);
}
