#include "backends/linux/access-refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "backends/linux/procfs.h"
#include "backends/linux/task.h"
#include "banned.h"
#include "base/error.h"

static void access_refusal_set_reason(struct reason *reason, const char *why, const char *fix)
{
	snprintf(reason->why, sizeof(reason->why), "%s", why);
	snprintf(reason->fix, sizeof(reason->fix), "%s", fix);
}

/* Returns the value of kernel.yama.ptrace_scope; 0: the kernel has no Yama. */
static int yama_scope(void)
{
	char digit = '0';
	int fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 0;
	if (read(fd, &digit, 1) != 1)
		digit = '0';
	close(fd);
	return digit - '0';
}

/*
 * Tries to read address 0, which no process has mapped, so EFAULT means that reading is allowed. A
 * process may always read itself, unless a filter (seccomp) forbids the call.
 */
int access_refusal_probe(pid_t pid)
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
		 "the kernel's Yama module (kernel.yama.ptrace_scope = %d) allows only a parent to "
		 "read a process",
		 scope);
	snprintf(reason->fix, sizeof(reason->fix), "%s",
		 scope >= 3   ? "reboot the machine with another value, and start the job with "
				"`probetui -- torchrun …`"
		 : scope == 2 ? "sudo sysctl kernel.yama.ptrace_scope=0, or run probetui with sudo"
			      : "sudo sysctl kernel.yama.ptrace_scope=0, or run probetui with "
				"sudo, or start the job with `probetui -- torchrun …`");
}

/*
 * True if the files of the process in /proc belong to its user: those of a process that is not
 * dumpable belong to root.
 */
static bool is_dumpable(struct procfs *procfs, pid_t pid, int64_t owner)
{
	struct stat status;
	char path[32];

	snprintf(path, sizeof(path), "%d/environ", (int)pid);
	return fstatat(procfs->fd, path, &status, 0) < 0 || (int64_t)status.st_uid == owner;
}

static void access_refusal_explain_denial(struct procfs *procfs, pid_t pid, struct reason *reason)
{
	int64_t owner = procfs_status(procfs, pid, "Uid", geteuid());
	int64_t tracer = procfs_status(procfs, pid, "TracerPid", 0);
	int scope = yama_scope();

	if (geteuid() != 0 && owner != (int64_t)geteuid()) {
		snprintf(reason->why, sizeof(reason->why),
			 "process %d belongs to user %u, but probetui runs as user %u", (int)pid,
			 (unsigned)owner, (unsigned)geteuid());
		snprintf(reason->fix, sizeof(reason->fix),
			 "run probetui as that user (sudo -u '#%u') or as root", (unsigned)owner);
	} else if (tracer <= 0 && !is_dumpable(procfs, pid, owner)) {
		access_refusal_set_reason(
			reason,
			"the process is not dumpable (PR_SET_DUMPABLE 0; also after a change of "
			"its user), so only root can read its memory",
			"run probetui as root (sudo), or let the program call "
			"prctl(PR_SET_DUMPABLE, 1)");
	} else if (tracer > 0) {
		snprintf(reason->why, sizeof(reason->why),
			 "process %" PRId64 " (a debugger or strace) is attached to the process",
			 tracer);
		snprintf(reason->fix, sizeof(reason->fix), "detach that debugger");
	} else if (scope > 0) {
		explain_yama(scope, reason);
	} else {
		access_refusal_set_reason(
			reason,
			"the kernel denies access (the process has more rights than probetui, or "
			"runs in another container)",
			"run probetui as root or with CAP_SYS_PTRACE (docker run --cap-add "
			"SYS_PTRACE; Kubernetes: securityContext.capabilities.add: [SYS_PTRACE]), "
			"or inside the job's container");
	}
}

static void explain(struct procfs *procfs, pid_t pid, int number, struct reason *reason)
{
	struct procfs_stat stat;
	int stat_error = procfs_stat(procfs, pid, &stat) < 0 ? errno : 0;

	if (procfs_is_gone(stat_error)) {
		snprintf(reason->why, sizeof(reason->why), "process %d does not exist", (int)pid);
		snprintf(reason->fix, sizeof(reason->fix),
			 "list the processes with `probetui ranks`");
	} else if (stat_error == 0 && procfs_has_ended(&stat)) {
		access_refusal_set_reason(
			reason, "the process has exited, but its parent has not reaped it yet",
			"see the output and the launcher's log for the reason");
	} else if (access_refusal_probe(getpid()) == EPERM ||
		   access_refusal_probe(getpid()) == ENOSYS) {
		access_refusal_set_reason(
			reason, "a seccomp filter (of the container) forbids process_vm_readv",
			"start the container with --cap-add SYS_PTRACE or --security-opt "
			"seccomp=unconfined");
	} else if (number == EPERM || number == EACCES) {
		access_refusal_explain_denial(procfs, pid, reason);
	} else {
		snprintf(reason->why, sizeof(reason->why), "process %d cannot be read: %s",
			 (int)pid, strerror(number));
	}
}

void access_refusal_find(struct reason *reason, pid_t pid, int number)
{
	struct error error = ERROR_INIT;
	struct procfs procfs;

	*reason = (struct reason){ .fix = "" };
	if (procfs_open(&procfs, &error) < 0) {
		snprintf(reason->why, sizeof(reason->why), "process %d cannot be read: %s",
			 (int)pid, strerror(number));
		return;
	}
	explain(&procfs, pid, number, reason);
	procfs_close(&procfs);
}

int access_refusal_explain(pid_t pid, int number, struct error *error)
{
	struct reason reason;

	access_refusal_find(&reason, pid, number);
	return reason_explain(&reason, error);
}

void access_refusal_name(pid_t pid, char *out, size_t size)
{
	struct task task;

	task_init(&task, pid, pid);
	task_name(&task, out, size);
	if (!out[0])
		snprintf(out, size, "?");
}
