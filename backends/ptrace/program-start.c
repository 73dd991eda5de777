#include "backends/ptrace/debuggee.h"

#include "banned.h"
#include "backends/cpython/bytecode.h"
#include "backends/linux/memory.h"
#include "backends/native/registers.h"
#include "backends/node.h"
#include "backends/tracer/tracee.h"

/*
 * The interpreter is about to run a new code object: a module's body, the main
 * script or the argument of exec(). All of them pass PyEval_EvalCode(), whose
 * first argument is the code object.
 */
void debuggee_starts(struct debuggee *control, pid_t tid)
{
	struct registers registers;
	int argument = registers_first_argument();

	if (!control->is_python || tracee_registers(control->tracee, tid, &registers) < 0 ||
	    !registers_has(&registers, argument))
		return;
	/* The new code object may have the address of a cached one that was freed. */
	bytecode_cache_age(control->bytecodes);
	memory_begin(control->memory, false);
	breakpoint_table_starts(control->breaks, registers.values[argument]);
	if (!debuggee_watch_request(control))
		return;
	debuggee_arm_all(control);
	debuggee_tell_again(control);
	debuggee_settle(control);
	node_flush(control->base.node);
}

bool debuggee_start_watch(const struct debuggee *control, struct hardware_watch *watch)
{
	*watch = (struct hardware_watch){
		.address = control->python.eval_code,
		.length = 8,
		.access = HARDWARE_WATCH_EXECUTE,
	};
	return control->python.eval_code && breakpoint_table_are_pending(control->breaks);
}
