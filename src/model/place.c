#include "model/place.h"

#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "protocol/process.h"
#include "protocol/stack.h"

/*
 * A file with one of these parts in its path was installed, not written for the job. The parts that
 * begin with /torch/ are for users who run torch from a source tree.
 */
static const char *const library_parts[] = {
	"/site-packages/", "/dist-packages/",  "/lib/python3",	"/lib64/python3",
	"/torch/_",	   "/torch/autograd/", "/torch/cuda/",	"/torch/distributed/",
	"/torch/nn/",	   "/torch/optim/",    "/torch/utils/", "/torch/serialization.py",
	"/lib/pypy3",
};

/* Modules of the package agent/probetui; tests/unit/test_layers.py compares both lists. */
static const char *const agent_modules[] = {
	"__init__", "access",	 "admission",  "agent",	    "audit",	  "channel",
	"deadline", "endpoints", "evaluation", "files",	    "forks",	  "greenlets",
	"holds",    "http1",	 "identity",   "injected",  "inspection", "interruption",
	"leaving",  "objects",	 "process",    "prompt",    "quiet",	  "representation",
	"routes",   "server",	 "settings",   "snapshots", "starting",	  "streams",
	"values",   "wire",	 "wrapping",
};

static const char *const agent_folders[] = { "dap/", "debugging/" };

/* Name that the interpreter gives to code passed with -c, and Python's modules to code they make.
 */
#define STRING_FILE "<string>"
/* Name that cloudpickle (dask, joblib, Ray) gives to functions of the program in other processes.
 */
#define PICKLED_FILE "<dynamic-code>"

/* Files of the user's that have no path: at a prompt, with -c, or pickled. */
static const char *const typed_files[] = { STRING_FILE, "<stdin>", PICKLED_FILE };

static const struct {
	const char *func;
	const char *file; /* end of the path */
} wrappers[] = {
	{ "wrapper", "/torch/distributed/c10d_logger.py" },
	{ "decorate_context", "/torch/utils/_contextlib.py" },
	{ "inner", "/contextlib.py" },
};

static bool is_agent_module(const char *name)
{
	size_t length = strcspn(name, ".");

	for (size_t i = 0; i < ARRAY_LENGTH(agent_modules); i++) {
		if (strlen(agent_modules[i]) == length &&
		    strncmp(agent_modules[i], name, length) == 0)
			return strcmp(name + length, ".py") == 0;
	}
	return false;
}

/* Only the end of the path counts: the package may be in any folder, even a removed one of /tmp. */
bool place_is_agent(const char *file)
{
	static const char package[] = "probetui/";
	const char *found = NULL;

	for (const char *at = file; (at = strstr(at, package)); at++) {
		if (at == file || at[-1] == '/')
			found = at + strlen(package);
	}
	if (!found)
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(agent_folders); i++) {
		size_t length = strlen(agent_folders[i]);

		if (strncmp(found, agent_folders[i], length) == 0)
			return !strchr(found + length, '/');
	}
	return is_agent_module(found);
}

bool place_is_within_agent(const struct stack *stack, size_t at)
{
	const struct frame *frame = &stack->frames[at];

	return at + 1 < stack->frame_count && place_is_agent(frame->code->file) &&
	       place_is_agent(frame[1].code->file);
}

bool place_is_library(const char *file)
{
	for (size_t i = 0; i < ARRAY_LENGTH(typed_files); i++) {
		if (strcmp(file, typed_files[i]) == 0)
			return false;
	}
	/* Frozen and generated code: "<frozen runpy>", "<__array_function__ internals>". */
	if (file[0] == '<' || file[0] == '\0')
		return true;
	for (size_t i = 0; i < ARRAY_LENGTH(library_parts); i++) {
		if (strstr(file, library_parts[i]))
			return true;
	}
	return place_is_agent(file);
}

static bool place_ends_in(const char *text, const char *end)
{
	size_t length = strlen(text);
	size_t end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

bool place_is_wrapper(const struct frame *frame)
{
	const struct code *code = frame->code;

	for (size_t i = 0; i < ARRAY_LENGTH(wrappers); i++) {
		if (strcmp(code->func, wrappers[i].func) == 0 &&
		    place_ends_in(code->file, wrappers[i].file))
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
	if (script[0] == '/' && is_below(file, script, (size_t)(place_file_name(script) - script)))
		return true;
	return cwd[0] == '/' && is_below(file, cwd, strlen(cwd));
}

static bool is_typed(const struct frame *frame)
{
	return frame->code->file[0] == '<' && strcmp(frame->code->file, PICKLED_FILE) != 0;
}

bool place_is_generated(const struct stack *stack, size_t at)
{
	if (strcmp(stack->frames[at].code->file, STRING_FILE) != 0)
		return false;
	for (size_t i = at + 1; i < stack->frame_count; i++) {
		const struct code *code = stack->frames[i].code;

		if (code->type == FRAME_PYTHON && code->file[0] != '<' &&
		    !place_is_library(code->file))
			return true;
	}
	return false;
}

static bool place_is_own(const struct process *process, const struct frame *frame)
{
	return place_is_user(process, frame) && !is_typed(frame);
}

/*
 * True for the user's code outside of the job's folder, for example on PYTHONPATH: a better place
 * than a library, or than the -c code of a spawned process.
 */
static bool place_is_elsewhere(const struct process *process, const struct frame *frame)
{
	(void)process;
	return frame->code->type == FRAME_PYTHON && !is_typed(frame) &&
	       !place_is_library(frame->code->file);
}

static bool is_not_agents(const struct process *process, const struct frame *frame)
{
	(void)process;
	return !place_is_agent(frame->code->file);
}

/* Index of the innermost frame for which is_such() is true; frame_count: none. */
static size_t find_first(const struct process *process, const struct stack *stack,
			 bool (*is_such)(const struct process *process, const struct frame *frame))
{
	size_t i = 0;

	while (i < stack->frame_count && !is_such(process, &stack->frames[i]))
		i++;
	return i;
}

static size_t find_outermost_user(const struct process *process, const struct stack *stack)
{
	for (size_t i = stack->frame_count; i-- > 0;)
		if (place_is_user(process, &stack->frames[i]))
			return i;
	return stack->frame_count;
}

size_t place_user_frame(const struct process *process, const struct stack *stack)
{
	size_t at = find_first(process, stack, place_is_own);

	if (at == stack->frame_count)
		at = find_first(process, stack, place_is_elsewhere);
	if (at == stack->frame_count)
		at = find_outermost_user(process, stack);
	if (at == stack->frame_count)
		at = find_first(process, stack, is_not_agents);
	return at < stack->frame_count ? at : 0;
}

const struct frame *place_find(const struct process *process, const struct stack *stack)
{
	const struct frame *frame;

	if (!stack || stack->frame_count == 0)
		return NULL;
	frame = &stack->frames[place_user_frame(process, stack)];
	/* The agent called this library function, for example at shutdown: not the user's place. */
	if (place_is_library(frame->code->file) &&
	    place_is_agent(stack->frames[stack->frame_count - 1].code->file))
		return NULL;
	return place_is_agent(frame->code->file) ? NULL : frame;
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
