#include "backends/ptrace/debuggee.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/cpython/pytstate.h"
#include "backends/http/agent-endpoint.h"
#include "backends/linux/memory.h"
#include "backends/linux/procfs.h"
#include "backends/node.h"
#include "backends/process-table.h"
#include "backends/tracer/attachable.h"
#include "backends/tracer/syscall-restart.h"
#include "backends/tracer/tracee.h"
#include "base/error.h"
#include "protocol/process.h"

#define MINOR_JIT 13 /* 3.13 is the first version that may be built with a JIT */

/* Whether PYTHON_JIT was set, and not to "0", in the process's environment at its start. */
static bool has_jit(struct node *node, pid_t pid, int minor)
{
	static const char name[] = "PYTHON_JIT=";
	ssize_t length;
	char *bytes;

	if (minor < MINOR_JIT)
		return false;
	length = procfs_read(node_procfs(node), pid, "environ", &bytes, NULL);
	for (ssize_t i = 0; i < length;) {
		const char *entry = bytes + i;
		const char *value = entry + strlen(name);

		if (strncmp(entry, name, strlen(name)) == 0)
			return *value != '\0' && strcmp(value, "0") != 0;
		i += (ssize_t)strlen(entry) + 1;
	}
	return false;
}

/* Whether a thread has a trace function set from within (sys.settrace: pdb, coverage). */
static bool is_traced_within(struct memory *memory, const struct cpython *python)
{
	struct pytstate_list list = { .items = NULL };
	long offset = python->offsets.ts_tracefunc;
	bool result = false;

	memory_begin(memory, false);
	if (offset < 0 || pytstate_list_read(&list, memory, python, NULL) < 0)
		list.count = 0;
	for (size_t i = 0; i < list.count && !result; i++) {
		uint64_t function = 0;

		result = memory_fetch(memory, list.items[i].address + (uint64_t)offset, &function,
				      sizeof(function)) == 0 &&
			 function != 0;
	}
	pytstate_list_clear(&list);
	return result;
}

/* Whether the process has an agent, whose trace function it then is. */
static bool unsupported_has_agent(struct node *node, pid_t pid)
{
	const struct process *known = process_table_find(node_process_table(node), pid);
	uid_t uid = 0;

	if (known)
		uid = known->uid;
	else
		procfs_owner(node_procfs(node), pid, &uid);
	return agent_endpoint_exists(pid, uid);
}

static bool can_follow(struct node *node, struct memory *memory, const struct cpython *python,
		       struct reason *reason)
{
	if (has_jit(node, memory_pid(memory), python->minor))
		return reason_set(reason,
				  "Its Python compiles code while it runs (PYTHON_JIT): what is "
				  "compiled cannot be followed from outside.",
				  "Start it with PYTHON_JIT=0.");
	if (!is_traced_within(memory, python))
		return true;
	if (unsupported_has_agent(node, memory_pid(memory)))
		return reason_set(
			reason,
			"It is traced from within (sys.settrace), as probetui's agent in it does "
			"while breakpoints are set there or a thread stands.",
			"Nothing is wrong: it is stopped and stepped by the agent meanwhile. From "
			"outside it can be when those breakpoints are deleted.");
	return reason_set(reason,
			  "It is being traced from within (sys.settrace: pdb, a coverage tool).",
			  "Connect to its pdb, or start it without.");
}

bool debuggee_can_step(const struct debuggee *control, struct reason *reason)
{
	return !control->is_python ||
	       can_follow(control->base.node, control->memory, &control->python, reason);
}

static bool can_follow_process(struct node *node, pid_t pid, struct reason *reason)
{
	struct memory *memory = memory_new(pid);
	struct error error = ERROR_INIT;
	struct cpython python;
	bool result;

	if (cpython_locate(&python, memory, node_elf_cache(node), &error) < 0)
		result = reason_set(reason, error.message, "");
	else
		result = can_follow(node, memory, &python, reason);
	memory_free(memory);
	return result;
}

/* Adds to reason the first thread in a system call whose time-out a stop restarts. */
static void tell_anew(pid_t pid, struct reason *reason)
{
	const char *name = NULL;
	struct dirent *entry = NULL;
	char path[32];
	size_t length = strlen(reason->why);

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *folder = opendir(path);
	while (folder && !name && (entry = readdir(folder)) != NULL)
		name = syscall_restart_anew(pid, (pid_t)strtol(entry->d_name, NULL, 10));
	if (name)
		snprintf(reason->why + length, sizeof(reason->why) - length,
			 " Thread %s waits in %s: a stop restarts the time-out of that call.",
			 entry->d_name, name);
	if (folder)
		closedir(folder);
}

bool debuggee_probe(struct node *node, pid_t pid, struct reason *reason)
{
	bool is_ours = tracee_find(node_waits(node), pid) != NULL;

	if ((!is_ours && !attachable(pid, reason)) || !can_follow_process(node, pid, reason))
		return false;
	reason_set(reason, "Yes; SIGTRAP is ignored while a breakpoint or a step is set.", "");
	tell_anew(pid, reason);
	return true;
}
