#include "backends/inject/inject.h"

#include <stdbool.h>
#include <stddef.h>

#include "backends/backend.h"
#include "backends/cpython/cpython.h"
#include "backends/inject/inject-attach.h"
#include "backends/linux/memory.h"
#include "backends/linux/task.h"
#include "backends/native/loaded-elf.h"
#include "backends/tracer/attachable.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/loop.h"

#define ATTACHES                                                                                   \
	1000		     /* maximum number of tries; a program that loops over dlopen() needs  \
			      * some hundred */
#define ATTACH_SECONDS 0.001 /* time between two tries */
#define LOOK_SECONDS 0.002
#define LOOKS_ASLEEP                                                                               \
	5 /* number of checks in a row that must find the thread asleep, to ignore a               \
	   * short file access */
#define TEXT_BYTES (INJECT_PATH_MAXIMUM + 512)

struct inject {
	struct loop *loop;
	struct freezer *holds;
	struct loop_timer *timer;
	struct memory *memory;
	struct cpython python;
	struct inject_attach attach;
	char path[INJECT_PATH_MAXIMUM];
	char text[TEXT_BYTES];
	double limit_seconds;
	double deadline;
	unsigned looks_asleep;
	bool is_under_way;
	void (*done)(struct inject *inject, const struct reason *reason, void *data);
	void *data;
};

/*
 * Text that the process runs: it executes the script file (argument %s) in a namespace of its own
 * and drops all exceptions. It imports only posix, which Python has imported at its start: a
 * fork(2) during another import would leave the child with a locked import lock. Each of the four
 * calls that release the GIL may take a switch interval. If several threads run this text, only the
 * thread that removes the file executes it. A child that is forked while the text is a pending call
 * has that pending call, too, and may come to it before its parent: the text leaves the file alone
 * where the pid is not the process's (argument %d, as the process sees it).
 */
static const char text_format[] =
	"try:exec(\"import posix as o\\n"
	"if o.getpid()==n:\\n"
	" f=o.open(p,o.O_RDONLY|o.O_CLOEXEC)\\n"
	" try:o.unlink(p);c=o.read(f,1<<22)\\n"
	" finally:o.close(f)\\n"
	" exec(compile(c,p,'exec'),{'__name__':'__probetui__','__file__':p})\","
	"{'p':'%s','n':%d})\n"
	"except BaseException:pass\n";

static void inject_refuse(struct reason *reason, const char *sentence)
{
	*reason = (struct reason){ .fix = "" };
	snprintf(reason->why, sizeof(reason->why), "%s", sentence);
}

static void inject_end(struct inject *inject, const char *sentence)
{
	struct reason reason;

	inject->is_under_way = false;
	if (!sentence) {
		inject->done(inject, NULL, inject->data);
		return;
	}
	inject_refuse(&reason, sentence);
	inject->done(inject, &reason, inject->data);
}

/*
 * Waiting for the script to run
 */

static void inject_look(void *data);

static void inject_look_later(struct inject *inject)
{
	inject->timer = loop_timer(inject->loop, LOOK_SECONDS, 0, inject_look, inject);
}

static bool inject_is_there(const struct inject *inject)
{
	int64_t number;

	return attachable_status(memory_pid(inject->memory), "Tgid", 10, &number);
}

static void inject_begin(void *data);

static void begin_later(struct inject *inject, double seconds)
{
	inject->timer = loop_timer(inject->loop, seconds, 0, inject_begin, inject);
}

/* True if the main thread is blocked in the kernel. */
static bool is_asleep(const struct inject *inject)
{
	pid_t pid = memory_pid(inject->memory);
	struct task task;
	struct task_state state = { .is_known = false };
	bool is_asleep;

	task_init(&task, pid, pid);
	is_asleep = task_look(&task, &state) == 0 && state.is_blocked;
	task_clear(&task);
	return is_asleep;
}

/*
 * True if the script was withdrawn, to be injected again in a new thread: the main thread was
 * running when the script was injected, and blocked in the kernel before it handled its pending
 * calls.
 */
static bool has_missed_it(struct inject *inject)
{
	if (inject->attach.cost.way != INJECT_BY_PENDING_CALL || inject->attach.is_for_main ||
	    inject->attach.cost.stops >= ATTACHES)
		return false;
	inject->looks_asleep = is_asleep(inject) ? inject->looks_asleep + 1 : 0;
	if (inject->looks_asleep < LOOKS_ASLEEP)
		return false;
	inject->looks_asleep = 0;
	return inject_attach_withdraw(&inject->attach);
}

static void inject_look(void *data)
{
	struct inject *inject = data;
	struct error error = ERROR_INIT;

	inject->timer = NULL;
	if (!inject_is_there(inject)) {
		inject_end(inject, "the process has exited");
		return;
	}
	if (!inject_attach_is_pending(&inject->attach)) {
		inject_end(inject, NULL);
		return;
	}
	if (loop_now() < inject->deadline) {
		if (has_missed_it(inject))
			begin_later(inject, 0);
		else
			inject_look_later(inject);
		return;
	}
	if (!inject_attach_withdraw(&inject->attach)) {
		inject_end(inject, NULL);
		return;
	}
	error_set(&error,
		  "Python ran no injected code within %.0f s: the main thread is in C, or another "
		  "thread keeps the GIL",
		  inject->limit_seconds);
	inject_end(inject, error.message);
}

/*
 * Attaching
 */

static void inject_begin(void *data)
{
	struct inject *inject = data;
	struct error error = ERROR_INIT;
	enum inject_attach_result result;

	inject->timer = NULL;
	inject->is_under_way = true;
	result = inject_attach_try(&inject->attach, &error);
	if (result == INJECT_ATTACH_DONE)
		inject_look_later(inject);
	else if (result == INJECT_ATTACH_LATER && inject->attach.cost.stops < ATTACHES &&
		 loop_now() < inject->deadline)
		begin_later(inject, ATTACH_SECONDS);
	else
		inject_end(inject, error.message[0] ? error.message
						    : "the main thread cannot be stopped at a "
						      "place where code can be injected");
}

/*
 * Preparation
 */

/* Makes the text. The path is not quoted, so it may contain only plain characters. */
static int inject_make_text(struct inject *inject, const char *path, struct error *error)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";

	if (path[0] != '/' || strlen(path) >= sizeof(inject->path) || path[strspn(path, plain)])
		return error_set(error,
				 "the script's path is too long, or has unsupported characters");
	snprintf(inject->path, sizeof(inject->path), "%s", path);
	snprintf(inject->text, sizeof(inject->text), text_format, path,
		 (int)task_inner(memory_pid(inject->memory)));
	return 0;
}

static int inject_find(struct inject *inject, const char *path, struct error *error)
{
	if (inject_make_text(inject, path, error) < 0 ||
	    cpython_locate(&inject->python, inject->memory, NULL, error) < 0 ||
	    inject_attach_init(&inject->attach, inject->memory, &inject->python, inject->text,
			       error) < 0)
		return -1;
	return pep768_is_allowed(inject->memory, &inject->python, inject->attach.interpreter, error)
		       ? 0
		       : -1;
}

static bool inject_is_stopped(pid_t pid, struct reason *reason)
{
	struct task task;
	char letter;

	task_init(&task, pid, pid);
	letter = task_letter(&task);
	task_clear(&task);
	if (letter != 'T' && letter != 't')
		return false;
	inject_refuse(
		reason,
		"no agent can be injected while the process is stopped, as no Python code can run");
	snprintf(reason->fix, sizeof(reason->fix), "%s",
		 letter == 'T' ? "resume the process (kill -CONT)"
			       : "resume the process, and detach the debugger of the process");
	return true;
}

/*
 * True if this node has attached to the process with ptrace, for stepping or breakpoints. Then sets
 * *reason.
 */
static bool inject_is_ours(pid_t pid, struct reason *reason)
{
	if (!attachable_is_ours(pid))
		return false;
	inject_refuse(
		reason,
		"no agent can be injected while probetui is attached to the process by ptrace");
	snprintf(reason->fix, sizeof(reason->fix), "detach first");
	return true;
}

struct inject *inject_new(struct loop *loop, struct freezer *holds, pid_t pid, const char *path,
			  double limit_seconds,
			  void (*done)(struct inject *inject, const struct reason *reason,
				       void *data),
			  void *data, struct reason *reason)
{
	struct error error = ERROR_INIT;
	struct inject *inject;

	/* Own ptrace first: the fix is to detach, whether or not the threads are stopped by it. */
	if (inject_is_ours(pid, reason) || inject_is_stopped(pid, reason) ||
	    !attachable_for_call(pid, reason))
		return NULL;
	inject = xcalloc(1, sizeof(*inject));
	inject->loop = loop;
	inject->holds = holds;
	inject->memory = memory_new(pid);
	inject->limit_seconds = limit_seconds;
	inject->deadline = loop_now() + limit_seconds;
	inject->done = done;
	inject->data = data;
	if (inject_find(inject, path, &error) == 0) {
		begin_later(inject, 0);
		return inject;
	}
	inject_free(inject);
	inject_refuse(reason, error.message);
	return NULL;
}

void inject_free(struct inject *inject)
{
	if (!inject)
		return;
	if (inject->timer)
		loop_timer_stop(inject->timer);
	if (inject->is_under_way && inject->attach.cost.way != INJECT_NONE)
		inject_attach_withdraw(&inject->attach);
	inject_attach_clear(&inject->attach, inject->holds);
	memory_free(inject->memory);
	free(inject);
}

void inject_into_main(struct inject *inject)
{
	inject->attach.is_for_main = true;
}

void inject_watch(struct inject *inject, void (*passing)(const char *point, void *data), void *data)
{
	inject->attach.watch = (struct remote_call_watch){ passing, data };
}

void inject_cost(const struct inject *inject, struct inject_cost *cost)
{
	*cost = inject->attach.cost;
}

#define MINOR_WITH_PEP768 14
/*
 * Offset of debugger_support.remote_debugging_enabled in the _Py_DebugOffsets of 3.14. Its value is
 * an offset in PyInterpreterState. struct _debugger_support is the last member of _Py_DebugOffsets.
 */
#define ENABLED_3_14 728
#define OFFSET_MAXIMUM (16u << 20)

bool pep768_is_allowed(struct memory *memory, const struct cpython *python, uint64_t interpreter,
		       struct error *error)
{
	pid_t pid = memory_pid(memory);
	uint64_t offset;
	int32_t enabled;

	if (python->minor < MINOR_WITH_PEP768)
		return true;
	if (memory_fetch(memory, python->runtime + ENABLED_3_14, &offset, sizeof(offset)) < 0 ||
	    offset >= OFFSET_MAXIMUM ||
	    memory_fetch(memory, interpreter + offset, &enabled, sizeof(enabled)) < 0) {
		error_set(error, "pid %d: whether Python allows remote debugging is unknown",
			  (int)pid);
		return false;
	}
	if (enabled == 1)
		return true;
	error_set(error,
		  "pid %d does not allow remote debugging (PYTHON_DISABLE_REMOTE_DEBUG, -X "
		  "disable-remote-debug, or built so)",
		  (int)pid);
	return false;
}

static const struct row {
	const char *name;
	size_t member;
} rows[] = {
	{ "PyRun_SimpleString", offsetof(struct callees, run) },
	{ "Py_AddPendingCall", offsetof(struct callees, add_pending) },
	{ "PyThread_start_new_thread", offsetof(struct callees, start_thread) },
	{ "PyGILState_Ensure", offsetof(struct callees, take_gil) },
	{ "PyGILState_Release", offsetof(struct callees, leave_gil) },
};

struct search {
	struct callees *callees;
	struct memory *memory;
	uint64_t runtime;
	const char *missing; /* name of a symbol that was not found; NULL: all were found; "": the
			      * interpreter was not found yet */
};

static void take_interpreter(struct search *search, struct loaded_elf_image *image)
{
	uint64_t runtime;

	if (loaded_elf_symbol(image, search->memory, "_PyRuntime", &runtime) < 0 ||
	    runtime != search->runtime)
		return;
	search->missing = NULL;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		if (loaded_elf_symbol(
			    image, search->memory, rows[i].name,
			    (uint64_t *)(void *)((char *)search->callees + rows[i].member)) < 0)
			search->missing = rows[i].name;
}

static bool is_c_library(const char *name)
{
	const char *base = strrchr(name, '/');

	base = base ? base + 1 : name;
	return strncmp(base, "libc.", 5) == 0 || strncmp(base, "libc-", 5) == 0 ||
	       strncmp(base, "ld-musl", 7) == 0;
}

static bool callees_take_library(struct loaded_elf_image *image, const char *name, void *data)
{
	struct search *search = data;

	if (search->missing)
		take_interpreter(search, image);
	if (!search->callees->unmap && is_c_library(name) &&
	    loaded_elf_symbol(image, search->memory, "raise", &search->callees->send) == 0)
		loaded_elf_symbol(image, search->memory, "munmap", &search->callees->unmap);
	return search->missing || !search->callees->unmap;
}

int callees_find(struct callees *callees, struct memory *memory, const struct cpython *python,
		 struct error *error)
{
	struct search search = { callees, memory, python->runtime, "" };
	struct loaded_elf_image program;

	*callees = (struct callees){ .run = 0 };
	memory_begin(memory, false);
	if (loaded_elf_program(&program, memory, NULL) == 0) {
		take_interpreter(&search, &program);
		loaded_elf_each_library(&program, memory, callees_take_library, &search);
	}
	if (!search.missing && !callees->unmap)
		search.missing = "munmap";
	if (!search.missing)
		return 0;
	return error_set(error, "no code can be run in pid %d: the program does not export %s",
			 (int)memory_pid(memory),
			 search.missing[0] ? search.missing : "the needed functions");
}
