#include "backends/ptrace/debuggee.h"

#include "banned.h"
#include "backends/cpython/bytecode.h"
#include "backends/linux/memory.h"
#include "backends/native/registers.h"
#include "backends/node.h"
#include "backends/tracer/tracee.h"

/*
 * The interpreter is about to run code that nobody has called before: a
 * module's body, the main script, what exec() is given. All of it comes
 * through one function, whose first argument it is.
 */
void control_starts(struct control *control, pid_t tid)
{
	struct registers registers;
	int argument = arch_first_argument();

	if (!control->is_python || tracee_registers(control->tracee, tid, &registers) < 0 ||
	    !registers_has(&registers, argument))
		return;
	/* It may lie where another one was, which is gone. */
	bytecode_cache_age(control->bytecodes);
	memory_begin(control->memory, false);
	breaks_starts(control->breaks, registers.values[argument]);
	if (!control_wish(control))
		return;
	control_arm_all(control);
	control_tell_again(control);
	control_settle(control);
	node_flush(control->base.node);
}

bool control_start_watch(const struct control *control, struct watch *watch)
{
	*watch = (struct watch){
		.address = control->python.eval_code,
		.length = 8,
		.access = WATCH_EXECUTE,
	};
	return control->python.eval_code && breaks_are_pending(control->breaks);
}
