/*
 * discover: finds the processes that are ranks.
 *
 * A rank is a process that runs Python and has a rank number: in its default process group, or else
 * in its environment (environment.h has the order). An ancestor of a rank whose rank variables
 * differ from the rank's is the rank's launcher, unless the ancestor has a process group. A
 * descendant that has a rank's group or variables, or none, is a child of that rank.
 *
 * In a job that this node has launched, Python programs without a number are ranks
 * as well, as long as no process of the job has a number.
 *
 * Many ranks learn their number after their start, so the memory of a process is read, too
 * (struct environment_reader), if the process has a number, was made by multiprocessing, or has
 * loaded a framework.
 *
 * If two processes of a job claim one number, both are ranks: the one without a group, or else the
 * younger one, gets a number that no rank of the job can have.
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
	struct pid_list launchers; /* processes with a rank number that are launchers, not ranks */
	struct bystander bystanders[BYSTANDERS_MAXIMUM];
	size_t bystander_count;
};

/*
 * root 0: examines all processes except those that exes remembers as not running Python. Other
 * root: examines only the descendants of root, which are one job; if none of them has a rank
 * number, the outermost Python processes of the job are the ranks, with number -1.
 */
void discover_all(struct discovery *discovery, struct procfs *procfs,
		  const struct environment_reader *reader, struct exe_cache *exes, pid_t root);
/*
 * Makes entries of the processes in pids. A process keeps its own rank number if that is free, and
 * else gets the lowest free number; numbers in `taken` are not free. A launcher, a rank's child and
 * a helper have a role, and no rank number of their own. The entry of a pid that does not exist is
 * PROCESS_UNREADABLE. Python processes below those without a role, which are no ranks of their own,
 * are added as children.
 */
void discover_pids(struct discovery *discovery, struct procfs *procfs,
		   const struct environment_reader *reader, const struct pid_list *pids,
		   const struct rankset *taken);
/*
 * Fills an initialised *process with the facts about pid; without a rank number, rank is -1.
 * Returns false if the process does not run Python, or does not exist (*process is then
 * PROCESS_UNREADABLE).
 */
bool discover_one(struct process *process, struct procfs *procfs,
		  const struct environment_reader *reader, pid_t pid);
void discovery_clear(struct discovery *discovery);

#endif
