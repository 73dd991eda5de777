/*
 * procfs: what /proc/PID says, read with as few system calls as there are.
 *
 * One buffer serves all readings: what procfs_read lends is good until the
 * next call. Everything in it was written by a stranger. After a failure
 * errno is set: ENOENT and ESRCH gone, EACCES and EPERM not ours to see.
 */
#ifndef BACKENDS_LINUX_PROCFS_H
#define BACKENDS_LINUX_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct statx;

/* No file of /proc/PID that we read is longer; the rest is left unread. */
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
/* The same with their inodes; *entries is the caller's to free. */
int procfs_entries(struct procfs *procfs, struct procfs_entry **entries, size_t *count);
/* The threads of a process. */
int procfs_threads(struct procfs *procfs, pid_t pid, pid_t **tids, size_t *count);
/*
 * Reads /proc/PID/FILE and lends its bytes with a NUL behind them; owner (or
 * NULL) becomes the uid of the process.
 */
ssize_t procfs_read(struct procfs *procfs, pid_t pid, const char *file, char **bytes, uid_t *owner);
/*
 * The mount, inode, change time and count of links of what /proc/PID/FILE
 * leads to, as far as this machine knows them (AT_STATX_DONT_SYNC).
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
/* Whose process it is, without reading it. */
int procfs_owner(struct procfs *procfs, pid_t pid, uid_t *owner);
/*
 * Lends what follows "KEY:" in the text of /proc/PID/status, or of a thread's,
 * up to the end of the text; NULL: there is no such line.
 */
const char *procfs_status_line(const char *status, const char *key);
/* The pid in its innermost pid namespace, from such a text; 0 unknown. */
pid_t procfs_inner_pid(const char *status);
/* The number behind "KEY:" in /proc/PID/status; fallback if there is none. */
int64_t procfs_status(struct procfs *procfs, pid_t pid, const char *key, int64_t fallback);
/* Seconds since the process with that start time was started. */
double procfs_age(uint64_t start_time);

#endif
