#include "model/place.h"

#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "protocol/process.h"
#include "protocol/stack.h"

/*
 * A file with one of these in its path was installed, not written for the
 * job. The parts of torch are here for those who run it from a source tree.
 */
static const char *const library_parts[] = {
	"/site-packages/", "/dist-packages/",
	"/lib/python3",	   "/lib64/python3",
	"/torch/_",	   "/torch/autograd/",
	"/torch/cuda/",	   "/torch/distributed/",
	"/torch/nn/",	   "/torch/optim/",
	"/torch/utils/",   "/torch/serialization.py",
	"/lib/pypy3",
	/* our own package, where --agent-path has it */
	"/agent/probetui/",
};

/* What the interpreter calls code that a person typed or passed with -c. */
static const char *const typed_files[] = { "<string>", "<stdin>" };

static const struct {
	const char *func;
	const char *file; /* end of the path */
} wrappers[] = {
	{ "wrapper", "/torch/distributed/c10d_logger.py" },
	{ "decorate_context", "/torch/utils/_contextlib.py" },
	{ "inner", "/contextlib.py" },
};

bool place_is_library(const char *file)
{
	for (size_t i = 0; i < ARRAY_LENGTH(typed_files); i++) {
		if (strcmp(file, typed_files[i]) == 0)
			return false;
	}
	/* "<frozen runpy>", "<__array_function__ internals>" */
	if (file[0] == '<' || file[0] == '\0')
		return true;
	for (size_t i = 0; i < ARRAY_LENGTH(library_parts); i++) {
		if (strstr(file, library_parts[i]))
			return true;
	}
	return false;
}

static bool ends_in(const char *text, const char *end)
{
	size_t length = strlen(text);
	size_t end_length = strlen(end);

	return length >= end_length &&
	       strcmp(text + length - end_length, end) == 0;
}

bool place_is_wrapper(const struct frame *frame)
{
	const struct code *code = frame->code;

	for (size_t i = 0; i < ARRAY_LENGTH(wrappers); i++) {
		if (strcmp(code->func, wrappers[i].func) == 0 &&
		    ends_in(code->file, wrappers[i].file))
			return place_is_library(code->file);
	}
	return false;
}

static bool is_below(const char *file, const char *folder, size_t length)
{
	while (length > 0 && folder[length - 1] == '/')
		length--;
	return strncmp(file, folder, length) == 0 && file[length] == '/';
}

bool place_is_user(const struct process *process, const struct frame *frame)
{
	const char *file = frame->code->file;
	const char *script = process->script_path ? process->script_path : "";
	const char *cwd = process->cwd ? process->cwd : "";

	if (frame->code->type == FRAME_NATIVE || place_is_library(file))
		return false;
	if (file[0] != '/')
		return true;
	if (script[0] == '\0' && cwd[0] == '\0')
		return true;
	if (script[0] == '/' &&
	    is_below(file, script, (size_t)(place_file_name(script) - script)))
		return true;
	return cwd[0] == '/' && is_below(file, cwd, strlen(cwd));
}

static bool is_typed(const struct frame *frame)
{
	return frame->code->file[0] == '<';
}

size_t place_user_frame(const struct process *process,
			const struct stack *stack)
{
	size_t typed = 0;

	for (size_t i = 0; i < stack->frame_count; i++) {
		if (!place_is_user(process, &stack->frames[i]))
			continue;
		if (!is_typed(&stack->frames[i]))
			return i;
		typed = i;
	}
	/*
	 * Code from a PYTHONPATH elsewhere still says more than a library, and
	 * more than what a spawned process was given with -c.
	 */
	for (size_t i = 0; i < stack->frame_count; i++) {
		if (stack->frames[i].code->type == FRAME_PYTHON &&
		    !is_typed(&stack->frames[i]) &&
		    !place_is_library(stack->frames[i].code->file))
			return i;
	}
	return typed;
}

const char *place_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void place_append(struct buffer *out, const struct frame *frame)
{
	const char *name = place_file_name(frame->code->file);

	text_escape(out, name, strlen(name));
	if (frame->lineno > 0)
		buffer_printf(out, ":%d", frame->lineno);
}

bool place_is_module(const struct frame *frame)
{
	return strcmp(frame->code->func, "<module>") == 0;
}
