/*
 * discover: finds the processes that are ranks.
 *
 * A rank is a process that runs Python and has a rank number in its environment.
 * An ancestor whose rank variables differ from a rank's is the rank's launcher. A
 * descendant that has a rank's variables, or none, is a child of that rank.
 *
 * In a job that this node has launched, Python programs without a number are ranks
 * as well, as long as no process of the job has a number.
 *
 * Ranks made by multiprocessing set their number after their start: of these
 * processes, os.environ is read as well.
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
	size_t hidden;	  /* Python processes of this user, not readable */
	uid_t uid;
	struct pid_list launchers; /* launchers that could be taken for ranks */
	struct bystander bystanders[BYSTANDERS_MAXIMUM];
	size_t bystander_count;
};

/*
 * root 0: examines all processes; exes knows which of them run no Python. Else:
 * examines only the descendants of root, which are one job; if none of them has a
 * rank number, its outermost Python processes are the ranks, with number -1.
 */
void discover_all(struct discovery *discovery, struct procfs *procfs,
		  const struct environment_reader *reader, struct exe_cache *exes, pid_t root);
/*
 * Makes the processes in pids ranks, with their own numbers where these are free,
 * else the lowest free ones; numbers in taken are not free. A pid that does not
 * exist becomes PROCESS_UNREADABLE.
 */
void discover_pids(struct discovery *discovery, struct procfs *procfs,
		   const struct environment_reader *reader, const struct pid_list *pids,
		   const struct rankset *taken);
/*
 * Fills an initialised process with the facts about pid; rank -1: no number. A pid
 * that does not exist becomes PROCESS_UNREADABLE. False: it runs no Python, or
 * does not exist.
 */
bool discover_one(struct process *process, struct procfs *procfs,
		  const struct environment_reader *reader, pid_t pid);
void discovery_clear(struct discovery *discovery);

#endif
