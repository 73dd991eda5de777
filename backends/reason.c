#include "backends/backend.h"

#include "banned.h"
#include "base/error.h"

static const char *const kind_names[] = {
	[REQUEST_SAMPLE] = "sample",
	[REQUEST_SAMPLE_EXACT] = "exact sample",
	[REQUEST_VARIABLES] = "variables",
	[REQUEST_SOURCE] = "source",
	[REQUEST_EVALUATE] = "evaluate",
	[REQUEST_COMPLETIONS] = "completions",
	[REQUEST_SET_VARIABLE] = "setVariable",
	[REQUEST_EXECUTE] = "execute",
	[REQUEST_CATCH] = "catch",
	[REQUEST_EJECT] = "eject",
	[REQUEST_WATCHDOG] = "watchdog",
	[REQUEST_SET_EXCEPTIONS] = "setExceptionBreakpoints",
	[REQUEST_TENSOR] = "tensor",
	[REQUEST_PARAMETERS] = "parameters",
	[REQUEST_CONTINUE] = "continue",
	[REQUEST_NEXT] = "next",
	[REQUEST_STEP_IN] = "stepIn",
	[REQUEST_STEP_OUT] = "stepOut",
	[REQUEST_UNTIL] = "until",
	[REQUEST_JUMP] = "jump",
	[REQUEST_PAUSE] = "pause",
	[REQUEST_TERMINATE] = "terminate",
	[REQUEST_SET_BREAKPOINTS] = "setBreakpoints",
	[REQUEST_TERMINAL] = "terminal",
	[REQUEST_TERMINAL_INPUT] = "terminalInput",
};

const char *request_kind_name(enum request_kind kind)
{
	return kind_names[kind];
}

int reason_explain(const struct reason *reason, struct error *error)
{
	return error_set(error, "%s%s%s", reason->why, reason->fix[0] ? " " : "", reason->fix);
}
