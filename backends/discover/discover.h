/*
 * discover: which processes are ranks.
 *
 * A rank is a process that runs Python and has a rank number in its
 * environment. An ancestor of ranks that is another place in the job than
 * they are is their launcher. A process below a rank that is the same place,
 * or none, is a child of that rank.
 *
 * Of a job that this node has started, a Python program is a rank even where
 * it has no number, as long as none of them has one.
 *
 * Ranks made by multiprocessing set their number after they were started:
 * for such processes the program's own environment is asked for.
 */
#ifndef BACKENDS_DISCOVER_DISCOVER_H
#define BACKENDS_DISCOVER_DISCOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "backends/linux/pid-list.h"
#include "protocol/process.h"

struct environment_reader;
struct exe_cache;
struct procfs;
struct rankset;

#define BYSTANDERS_MAXIMUM 20

/* A Python process without a rank. */
struct bystander {
	pid_t pid;
	char *name;
	char *script;
};

struct discovery {
	struct process *processes; /* ranks before their children */
	size_t count;
	size_t capacity;
	size_t looked_at; /* processes that could be read */
	size_t others;	  /* Python processes of other users, not readable */
	size_t hidden;	  /* of this user, not readable */
	uid_t uid;
	struct pid_list launchers; /* of those that have a rank's variables */
	struct bystander bystanders[BYSTANDERS_MAXIMUM];
	size_t bystander_count;
};

/*
 * Looks at all processes, and asks exes first which of them have no Python; with
 * a root at those below it alone, which are one job then: where none of them has
 * a number, those that run Python and are below no other that does are ranks,
 * their numbers -1.
 */
void discover_all(struct discovery *discovery, struct procfs *procfs,
		  const struct environment_reader *reader, struct exe_cache *exes, pid_t root);
/*
 * Makes ranks of the processes named: their own number where they have one,
 * else the lowest that is free; those in taken are not. One that is gone is
 * found unreadable.
 */
void discover_pids(struct discovery *discovery, struct procfs *procfs,
		   const struct environment_reader *reader, const struct pid_list *pids,
		   const struct rankset *taken);
/*
 * What is found of one process, into an initialised one; its number is -1
 * where it has none. One that is gone is found unreadable. False: it runs no
 * Python.
 */
bool discover_one(struct process *process, struct procfs *procfs,
		  const struct environment_reader *reader, pid_t pid);
void discovery_clear(struct discovery *discovery);

#endif
