/*
 * process-scan: the processes of this machine at one time, each read once. The parent and the
 * command line, which are needed for few processes, are read on demand.
 */
#ifndef BACKENDS_DISCOVER_PROCESS_SCAN_H
#define BACKENDS_DISCOVER_PROCESS_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/discover/environment.h"
#include "backends/linux/procfs.h"

struct exe_cache;
struct map;

/* Words of a command line that are kept, at most. */
#define PROCESS_SCAN_WORDS_MAXIMUM 256
/* Ancestors of a process that are followed, at most. */
#define PROCESS_SCAN_ANCESTORS_MAXIMUM 64

struct process_scan_entry {
	pid_t pid;
	bool is_readable; /* exe and environ could be read */
	bool is_python;
	uid_t uid;
	char executable[256]; /* file name without folder */
	struct environment environment;
	bool has_stat;
	int stat_error; /* errno of reading stat; 0: success */
	struct procfs_stat stat;
	char *command; /* the command line, each word NUL-terminated; NULL: not read */
	const char **words;
	size_t word_count;
	/* Set by discover.c: */
	bool is_launcher;
	bool is_claimed; /* the rank by its variables may be that of another process */
	bool is_asked;	 /* the program was asked what it knows of its rank */
	bool is_helper;	 /* of a library: never a rank by its variables, which are inherited */
	struct process_scan_entry *rank; /* the entry itself if it is a rank, or the rank whose
					  * child it is; NULL: none */
};

struct process_scan {
	struct procfs *procfs; /* borrowed */
	char host[256];	       /* this machine's name */
	struct map *entries;   /* pid -> struct process_scan_entry */
	struct process_scan_entry **list;
	size_t count;
	size_t capacity;
	size_t readable_count;	 /* readable processes */
	size_t hidden_count;	 /* Python processes that could not be read */
	size_t own_hidden_count; /* those of hidden_count that belong to this user (not dumpable,
				  * prctl(2)) */
};

void process_scan_init(struct process_scan *scan, struct procfs *procfs);
void process_scan_clear(struct process_scan *scan);
/*
 * Reads all processes except kernel threads. Processes that exes remembers as not running Python
 * are only counted; process_scan_find() reads them on demand.
 */
int process_scan_all(struct process_scan *scan, struct exe_cache *exes);
/* Reads only the descendants of root. */
void process_scan_below(struct process_scan *scan, pid_t root);
/*
 * Returns the entry of pid, reading the process now if need be. Returns NULL and sets errno if the
 * process does not exist or its stat cannot be read.
 */
struct process_scan_entry *process_scan_find(struct process_scan *scan, pid_t pid);
/* Returns the entry of the parent process; NULL: no parent. */
struct process_scan_entry *process_scan_parent(struct process_scan *scan,
					       struct process_scan_entry *entry);
/* Fills entry->stat. Returns false and sets errno if the process has exited or stat cannot be
 * read. */
bool process_scan_stat(struct process_scan *scan, struct process_scan_entry *entry);
/* Fills entry->words. Returns false if there are none. */
bool process_scan_words(struct process_scan *scan, struct process_scan_entry *entry);
/* Whether a word of the command line contains text. */
bool process_scan_mentions(struct process_scan *scan, struct process_scan_entry *entry,
			   const char *text);

#endif
