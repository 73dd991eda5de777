#include "backends/linux/exit-watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "banned.h"
#include "backends/linux/procfs.h"
#include "base/alloc.h"
#include "base/loop.h"

/*
 * struct pidfd_info of include/uapi/linux/pidfd.h of Linux 6.15, which older headers lack, in its
 * first published size, 64 bytes, which every later kernel accepts.
 */
struct pidfd_information {
	uint64_t mask;
	uint64_t cgroup_id;
	uint32_t pid;
	uint32_t tgid;
	uint32_t ppid;
	uint32_t uids[8];
	int32_t exit_code;
};

_Static_assert(sizeof(struct pidfd_information) == 64, "PIDFD_INFO_SIZE_VER0");

#define INFORMATION_EXIT (UINT64_C(1) << 3)
#define GET_INFORMATION _IOWR(0xFF, 11, struct pidfd_information)

struct exit_watch {
	int fd;
	pid_t pid;
	struct loop_watch *watch; /* waits for the exit; NULL: the exit was reported */
	void (*ended)(pid_t pid, void *data);
	void *data;
};

static void on_exit_seen(int fd, int events, void *data)
{
	struct exit_watch *watch = data;

	(void)fd;
	(void)events;
	loop_watch_stop(watch->watch);
	watch->watch = NULL;
	watch->ended(watch->pid, watch->data);
}

struct exit_watch *exit_watch_new(struct loop *loop, pid_t pid,
				  void (*ended)(pid_t pid, void *data), void *data)
{
	struct exit_watch *watch;
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return NULL;
	watch = xcalloc(1, sizeof(*watch));
	watch->fd = fd;
	watch->pid = pid;
	watch->ended = ended;
	watch->data = data;
	watch->watch = loop_watch(loop, fd, LOOP_READABLE, on_exit_seen, watch);
	return watch;
}

void exit_watch_free(struct exit_watch *watch)
{
	if (!watch)
		return;
	if (watch->watch)
		loop_watch_stop(watch->watch);
	close(watch->fd);
	free(watch);
}

static struct exit_status from_wait_status(int wait_status)
{
	struct exit_status status = { .code = -1 };

	if (WIFSIGNALED(wait_status))
		status.signal = WTERMSIG(wait_status);
	else if (WIFEXITED(wait_status))
		status.code = WEXITSTATUS(wait_status);
	return status;
}

static bool may_see_status(struct procfs *procfs, pid_t pid)
{
	uid_t owner;

	return procfs_owner(procfs, pid, &owner) == 0 && (geteuid() == 0 || owner == geteuid());
}

struct exit_status exit_status_read(const struct exit_watch *watch, struct procfs *procfs,
				    pid_t pid, uint64_t start_time)
{
	struct pidfd_information information = { .mask = INFORMATION_EXIT };
	struct procfs_stat stat;

	/*
	 * Reads the zombie first, then the pidfd: if the parent reaps the zombie in between, the
	 * status moves from the zombie to the pidfd. A status of 0 may also mean that this user may
	 * not see the status.
	 */
	if (procfs_stat(procfs, pid, &stat) == 0 && procfs_has_ended(&stat) &&
	    stat.start_time == start_time) {
		if (stat.wait_status != 0 || may_see_status(procfs, pid))
			return from_wait_status(stat.wait_status);
	}
	if (watch && ioctl(watch->fd, GET_INFORMATION, &information) == 0 &&
	    information.mask & INFORMATION_EXIT)
		return from_wait_status(information.exit_code);
	return (struct exit_status){ .code = -1 };
}

char *exit_status_describe(struct exit_status status)
{
	if (status.signal)
		return xasprintf("the process was killed by signal %d (%s)", status.signal,
				 strsignal(status.signal));
	if (status.code >= 0)
		return xasprintf("the process exited with code %d", status.code);
	return xstrdup("the process has exited; its exit code is unknown");
}
