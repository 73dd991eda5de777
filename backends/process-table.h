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
struct stack_files;
struct node;
struct pid_list;
struct process;
struct process_sample;
struct process_table;

struct process_table *process_table_new(struct node *node);
void process_table_free(struct process_table *process_table);
/*
 * Finds ranks, tells of all there are, and lends what was found until the
 * next call. With pids (NULL: all processes are looked at) those are made
 * ranks, besides what is adopted. With a period it looks again every
 * so many seconds, and tells of every end at once; 0: it does not follow.
 */
const struct discovery *process_table_discover(struct process_table *process_table,
					       const struct pid_list *pids, double period);
/* Looks again now, as it does every period. */
void process_table_look(struct process_table *process_table);
/*
 * Why the last look is incomplete: the first file of a process that is there
 * could not be read; NULL: it is complete.
 */
const char *process_table_unread(const struct process_table *process_table);
/* Lends; NULL: never told of, or gone. */
const struct process *process_table_find(const struct process_table *process_table, pid_t pid);
/* -1: why it does not find that one. */
int process_table_miss(pid_t pid, struct error *error);
/*
 * Makes a process that is none of those found a rank, and tells of it. It
 * stays one until it ends, though no look finds it.
 */
void process_table_adopt(struct process_table *process_table, const struct process *process);
/*
 * The debugger that a stand-in stood for is gone: so is the stand-in, in the
 * next turn of the loop. Nothing happens to a process.
 */
void process_table_end_standin(struct process_table *process_table, pid_t pid);
/* Adds the pids of all ranks and children that were told of. */
void process_table_list(const struct process_table *process_table, struct pid_list *pids);
/* No debugger of ours holds any of them from now on. */
void process_table_release(struct process_table *process_table);
/* Tells when it has ended; true then. */
bool process_table_check(struct process_table *process_table, pid_t pid);
/*
 * Whether a stack of the process has named the file, or one of a process that
 * has ended (a rank that lives stands in for a dead one).
 */
bool process_table_has_file(const struct process_table *process_table, pid_t pid, const char *path);
/* Lends what the stacks of the process have named; NULL: it is not here. */
const struct stack_files *process_table_files(const struct process_table *process_table, pid_t pid);
/* The stacks begin anew: so do the files of what lives. */
void process_table_forget_files(struct process_table *process_table);
/* Numbers a process's samples, across its connections. */
void process_table_count(struct process_table *process_table, struct process_sample *sample);
/* Files, and what the frames of a child say about its role. */
void process_table_learn(struct process_table *process_table, const struct process_sample *sample);

#endif
