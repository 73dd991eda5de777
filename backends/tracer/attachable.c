#include "backends/tracer/attachable.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <unistd.h>

#include "banned.h"

#include "backends/linux/access-refusal.h"
#include "backends/linux/procfs.h"
#include "backends/native/registers.h"
#include "backends/tracer/debug-registers.h"
#include "backends/tracer/freezer.h"
#include "base/error.h"

#define SECCOMP_STRICT 1

static const char others[] = "or use pdb (breakpoint() in the program) or the agent";

static bool attachable_find_number(const char *text, const char *key, int base, int64_t *value)
{
	const char *found = procfs_status_line(text, key);

	if (!found)
		return false;
	*value = (int64_t)strtoull(found, NULL, base);
	return true;
}

/*
 * Returns the text of /proc/PID/status, which belongs to procfs; the caller closes procfs. NULL:
 * errno is set.
 */
static char *read_status(struct procfs *procfs, pid_t pid)
{
	struct error error = ERROR_INIT;
	char *text;

	if (procfs_open(procfs, &error) < 0)
		return NULL;
	if (procfs_read(procfs, pid, "status", &text, NULL) >= 0)
		return text;
	int number = errno;
	procfs_close(procfs);
	errno = number;
	return NULL;
}

bool attachable_status(pid_t tid, const char *key, int base, int64_t *value)
{
	struct procfs procfs;
	char *text = read_status(&procfs, tid);
	bool is_found;

	if (!text)
		return false;
	is_found = attachable_find_number(text, key, base, value);
	procfs_close(&procfs);
	return is_found;
}

bool attachable_is_ours(pid_t tid)
{
	int64_t tracer = 0;

	attachable_status(tid, "TracerPid", 10, &tracer);
	return tracer == getpid();
}

static bool is_traced(const char *status, struct reason *reason)
{
	char name[32];
	int64_t tracer;

	if (!attachable_find_number(status, "TracerPid", 10, &tracer) || tracer == 0 ||
	    tracer == getpid())
		return false;
	access_refusal_name((pid_t)tracer, name, sizeof(name));
	snprintf(reason->why, sizeof(reason->why),
		 "%s (pid %" PRId64
		 ") is attached to the process, which can have only one debugger",
		 name, tracer);
	snprintf(reason->fix, sizeof(reason->fix), "detach that debugger, %s", others);
	return true;
}

/*
 * True if the program handles SIGTRAP. Then a trap that occurs just when the node is killed would
 * run the handler, and SIGTRAP cannot be ignored without changing the program's behaviour.
 */
static bool has_handler(const char *status, struct reason *reason)
{
	int64_t caught;

	if (!attachable_find_number(status, "SigCgt", 16, &caught) ||
	    !(caught >> (SIGTRAP - 1) & 1))
		return false;
	snprintf(reason->why, sizeof(reason->why),
		 "the program handles SIGTRAP, which hardware breakpoints need");
	snprintf(reason->fix, sizeof(reason->fix),
		 "run the program without that handler (signal.signal(SIGTRAP, …)), %s", others);
	return true;
}

static bool is_confined(const char *status, struct reason *reason)
{
	int64_t mode;

	if (!attachable_find_number(status, "Seccomp", 10, &mode) || mode != SECCOMP_STRICT)
		return false;
	snprintf(reason->why, sizeof(reason->why),
		 "the process may only read and write (seccomp's strict mode), so it cannot ignore "
		 "SIGTRAP while breakpoints are set");
	return true;
}

static bool attachable_is_allowed(pid_t pid, struct reason *reason)
{
	int number = freeze_probe(pid);

	if (number == 0)
		return true;
	access_refusal_find(reason, pid, number);
	return false;
}

static bool is_watchable(pid_t pid, struct reason *reason)
{
	if (perf_breakpoint_probe(pid, reason))
		return true;
	if (!reason->fix[0])
		snprintf(reason->fix, sizeof(reason->fix), "%s", others + 3);
	return false;
}

static bool can_unwind(struct reason *reason)
{
	if (registers_can_unwind())
		return true;
	snprintf(reason->why, sizeof(reason->why),
		 "stopping by ptrace is supported on x86-64 only");
	snprintf(reason->fix, sizeof(reason->fix), "%s", others + 3);
	return false;
}

static bool is_refused(pid_t pid, bool with_watches, struct reason *reason)
{
	struct procfs procfs;
	char *status;
	bool is_refused;

	*reason = (struct reason){ .fix = "" };
	if (!can_unwind(reason))
		return true;
	status = read_status(&procfs, pid);
	if (!status) {
		access_refusal_find(reason, pid, errno);
		return true;
	}
	is_refused = is_traced(status, reason) || (with_watches && has_handler(status, reason)) ||
		     is_confined(status, reason);
	procfs_close(&procfs);
	return is_refused || !attachable_is_allowed(pid, reason);
}

bool attachable(pid_t pid, struct reason *reason)
{
	return !is_refused(pid, true, reason) && is_watchable(pid, reason);
}

bool attachable_for_call(pid_t pid, struct reason *reason)
{
	return !is_refused(pid, false, reason);
}
