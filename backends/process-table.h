/*
 * process-table: the ranks and their children that this node has told of. Each
 * change is told: rankAdded, rankChanged, rankRemoved.
 */
#ifndef BACKENDS_PROCESS_TABLE_H
#define BACKENDS_PROCESS_TABLE_H

#include <stdbool.h>
#include <sys/types.h>

struct discovery;
struct error;
struct files;
struct node;
struct pid_list;
struct process;
struct process_sample;
struct roster;

struct roster *roster_new(struct node *node);
void roster_free(struct roster *roster);
/*
 * Finds ranks, tells of all there are, and lends what was found until the
 * next call. With pids (NULL: all processes are looked at) those are made
 * ranks, besides what is adopted. With a period it looks again every
 * so many seconds, and tells of every end at once; 0: it does not follow.
 */
const struct discovery *roster_discover(struct roster *roster, const struct pid_list *pids,
					double period);
/* Looks again now, as it does every period. */
void roster_look(struct roster *roster);
/*
 * Why the last look is incomplete: the first file of a process that is there
 * could not be read; NULL: it is complete.
 */
const char *roster_unread(const struct roster *roster);
/* Lends; NULL: never told of, or gone. */
const struct process *roster_find(const struct roster *roster, pid_t pid);
/* -1: why it does not find that one. */
int roster_miss(pid_t pid, struct error *error);
/*
 * Makes a process that is none of those found a rank, and tells of it. It
 * stays one until it ends, though no look finds it.
 */
void roster_adopt(struct roster *roster, const struct process *process);
/*
 * The debugger that a stand-in stood for is gone: so is the stand-in, in the
 * next turn of the loop. Nothing happens to a process.
 */
void roster_end_standin(struct roster *roster, pid_t pid);
/* Adds the pids of all ranks and children that were told of. */
void roster_list(const struct roster *roster, struct pid_list *pids);
/* No debugger of ours holds any of them from now on. */
void roster_release(struct roster *roster);
/* Tells when it has ended; true then. */
bool roster_check(struct roster *roster, pid_t pid);
/*
 * Whether a stack of the process has named the file, or one of a process that
 * has ended (a rank that lives stands in for a dead one).
 */
bool roster_has_file(const struct roster *roster, pid_t pid, const char *path);
/* Lends what the stacks of the process have named; NULL: it is not here. */
const struct files *roster_files(const struct roster *roster, pid_t pid);
/* The stacks begin anew: so do the files of what lives. */
void roster_forget_files(struct roster *roster);
/* Numbers a process's samples, across its connections. */
void roster_count(struct roster *roster, struct process_sample *sample);
/* Files, and what the frames of a child say about its role. */
void roster_learn(struct roster *roster, const struct process_sample *sample);

#endif
