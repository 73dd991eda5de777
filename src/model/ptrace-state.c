#include "model/ptrace-state.h"

#include "banned.h"
#include "model/rank.h"

bool ptrace_state_is_debugger(const struct debugger *debugger)
{
	return debugger_is_ours(debugger) && debugger_is_of(debugger, "ptrace");
}

bool ptrace_state_is(const struct rank *rank)
{
	return !rank_is_gone(rank) && ptrace_state_is_debugger(&rank->debugger);
}

bool ptrace_state_is_free(const struct rank *rank)
{
	enum debugger_state state = rank->debugger.state;

	/* A rank on another machine is known by its debugger's socket only. */
	return !rank_is_gone(rank) && rank->process.pid > 0 &&
	       process_shown_pid(&rank->process) > 0 &&
	       (state == DEBUGGER_NONE || state == DEBUGGER_STALE || state == DEBUGGER_LOST);
}
