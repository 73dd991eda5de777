#include "backends/diagnose.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "banned.h"
#include "backends/backend.h"
#include "backends/connections.h"
#include "backends/node.h"
#include "backends/procfs.h"
#include "backends/ptrace/hold.h"
#include "backends/roster.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/process.h"

static void set_reason(struct reason *reason, const char *why, const char *fix)
{
	snprintf(reason->why, sizeof(reason->why), "%s", why);
	snprintf(reason->fix, sizeof(reason->fix), "%s", fix);
}

static int yama_scope(void)
{
	char digit = '0';
	int fd = open("/proc/sys/kernel/yama/ptrace_scope",
		      O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, &digit, 1) != 1)
		digit = '0';
	close(fd);
	return digit - '0';
}

/*
 * Address 0 is in no process: EFAULT says that reading is allowed. Reading
 * ourselves is always allowed, unless a filter forbids the call itself.
 */
static int probe_read(pid_t pid)
{
	char byte;
	struct iovec to = { .iov_base = &byte, .iov_len = 1 };
	struct iovec from = { .iov_base = NULL, .iov_len = 1 };

	if (process_vm_readv(pid, &to, 1, &from, 1, 0) >= 0)
		return 0;
	return errno == EFAULT ? 0 : errno;
}

static void explain_yama(int scope, struct reason *reason)
{
	snprintf(reason->why, sizeof(reason->why),
		 "The kernel's Yama module (kernel.yama.ptrace_scope = %d) "
		 "lets only a parent read a process.",
		 scope);
	snprintf(reason->fix, sizeof(reason->fix), "%s",
		 scope >= 3 ? "The machine must be started again with another "
			      "value; start the job with `probetui -- "
			      "torchrun …` there."
		 : scope == 2
			 ? "sudo sysctl kernel.yama.ptrace_scope=0, or run "
			   "probetui with sudo."
			 : "sudo sysctl kernel.yama.ptrace_scope=0, or run "
			   "probetui with sudo, or start the job with "
			   "`probetui -- torchrun …`.");
}

static void explain_denial(struct procfs *procfs, pid_t pid,
			   struct reason *reason)
{
	uid_t owner = geteuid();
	int64_t tracer = procfs_status(procfs, pid, "TracerPid", 0);
	int scope = yama_scope();

	if (procfs_owner(procfs, pid, &owner) == 0 && geteuid() != 0 &&
	    owner != geteuid()) {
		snprintf(reason->why, sizeof(reason->why),
			 "The process belongs to user %u, or has changed its "
			 "user; probetui runs as user %u.",
			 (unsigned)owner, (unsigned)geteuid());
		snprintf(reason->fix, sizeof(reason->fix),
			 "Run probetui as that user (sudo -u '#%u') or as "
			 "root.",
			 (unsigned)owner);
	} else if (tracer > 0) {
		snprintf(reason->why, sizeof(reason->why),
			 "Process %" PRId64 " (a debugger or strace) is "
			 "attached to it.",
			 tracer);
		snprintf(reason->fix, sizeof(reason->fix),
			 "End that debugger.");
	} else if (scope > 0) {
		explain_yama(scope, reason);
	} else {
		set_reason(reason,
			   "The kernel refuses: the process has more rights "
			   "than probetui, or runs in another container.",
			   "Run probetui as root or with CAP_SYS_PTRACE (a "
			   "container: --cap-add SYS_PTRACE), or inside the "
			   "job's container.");
	}
}

static void explain(struct procfs *procfs, pid_t pid, int number,
		    struct reason *reason)
{
	struct procfs_stat stat;

	if (procfs_stat(procfs, pid, &stat) < 0) {
		set_reason(reason, "The process is not there (any more).",
			   "Look for it with `probetui ranks`.");
	} else if (procfs_has_ended(&stat)) {
		set_reason(reason,
			   "The process has ended; its parent has not taken "
			   "notice yet.",
			   "Its output and its launcher's log say why it "
			   "ended.");
	} else if (probe_read(getpid()) == EPERM ||
		   probe_read(getpid()) == ENOSYS) {
		set_reason(reason,
			   "A seccomp filter (of the container) forbids "
			   "process_vm_readv.",
			   "Start the container with --cap-add SYS_PTRACE or "
			   "--security-opt seccomp=unconfined.");
	} else if (number == EPERM || number == EACCES) {
		explain_denial(procfs, pid, reason);
	} else {
		set_reason(reason, strerror(number), "");
	}
}

int diagnose_read(struct procfs *procfs, pid_t pid, struct reason *reason)
{
	int number = probe_read(pid);

	if (number == 0)
		return 0;
	explain(procfs, pid, number, reason);
	return -1;
}

/* Each gives true and perhaps a word about it, or false and the reason. */
static bool try_environ(struct node *node, pid_t pid, struct reason *reason)
{
	char *bytes;

	if (procfs_read(node_procfs(node), pid, "environ", &bytes, NULL) >= 0)
		return true;
	explain(node_procfs(node), pid, errno, reason);
	return false;
}

static bool try_read(struct node *node, pid_t pid, struct reason *reason)
{
	struct process process = { .pid = pid };
	struct error error = ERROR_INIT;
	struct connection *connection;

	if (diagnose_read(node_procfs(node), pid, reason) < 0)
		return false;
	connection = connections_open(node_connections(node), &process, &error);
	if (!connection) {
		set_reason(reason, error.message, "");
		return false;
	}
	if (connection->version[0])
		snprintf(reason->why, sizeof(reason->why), "Python %s",
			 connection->version);
	return true;
}

static bool try_ptrace(struct node *node, pid_t pid, struct reason *reason)
{
	int number = hold_probe(pid);

	if (number == 0)
		return true;
	explain(node_procfs(node), pid, number, reason);
	return false;
}

static bool try_exact(struct node *node, pid_t pid, struct reason *reason)
{
	if (node_is_read_only(node)) {
		set_reason(reason, "probetui runs with --read-only.",
			   "Leave --read-only out.");
		return false;
	}
	return try_read(node, pid, reason) && try_ptrace(node, pid, reason);
}

struct way {
	const char *name;
	bool (*try)(struct node *node, pid_t pid, struct reason *reason);
};

static const struct way ways[] = {
	{ "environ", try_environ },
	{ "read", try_read },
	{ "exact snapshot", try_exact },
	{ "ptrace", try_ptrace },
};

json_t *diagnose(struct node *node, pid_t pid)
{
	const struct process *process = roster_find(node_roster(node), pid);
	json_t *object = json_object();
	json_t *array = json_array();

	for (size_t i = 0; i < ARRAY_LENGTH(ways); i++) {
		struct reason reason = { .why = "", .fix = "" };
		bool is_ok = ways[i].try(node, pid, &reason);
		json_t *way = json_object();

		json_set_text(way, "way", ways[i].name);
		json_object_set_new(way, "ok", json_boolean(is_ok));
		json_set_text(way, "why", reason.why);
		json_set_text(way, "fix", reason.fix);
		json_array_append_new(array, way);
	}
	if (process)
		json_object_set_new(object, "rank",
				    json_integer(process->rank));
	else
		json_object_set_new(object, "rank", json_null());
	json_object_set_new(object, "pid", json_integer(pid));
	json_object_set_new(object, "ways", array);
	return object;
}
