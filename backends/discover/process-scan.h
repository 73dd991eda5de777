/*
 * process-scan: the processes of this machine at one time, each looked at once. What
 * most processes are never asked for (parent, command line) is read when it
 * is asked for.
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

/* A command line keeps this many words and bytes. */
#define PROCESS_SCAN_WORDS_MAXIMUM 256
/* Higher family trees are not climbed. */
#define PROCESS_SCAN_ANCESTORS_MAXIMUM 64

struct process_scan_entry {
	pid_t pid;
	bool is_readable; /* exe and environ could be read */
	bool is_python;
	uid_t uid;
	char executable[256]; /* the name without its folder */
	struct environment environment;
	bool has_stat;
	int stat_error; /* the errno when no stat could be read; 0: it could */
	struct procfs_stat stat;
	char *command; /* the words, each with a NUL behind; NULL unread */
	const char **words;
	size_t word_count;
	/* What discover.c makes of it: */
	bool is_launcher;
	struct process_scan_entry *rank; /* the rank that it is, or is a child of */
};

struct process_scan {
	struct procfs *procfs; /* borrowed */
	char host[256];	       /* this machine's name */
	struct map *entries;   /* pid -> struct process_scan_entry */
	struct process_scan_entry **list;
	size_t count;
	size_t capacity;
	size_t readable_count;	 /* processes that could be looked at */
	size_t hidden_count;	 /* Python processes of others, as far as seen */
	size_t own_hidden_count; /* of them, of this user: not dumpable */
};

void process_scan_init(struct process_scan *scan, struct procfs *procfs);
void process_scan_clear(struct process_scan *scan);
/*
 * Looks at all processes that have a program. Those of which exes knows that
 * they are no rank are counted alone: process_scan_find() reads them when asked.
 */
int process_scan_all(struct process_scan *scan, struct exe_cache *exes);
/* At those below root only. */
void process_scan_below(struct process_scan *scan, pid_t root);
/*
 * Lends the entry of pid, looked at now if need be; NULL and errno: it is not
 * there, or cannot be looked at.
 */
struct process_scan_entry *process_scan_find(struct process_scan *scan, pid_t pid);
/* Lends the entry of the parent; NULL at the top. */
struct process_scan_entry *process_scan_parent(struct process_scan *scan,
					       struct process_scan_entry *entry);
/* Fills stat; false when the process is gone. */
bool process_scan_stat(struct process_scan *scan, struct process_scan_entry *entry);
/* Fills words; true when there is one at least. */
bool process_scan_words(struct process_scan *scan, struct process_scan_entry *entry);
/* True when a word of the command line contains text. */
bool process_scan_mentions(struct process_scan *scan, struct process_scan_entry *entry,
			   const char *text);

#endif
