/*
 * exit-watch: reports, by a pidfd, the end of processes that are not this process's
 * children. The process is not affected. pidfd_open(2) needs Linux 5.3; the exit
 * status of a process that its parent has reaped already needs Linux 6.15 (ioctl
 * PIDFD_GET_INFO, include/uapi/linux/pidfd.h).
 */
#ifndef BACKENDS_LINUX_EXIT_WATCH_H
#define BACKENDS_LINUX_EXIT_WATCH_H

#include <stdint.h>
#include <sys/types.h>

struct exit_watch;
struct loop;
struct procfs;

/* How a process ended. */
struct exit_status {
	int code;   /* exit code; -1: unknown, or ended by a signal */
	int signal; /* 0: none or unknown */
};

/*
 * Calls ended(pid, data) once when the process is a zombie or gone. NULL: no pidfd
 * can be opened, or the process is gone already.
 */
struct exit_watch *exit_watch_new(struct loop *loop, pid_t pid,
				  void (*ended)(pid_t pid, void *data), void *data);
void exit_watch_free(struct exit_watch *watch);
/* How a process ended, read after its end; watch may be NULL. */
struct exit_status exit_status_read(const struct exit_watch *watch, struct procfs *procfs,
				    pid_t pid, uint64_t start_time);
/* A sentence; free() it. */
char *exit_status_describe(struct exit_status status);

#endif
