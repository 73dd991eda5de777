/*
 * procfs: reads /proc/PID with as few system calls as possible.
 *
 * One buffer serves all reads: the bytes of procfs_read() are valid until the next
 * call. They are not to be trusted: other programs set names and arguments. -1 is
 * a failure; errno is then ENOENT or ESRCH: process gone, EACCES or EPERM: no
 * permission.
 */
#ifndef BACKENDS_LINUX_PROCFS_H
#define BACKENDS_LINUX_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buffer;
struct error;
struct procfs;
struct statx;

/* Files of /proc/PID are read up to this length; no file should be longer. */
#define PROCFS_FILE_MAXIMUM (8u << 20)

struct procfs {
	int fd; /* of /proc; -1 closed */
	char *data;
	size_t capacity;
	int unread; /* errno of the first unread file, 0: none (see below) */
};

struct procfs_entry {
	pid_t pid;
	uint64_t inode; /* of /proc/PID; another process has another one */
};

struct procfs_stat {
	char name[64];
	char state; /* 'R', 'S', 'T', 't', 'Z' … */
	pid_t parent_pid;
	uint64_t start_time; /* clock ticks since boot */
	int wait_status;     /* of a zombie, as wait(2) has it */
};

/*
 * procfs->unread is set where a file was not read although its process exists
 * and permits reading (EMFILE, ENOMEM, EIO …): results are incomplete then. A
 * caller that wants to know sets unread to 0 before. Modules that read /proc
 * themselves report a failure by procfs_note().
 */
void procfs_note(struct procfs *procfs, int number);

int procfs_open(struct procfs *procfs, struct error *error);
void procfs_close(struct procfs *procfs);
/* All processes there are; *pids is the caller's to free. */
int procfs_list(struct procfs *procfs, pid_t **pids, size_t *count);
/* All processes with the inodes of /proc/PID; *entries is the caller's to free. */
int procfs_entries(struct procfs *procfs, struct procfs_entry **entries, size_t *count);
/* The threads of a process. */
int procfs_threads(struct procfs *procfs, pid_t pid, pid_t **tids, size_t *count);
/*
 * Reads /proc/PID/FILE. *bytes: its bytes and a NUL, valid until the next call;
 * *owner (owner may be NULL): the uid of the process. Returns the length, or -1.
 */
ssize_t procfs_read(struct procfs *procfs, pid_t pid, const char *file, char **bytes, uid_t *owner);
/*
 * The mount, inode, change time and number of links of the file to which
 * /proc/PID/FILE leads, without asking a file server (AT_STATX_DONT_SYNC).
 */
int procfs_statx(struct procfs *procfs, pid_t pid, const char *file, struct statx *about);
/* Opens /proc/PID/FILE for reading; the caller closes it. -1 and errno. */
int procfs_open_file(struct procfs *procfs, pid_t pid, const char *file);
/* Reads a link as a string, cut to size. */
int procfs_link(struct procfs *procfs, pid_t pid, const char *file, char *out, size_t size);
int procfs_stat(struct procfs *procfs, pid_t pid, struct procfs_stat *stat);
/* True for the states of a process that has ended. */
bool procfs_has_ended(const struct procfs_stat *stat);
/* True for the errno of a failure that means that there is no process. */
bool procfs_is_gone(int number);
/* The uid of the process; no file is read. */
int procfs_owner(struct procfs *procfs, pid_t pid, uid_t *owner);
/*
 * Finds "KEY:" in the text of a process's or thread's status file, and returns the
 * text after it, up to the end of the whole text; NULL: there is no such line.
 */
const char *procfs_status_line(const char *status, const char *key);
/* The pid in the innermost pid namespace, from the text of a status file; 0: unknown. */
pid_t procfs_inner_pid(const char *status);
/* The number after "KEY:" in /proc/PID/status; fallback if there is none. */
int64_t procfs_status(struct procfs *procfs, pid_t pid, const char *key, int64_t fallback);
/* Seconds since the process with that start time was started. */
double procfs_age(uint64_t start_time);

/*
 * The signals that are pending for a process, and their effects there.
 * A set has bit N - 1 for signal N, as /proc/PID/status has it. kill(2) of a
 * process whose threads are all ptrace-stopped wakes none of them and gives
 * the tracer no stop: the signal is pending until one of them is resumed.
 */

/* Sets of signals of a thread; shared, ignored and caught are those of its process. */
struct pending_signals {
	uint64_t pending; /* to the thread */
	uint64_t shared;  /* to the process: any thread may take them */
	uint64_t blocked;
	uint64_t ignored;
	uint64_t caught;
};

/* False: there is no such thread, and signals is all zero. */
bool pending_signals_read(struct pending_signals *signals, struct procfs *procfs, pid_t tid);
/* Reads the sets from the text of /proc/TID/status. */
void pending_signals_parse(struct pending_signals *signals, const char *status);
/*
 * The signals of a set that the process handles, or that would end the process.
 * SIGCHLD, SIGCONT, SIGURG and SIGWINCH do nothing by default, so their
 * handlers may wait: no scheduler sends one before SIGKILL. SIGTRAP is the
 * tracer's.
 */
uint64_t pending_signals_that_count(const struct pending_signals *signals, uint64_t set);
/* Appends "SIGTERM, SIGUSR1". */
void pending_signals_append(struct buffer *out, uint64_t set);

#endif
