#include "backends/ptrace/refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"

#include "backends/ptrace/task.h"
#include "base/error.h"

/* 0 when Yama is not there. */
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

static int explain_denied(pid_t pid, struct error *error)
{
	char path[32];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &status) < 0)
		return refusal_explain(pid, ESRCH, error);
	if (status.st_uid != geteuid() && geteuid() != 0)
		return error_set(error,
				 "pid %d belongs to user %u and user %u may "
				 "not read it; run probetui as that user, or "
				 "give it CAP_SYS_PTRACE",
				 (int)pid, status.st_uid, geteuid());
	int scope = yama_scope();
	if (scope > 0)
		return error_set(error,
				 "the kernel refuses to let pid %d be read: "
				 "kernel.yama.ptrace_scope is %d; start the "
				 "job with \"probetui -- PROGRAM\", set it to "
				 "0, or give probetui CAP_SYS_PTRACE",
				 (int)pid, scope);
	return error_set(error,
			 "the kernel refuses to let pid %d be read; run "
			 "probetui as root or with CAP_SYS_PTRACE (in a "
			 "container: --cap-add SYS_PTRACE)",
			 (int)pid);
}

int refusal_explain(pid_t pid, int number, struct error *error)
{
	if (number == EPERM || number == EACCES)
		return explain_denied(pid, error);
	if (number == ESRCH || number == ENOENT)
		return error_set(error, "there is no process %d any more",
				 (int)pid);
	return error_set_errno(error, number, "pid %d cannot be read",
			       (int)pid);
}

void refusal_name(pid_t pid, char *out, size_t size)
{
	struct task task;

	task_init(&task, pid, pid);
	task_name(&task, out, size);
	if (!out[0])
		snprintf(out, size, "?");
}
