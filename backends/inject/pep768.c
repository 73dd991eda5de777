#include "backends/inject/pep768.h"

#include "banned.h"

#include "backends/cpython/cpython.h"
#include "backends/linux/memory.h"
#include "base/error.h"

#define MINOR_WITH_PEP768 14
/*
 * Offset in _Py_DebugOffsets of 3.14 of debugger_support.remote_debugging_enabled,
 * which is an offset in PyInterpreterState; struct _debugger_support is the last member.
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
		error_set(error, "It is not found whether pid %d lets debuggers in.", (int)pid);
		return false;
	}
	if (enabled == 1)
		return true;
	error_set(error,
		  "pid %d was told to let no debugger in (PYTHON_DISABLE_REMOTE_DEBUG, -X "
		  "disable-remote-debug, or built so).",
		  (int)pid);
	return false;
}
