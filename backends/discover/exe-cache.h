/*
 * exe-cache: which processes run no Python, as earlier looks have found.
 *
 * A process is known by its pid and the inode number of /proc/PID, which
 * getdents64(2) gives with the pid and which procfs makes anew for each
 * process. An executable is known by its mount, inode and change time, which
 * one statx(2) of /proc/PID/exe gives: it differs after execve(2). So a
 * process that is known costs one system call a look, and one that has run for
 * many looks a quarter of one.
 *
 * An executable cannot have Python as a library when it needs none but the C
 * and C++ libraries and does not import dlopen(3): its processes are not
 * opened at all. Its file is read once, when its third process is met, and
 * only where that file is on this machine: NFS may hang.
 *
 * Where many processes are new, a second thread calls statx(2) for the later half
 * of them meanwhile.
 */
#ifndef BACKENDS_DISCOVER_EXE_CACHE_H
#define BACKENDS_DISCOVER_EXE_CACHE_H

#include <stdbool.h>
#include <stddef.h>

struct exe_cache;
struct procfs;
struct procfs_entry;

/* What is known of a process without opening it. */
enum exe_answer {
	EXE_UNKNOWN, /* it has to be looked at */
	EXE_OTHER,   /* readable, and no rank: it has no Python */
	EXE_HIDDEN,  /* not readable, and not called Python */
	EXE_NONE,    /* a kernel thread, a zombie, or gone */
};

struct exe_cache *exe_cache_new(void);
void exe_cache_free(struct exe_cache *cache);
/* A look at all processes begins; is_whole: no process is left out of it. */
void exe_cache_begin(struct exe_cache *cache, struct procfs *procfs, bool is_whole);
/*
 * Starts the system calls for entries. entries must stay valid until exe_cache_end(). Look at each
 * entry at most once, in order.
 */
void exe_cache_prefetch(struct exe_cache *cache, struct procfs *procfs,
			const struct procfs_entry *entries, size_t count);
/* After the last entry. */
void exe_cache_end(struct exe_cache *cache, struct procfs *procfs);
/*
 * Returns what the cache knows of one process; call it in the order of procfs_entries(). For
 * EXE_UNKNOWN, exe_cache_name() returns the name.
 */
enum exe_answer exe_cache_look(struct exe_cache *cache, struct procfs *procfs,
			       const struct procfs_entry *entry);
/*
 * The name of the executable of the process that exe_cache_look() was last
 * asked about, without its folder. NULL and errno: it cannot be read.
 */
const char *exe_cache_name(struct exe_cache *cache, struct procfs *procfs);
/* The process that was EXE_UNKNOWN is EXE_OTHER or EXE_HIDDEN from now on. */
void exe_cache_learn(struct exe_cache *cache, enum exe_answer answer);
/* By the name of an executable or of a thread. */
bool exe_is_python_name(const char *name);

#endif
