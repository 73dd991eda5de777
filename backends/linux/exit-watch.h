/*
 * exit-watch: uses a pidfd to report the exit of processes that are not this process's children.
 * The watched process is not affected. pidfd_open(2) needs Linux 5.3; reading the exit status of a
 * process that its parent has already reaped needs Linux 6.15 (ioctl PIDFD_GET_INFO,
 * include/uapi/linux/pidfd.h).
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
	int code;   /* exit code; -1: unknown, or killed by a signal */
	int signal; /* signal that killed the process; 0: none or unknown */
};

/*
 * Calls ended(pid, data) once, when the process is a zombie or gone. Returns NULL if no pidfd can
 * be opened or the process is gone already.
 */
struct exit_watch *exit_watch_new(struct loop *loop, pid_t pid,
				  void (*ended)(pid_t pid, void *data), void *data);
void exit_watch_free(struct exit_watch *watch);
/* Reads how a process ended; to be called after its end. watch may be NULL. */
struct exit_status exit_status_read(const struct exit_watch *watch, struct procfs *procfs,
				    pid_t pid, uint64_t start_time);
/* Describes the status in a sentence, to free(). */
char *exit_status_describe(struct exit_status status);

#endif
