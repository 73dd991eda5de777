/*
 * exe-cache: remembers from scan to scan which processes run no Python.
 *
 * A process is identified by its pid and the inode number of /proc/PID, which
 * getdents64(2) returns with the pid; procfs gives each process a new inode. An
 * executable is identified by its mount, inode and change time, which one statx(2)
 * of /proc/PID/exe returns: they differ after execve(2). So a known process costs
 * one system call per scan, and a long-running one a quarter of that.
 *
 * An executable that needs only the C and C++ libraries and does not import
 * dlopen(3) cannot have Python as a library: the files of its processes are not
 * opened at all. The executable's file is read once, when its third process is
 * found, and only from a local file system: NFS may hang.
 *
 * If many processes are new, a second thread calls statx(2) for the later half of
 * them.
 */
#ifndef BACKENDS_DISCOVER_EXE_CACHE_H
#define BACKENDS_DISCOVER_EXE_CACHE_H

#include <stdbool.h>
#include <stddef.h>

struct exe_cache;
struct procfs;
struct procfs_entry;

/* The result for a process whose files in /proc were not opened. */
enum exe_answer {
	EXE_UNKNOWN, /* the process has to be read */
	EXE_OTHER,   /* readable, runs no Python */
	EXE_HIDDEN,  /* not readable, not named like Python */
	EXE_NONE,    /* a kernel thread, a zombie, or exited */
};

struct exe_cache *exe_cache_new(void);
void exe_cache_free(struct exe_cache *cache);
/* Begins a scan of all processes; is_whole: long-running processes are not skipped. */
void exe_cache_begin(struct exe_cache *cache, struct procfs *procfs, bool is_whole);
/*
 * Starts the system calls for entries. entries must stay valid until exe_cache_end(). Look at each
 * entry at most once, in order.
 */
void exe_cache_prefetch(struct exe_cache *cache, struct procfs *procfs,
			const struct procfs_entry *entries, size_t count);
/* Ends a scan, after the last entry. */
void exe_cache_end(struct exe_cache *cache, struct procfs *procfs);
/*
 * Returns what the cache knows of one process; call it in the order of procfs_entries(). For
 * EXE_UNKNOWN, exe_cache_name() returns the name.
 */
enum exe_answer exe_cache_look(struct exe_cache *cache, struct procfs *procfs,
			       const struct procfs_entry *entry);
/*
 * Returns the file name, without folder, of the executable of the process of the
 * last exe_cache_look(). NULL and errno: it cannot be read.
 */
const char *exe_cache_name(struct exe_cache *cache, struct procfs *procfs);
/* Remembers the answer (EXE_OTHER, EXE_HIDDEN) for the process of the last exe_cache_look(). */
void exe_cache_learn(struct exe_cache *cache, enum exe_answer answer);
/* Whether the name of an executable or a thread is Python's. */
bool exe_is_python_name(const char *name);

#endif
