#include "backends/inject/bypep768.h"

#include <errno.h>
#include <sys/uio.h>

#include "banned.h"

#include "backends/ptrace/cpython.h"
#include "backends/ptrace/memory.h"
#include "base/error.h"

/* In _Py_DebugOffsets of 3.14: struct _debugger_support, its last member. */
#define SUPPORT_3_14 712
#define OFFSET_MAXIMUM (16u << 20)
#define PLEASE_STOP 0x20 /* _PY_EVAL_PLEASE_STOP_BIT of the eval breaker */

/* Offsets in a thread state, or as they say. */
struct support {
	uint64_t breaker;
	uint64_t support; /* of the next three: */
	uint64_t enabled; /* in the interpreter */
	uint64_t pending;
	uint64_t path;
	uint64_t path_size; /* a number of bytes */
};

static bool make_sense(const struct support *support)
{
	return support->breaker < OFFSET_MAXIMUM &&
	       support->support < OFFSET_MAXIMUM &&
	       support->enabled < OFFSET_MAXIMUM &&
	       support->pending < OFFSET_MAXIMUM &&
	       support->path < OFFSET_MAXIMUM && support->path_size > 1 &&
	       support->path_size <= OFFSET_MAXIMUM;
}

static int write_to(struct memory *memory, uint64_t address, const void *bytes,
		    size_t length)
{
	struct iovec from = { (void *)(uintptr_t)bytes, length };
	struct iovec to = { (void *)(uintptr_t)address, length };

	return process_vm_writev(memory_pid(memory), &from, 1, &to, 1, 0) ==
			       (ssize_t)length
		       ? 0
		       : -1;
}

int bypep768_find(struct bypep768 *found, struct memory *memory,
		  const struct cpython *python, uint64_t interpreter,
		  uint64_t state, struct error *error)
{
	pid_t pid = memory_pid(memory);
	struct support support;
	int32_t enabled;

	if (!state || memory_fetch(memory, python->runtime + SUPPORT_3_14,
				   &support, sizeof(support)) < 0 ||
	    !make_sense(&support) ||
	    memory_fetch(memory, interpreter + support.enabled, &enabled,
			 sizeof(enabled)) < 0)
		return error_set(error,
				 "It is not found where the main thread of pid "
				 "%d would be asked to run a script.",
				 (int)pid);
	if (enabled != 1)
		return error_set(error,
				 "pid %d was told to let no debugger in "
				 "(PYTHON_DISABLE_REMOTE_DEBUG, "
				 "-X disable-remote-debug, or built so).",
				 (int)pid);
	*found = (struct bypep768){
		.breaker = state + support.breaker,
		.pending = state + support.support + support.pending,
		.path = state + support.support + support.path,
		.path_size = support.path_size,
	};
	return 0;
}

/* Of the breaker one byte: the others change beside us. */
int bypep768_ask(const struct bypep768 *found, struct memory *memory,
		 const char *path, struct error *error)
{
	const int32_t one = 1;
	uint8_t breaker;

	if (strlen(path) >= found->path_size)
		return error_set(error, "the script's name is too long");
	if (bypep768_is_pending(found, memory))
		return error_set(error,
				 "Another debugger has asked pid %d to run a "
				 "script, which it has not done yet.",
				 (int)memory_pid(memory));
	if (write_to(memory, found->path, path, strlen(path) + 1) == 0 &&
	    write_to(memory, found->pending, &one, sizeof(one)) == 0 &&
	    memory_fetch(memory, found->breaker, &breaker, 1) == 0) {
		breaker |= PLEASE_STOP;
		if (write_to(memory, found->breaker, &breaker, 1) == 0)
			return 0;
	}
	return error_set_errno(error, errno,
			       "pid %d: its memory cannot be written",
			       (int)memory_pid(memory));
}

bool bypep768_is_pending(const struct bypep768 *found, struct memory *memory)
{
	int32_t pending;

	return memory_fetch(memory, found->pending, &pending,
			    sizeof(pending)) == 0 &&
	       pending == 1;
}

bool bypep768_withdraw(const struct bypep768 *found, struct memory *memory)
{
	const int32_t none = 0;
	const char end = '\0';

	if (!bypep768_is_pending(found, memory))
		return false;
	/*
	 * It takes the request back first, and copies the name then: where the
	 * request is still there behind this, it has copied nothing.
	 */
	write_to(memory, found->path, &end, 1);
	if (!bypep768_is_pending(found, memory))
		return false;
	write_to(memory, found->pending, &none, sizeof(none));
	return true;
}
