#include "model/place.h"

#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "protocol/process.h"
#include "protocol/stack.h"

/* Folders of packages that were installed. */
static const char *const installed_parts[] = { "/site-packages/", "/dist-packages/" };

/* Further parts of the paths of files that were installed, not written for the job. */
static const char *const library_parts[] = {
	"/lib/python3", "/lib64/python3", "/lib/pypy3", "/.pex/", ".whl/",
};

/* Parts of the paths of frameworks that are run from their source trees. */
static const char *const source_parts[] = {
	"/torch/_",
	"/torch/autograd/",
	"/torch/cuda/",
	"/torch/distributed/",
	"/torch/nn/",
	"/torch/optim/",
	"/torch/utils/",
	"/torch/serialization.py",
	"/lightning/fabric/",
	"/lightning/pytorch/",
	"/lightning_fabric/",
	"/pytorch_lightning/",
	"/src/accelerate/accelerator.py",
	"/src/accelerate/utils/",
	"/src/transformers/trainer",
	"/deepspeed/comm/",
	"/deepspeed/runtime/",
	"/jax/_src/",
	"/python/ray/_private/",
	"/python/ray/train/",
};

/* Installed packages that may be what a process runs, without being the user's own. */
static const char *const frameworks[] = {
	"accelerate",	"dask",
	"datasets",	"deepspeed",
	"distributed",	"horovod",
	"jax",		"joblib",
	"lightning",	"lightning_fabric",
	"mpi4py",	"pytorch_lightning",
	"ray",		"torch",
	"torchrun",	"torchx",
	"transformers", "webdataset",
};

/* Installed packages by which a console script calls the program. */
static const char *const callers[] = {
	"absl", "click", "cyclopts", "fire", "hydra", "invoke", "jsonargparse", "plac", "typer",
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
/* End of the folder in which pip puts console scripts. */
#define BIN "/bin/"

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

/*
 * True for code that torch.compile has written: "ab/cab2…7.py", a hash of at least 40 characters in
 * a folder of its second and third (torch/_inductor/codecache.py).
 */
static bool place_is_compiled(const char *file)
{
	const char *name = place_file_name(file);
	size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789");

	return length >= 40 && strcmp(name + length, ".py") == 0 && name - file >= 4 &&
	       name[-4] == '/' && strncmp(name - 3, name + 1, 2) == 0;
}

static bool has_part(const char *file, const char *const *parts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strstr(file, parts[i]))
			return true;
	}
	return false;
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
	return has_part(file, installed_parts, ARRAY_LENGTH(installed_parts)) ||
	       has_part(file, library_parts, ARRAY_LENGTH(library_parts)) ||
	       has_part(file, source_parts, ARRAY_LENGTH(source_parts)) ||
	       place_is_compiled(file) || place_is_agent(file);
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

/* Returns the path of an installed file from its package on: "package/module.py"; NULL: none. */
static const char *find_package(const char *file)
{
	const char *package = NULL;

	for (size_t i = 0; i < ARRAY_LENGTH(installed_parts); i++) {
		const char *part = installed_parts[i];

		for (const char *at = file; (at = strstr(at, part)); package = at)
			at += strlen(part);
	}
	return package;
}

/* True if the package's name is one of the names. */
static bool is_named(const char *package, const char *const *names, size_t count)
{
	size_t length = strcspn(package, "/.");

	for (size_t i = 0; i < count; i++) {
		if (strlen(names[i]) == length && strncmp(names[i], package, length) == 0)
			return true;
	}
	return false;
}

/* True if both begin with the name of one package, which is no framework's. */
static bool is_same_program(const char *package, const char *other)
{
	size_t length = strcspn(package, "/.");

	return length > 0 && strcspn(other, "/.") == length &&
	       strncmp(package, other, length) == 0 &&
	       !is_named(package, frameworks, ARRAY_LENGTH(frameworks));
}

/* True for an installed file of the package that the process runs by -m, or that has its script. */
static bool place_is_of_program(const struct process *process, const char *file)
{
	static const char module[] = "-m ";
	const char *package = find_package(file);
	const char *script;

	if (!package)
		return false;
	if (process->script && strncmp(process->script, module, strlen(module)) == 0)
		return is_same_program(package, process->script + strlen(module));
	script = process->script_path ? find_package(process->script_path) : NULL;
	return script && is_same_program(package, script);
}

bool place_is_user(const struct process *process, const struct frame *frame)
{
	const char *file = frame->code->file;

	if (frame->code->type == FRAME_NATIVE)
		return false;
	return !place_is_library(file) || place_is_of_program(process, file);
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

/* True for the file that pip writes for a command: in a bin folder, with no suffix. */
static bool is_console_script(const char *file)
{
	const char *name = place_file_name(file);

	return name - file >= (ptrdiff_t)strlen(BIN) && !strchr(name, '.') &&
	       strncmp(name - strlen(BIN), BIN, strlen(BIN)) == 0;
}

/*
 * Index of the innermost frame of the package that a console script, the outermost frame, has
 * called: the script has no other code of the user's than the call. The index of the script if the
 * package is not known.
 */
static size_t find_called_package(const struct stack *stack, size_t script)
{
	const char *called = NULL;
	size_t at = script;

	if (script + 1 != stack->frame_count ||
	    !is_console_script(stack->frames[script].code->file))
		return script;
	while (at > 0) {
		called = find_package(stack->frames[--at].code->file);
		if (!called || !is_named(called, callers, ARRAY_LENGTH(callers)))
			break;
	}
	if (!called)
		return script;
	for (at = 0; at < script; at++) {
		const char *package = find_package(stack->frames[at].code->file);

		if (package && is_same_program(package, called))
			break;
	}
	return at;
}

size_t place_user_frame(const struct process *process, const struct stack *stack)
{
	size_t at = find_first(process, stack, place_is_own);

	if (at < stack->frame_count)
		return find_called_package(stack, at);
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
