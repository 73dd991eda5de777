/*
 * process-table: the ranks and their children that this node has reported. Each
 * change is an event: rankAdded, rankChanged, rankRemoved.
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
 * Scans for ranks and reports all of them. pids: exactly these processes and the
 * adopted ones become ranks; NULL: all processes are examined. With a period
 * (seconds) the scan is repeated, and every exit is reported at once; 0: not
 * followed. The result is valid until the next scan.
 */
const struct discovery *process_table_discover(struct process_table *process_table,
					       const struct pid_list *pids, double period);
/* Scans now, as the timer does every period. */
void process_table_look(struct process_table *process_table);
/*
 * Returns why the last scan is incomplete: the error of the first file of a live
 * process that could not be read; NULL: complete.
 */
const char *process_table_unread(const struct process_table *process_table);
/* Returns NULL for a process that was never reported, or has exited. */
const struct process *process_table_find(const struct process_table *process_table, pid_t pid);
/* Sets the error for a pid that process_table_find() does not find; returns -1. */
int process_table_miss(pid_t pid, struct error *error);
/*
 * Makes a process that no scan has found a rank, and reports it. It stays a rank
 * until it exits, even if scans do not find it.
 */
void process_table_adopt(struct process_table *process_table, const struct process *process);
/*
 * Removes a stand-in in the next turn of the loop, since its debugger is gone. Does
 * nothing if pid is no stand-in.
 */
void process_table_end_standin(struct process_table *process_table, pid_t pid);
/* Adds the pids of all ranks and children in the table. */
void process_table_list(const struct process_table *process_table, struct pid_list *pids);
/* Disconnects the debuggers of all processes, which resume. */
void process_table_release(struct process_table *process_table);
/* Checks whether the process has exited; if so, reports that and returns true. */
bool process_table_check(struct process_table *process_table, pid_t pid);
/*
 * Whether a stack of the process, or of an exited process, has named the file: for an
 * exited rank, a live rank is asked for the source.
 */
bool process_table_has_file(const struct process_table *process_table, pid_t pid, const char *path);
/* Returns the files that stacks of the process have named; NULL: no such process. */
const struct stack_files *process_table_files(const struct process_table *process_table, pid_t pid);
/* Forgets the files of live processes, since the table of stacks was replaced. */
void process_table_forget_files(struct process_table *process_table);
/* Sets sample->epoch: the number of the process's sample, over all connections. */
void process_table_count(struct process_table *process_table, struct process_sample *sample);
/* Notes the files of a sample's stacks, and the role of a child from its frames. */
void process_table_learn(struct process_table *process_table, const struct process_sample *sample);

#endif
