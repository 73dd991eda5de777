/*
 * procfs: reads /proc/PID with as few system calls as possible.
 *
 * One buffer serves all reads: the bytes of procfs_read() are valid until the next call. These
 * bytes are not to be trusted: other programs set names and arguments. On failure, functions return
 * -1 and set errno (ENOENT or ESRCH: process gone; EACCES or EPERM: no permission).
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

/* Files of /proc/PID are read up to this length in bytes; no file should be longer. */
#define PROCFS_FILE_MAXIMUM (8u << 20)

struct procfs {
	int fd; /* descriptor of /proc; -1: closed */
	char *data;
	size_t capacity;
	int unread; /* errno of the first unread file; 0: none (procfs_note()) */
};

struct procfs_entry {
	pid_t pid;
	uint64_t inode; /* inode of /proc/PID, which differs from process to process */
};

struct procfs_stat {
	char name[64];
	char state; /* 'R', 'S', 'T', 't', 'Z' … */
	pid_t parent_pid;
	uint64_t start_time; /* clock ticks since boot */
	int wait_status;     /* wait status of a zombie, as in wait(2) */
};

/*
 * procfs->unread is set if a file could not be read although its process exists and permits reading
 * (EMFILE, ENOMEM, EIO …), so that results are incomplete. A caller that checks procfs->unread sets
 * it to 0 before it reads. Modules that read /proc themselves report a failure by procfs_note(),
 * with the errno.
 */
void procfs_note(struct procfs *procfs, int number);

int procfs_open(struct procfs *procfs, struct error *error);
void procfs_close(struct procfs *procfs);
/* Lists all processes. The caller frees *pids. */
int procfs_list(struct procfs *procfs, pid_t **pids, size_t *count);
/* Lists all processes with the inodes of /proc/PID. The caller frees *entries. */
int procfs_entries(struct procfs *procfs, struct procfs_entry **entries, size_t *count);
/* Lists the threads of a process. The caller frees *tids. */
int procfs_threads(struct procfs *procfs, pid_t pid, pid_t **tids, size_t *count);
/*
 * Reads /proc/PID/FILE. Sets *bytes to the file's bytes and a NUL, valid until the next call, and
 * *owner to the uid of the process (owner may be NULL). Returns the length, or -1.
 */
ssize_t procfs_read(struct procfs *procfs, pid_t pid, const char *file, char **bytes, uid_t *owner);
/*
 * Gets the mount, inode, change time and number of links of the file to which the link
 * /proc/PID/FILE leads, without asking a file server (AT_STATX_DONT_SYNC).
 */
int procfs_statx(struct procfs *procfs, pid_t pid, const char *file, struct statx *about);
/* Opens /proc/PID/FILE for reading. Returns a descriptor, which the caller closes, or -1 with
 * errno. */
int procfs_open_file(struct procfs *procfs, pid_t pid, const char *file);
/* Reads the target of the link /proc/PID/FILE as a string, cut to size. */
int procfs_link(struct procfs *procfs, pid_t pid, const char *file, char *out, size_t size);
int procfs_stat(struct procfs *procfs, pid_t pid, struct procfs_stat *stat);
/* Whether the state is that of a process that has ended. */
bool procfs_has_ended(const struct procfs_stat *stat);
/* Whether this errno means that the process does not exist. */
bool procfs_is_gone(int number);
/* Gets the uid of the process, without reading a file. */
int procfs_owner(struct procfs *procfs, pid_t pid, uid_t *owner);
/*
 * Finds the line "KEY:" in the text of a process's or thread's status file. Returns a pointer to
 * the text after the colon (the later lines follow); NULL: there is no such line.
 */
const char *procfs_status_line(const char *status, const char *key);
/* Returns the pid in the innermost pid namespace, from the text of a status file; 0: unknown. */
pid_t procfs_inner_pid(const char *status);
/* Returns the number after "KEY:" in /proc/PID/status; if there is none, returns fallback. */
int64_t procfs_status(struct procfs *procfs, pid_t pid, const char *key, int64_t fallback);
/* Returns the seconds since start_time (procfs_stat.start_time). */
double procfs_age(uint64_t start_time);

/*
 * pending_signals: the signals that are pending for a process, and their effects on it. A set of
 * signals has bit N - 1 for signal N, as in /proc/PID/status. If all threads of a process are
 * ptrace-stopped, kill(2) wakes none of them and causes no stop that the tracer sees: the signal is
 * pending until a thread is resumed.
 */

/* Sets of signals. pending and blocked belong to one thread; shared, ignored and caught to its
 * process. */
struct pending_signals {
	uint64_t pending; /* sent to the thread */
	uint64_t shared;  /* sent to the process: any thread may receive them */
	uint64_t blocked;
	uint64_t ignored;
	uint64_t caught;
};

/* Reads the sets of a thread. Returns false, and empty sets, if there is no such thread. */
bool pending_signals_read(struct pending_signals *signals, struct procfs *procfs, pid_t tid);
/* Reads the sets from the text of /proc/TID/status. */
void pending_signals_parse(struct pending_signals *signals, const char *status);
/*
 * Returns the signals of a set that the process handles, or that would end the process. Without
 * SIGCHLD, SIGCONT, SIGURG and SIGWINCH: they do nothing by default and no scheduler sends them to
 * announce SIGKILL, so their handlers may wait. Without SIGTRAP, which the tracer uses.
 */
uint64_t pending_signals_that_count(const struct pending_signals *signals, uint64_t set);
/* Appends the names of the signals: "SIGTERM, SIGUSR1". */
void pending_signals_append(struct buffer *out, uint64_t set);

#endif
