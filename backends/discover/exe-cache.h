/*
 * exe-cache: remembers from scan to scan which processes run no Python.
 *
 * A process is identified by its pid and the inode number of /proc/PID, which getdents64(2) returns
 * with the pid; procfs gives each process a new inode. An executable is identified by its mount,
 * inode and change time, which one statx(2) of /proc/PID/exe returns; after an execve(2) of another
 * file they differ. So a known process costs one system call per scan, and a long-running process
 * one in four scans.
 *
 * An executable that needs only the C and C++ libraries and does not import dlopen(3) cannot have
 * Python as a library: the files in /proc of processes that run such an executable are not opened
 * at all. An executable's file is read once, when the third process that runs it is found, and only
 * if the file is on a local file system: NFS may hang.
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
	EXE_NONE,    /* is a kernel thread or a zombie, or has exited */
};

struct exe_cache *exe_cache_new(void);
void exe_cache_free(struct exe_cache *cache);
/* Begins a scan of all processes. is_whole: also checks the long-running processes that other scans
 * skip. */
void exe_cache_begin(struct exe_cache *cache, struct procfs *procfs, bool is_whole);
/*
 * Starts the system calls for entries, which must stay valid until exe_cache_end(). Afterwards call
 * exe_cache_look() at most once per entry, in order.
 */
void exe_cache_prefetch(struct exe_cache *cache, struct procfs *procfs,
			const struct procfs_entry *entries, size_t count);
/* Ends a scan. To be called after the last exe_cache_look() of the scan. */
void exe_cache_end(struct exe_cache *cache, struct procfs *procfs);
/*
 * Returns what the cache knows of the process. To be called in the order of procfs_entries(). After
 * EXE_UNKNOWN, exe_cache_name() returns the name of the executable.
 */
enum exe_answer exe_cache_look(struct exe_cache *cache, struct procfs *procfs,
			       const struct procfs_entry *entry);
/*
 * For the process of the last exe_cache_look(): returns the file name of its executable, without
 * folder. Returns NULL and sets errno if the name cannot be read.
 */
const char *exe_cache_name(struct exe_cache *cache, struct procfs *procfs);
/* Remembers the answer (EXE_OTHER, EXE_HIDDEN) for the process of the last exe_cache_look(). */
void exe_cache_learn(struct exe_cache *cache, enum exe_answer answer);
/* Whether the name of an executable or a thread is that of a Python interpreter. */
bool exe_is_python_name(const char *name);

#endif
