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
 * Scans for ranks and reports all of them. pids: exactly these processes and the adopted ones
 * become ranks; NULL: all processes are examined. period: seconds after which the scan is repeated,
 * and every exit is reported at once; 0: a single scan. The result is valid until the next scan.
 */
const struct discovery *process_table_discover(struct process_table *process_table,
					       const struct pid_list *pids, double period);
/* Scans now, in addition to the periodic scans. */
void process_table_look(struct process_table *process_table);
/*
 * Returns why the last scan is incomplete (the error of the first file of a live process that could
 * not be read); NULL: the scan is complete.
 */
const char *process_table_unread(const struct process_table *process_table);
/* Returns NULL for a process that was never reported, or has exited. */
const struct process *process_table_find(const struct process_table *process_table, pid_t pid);
/* Sets the error for a pid that process_table_find() has not found. Always returns -1. */
int process_table_miss(pid_t pid, struct error *error);
/*
 * Adds a process that no scan has found as a rank, and reports it. The process stays a rank until
 * it exits, even if scans do not find it.
 */
void process_table_adopt(struct process_table *process_table, const struct process *process);
/*
 * Removes a stand-in (the entry of a process on another machine) whose debugger has disconnected,
 * in the next turn of the loop. Does nothing if pid is not a stand-in.
 */
void process_table_end_standin(struct process_table *process_table, pid_t pid);
/* Adds the pids of all ranks and children in the table. */
void process_table_list(const struct process_table *process_table, struct pid_list *pids);
/* Disconnects the debuggers of all processes, so that stopped processes resume. */
void process_table_release(struct process_table *process_table);
/*
 * Checks whether the process has exited; if so, returns true, and reports the exit, now or, of a
 * process whose pidfd is watched, in the next turn of the loop.
 */
bool process_table_check(struct process_table *process_table, pid_t pid);
/* If the process has exited, reports the exit at once. */
void process_table_check_now(struct process_table *process_table, pid_t pid);
/*
 * Whether a frame of the process, or of any exited process, has had this source file. Exited
 * processes count because a live rank is asked for the source files of an exited one.
 */
bool process_table_has_file(const struct process_table *process_table, pid_t pid, const char *path);
/* Returns the source files of all frames seen in the process; NULL: no such process. */
const struct stack_files *process_table_files(const struct process_table *process_table, pid_t pid);
/* Forgets the source files of live processes; to be called when the table of stacks was
 * replaced. */
void process_table_forget_files(struct process_table *process_table);
/* Sets sample->epoch to the sample's number among all samples of the process, whichever connection
 * took them. Leaves the epoch 0 of a failed sample. */
void process_table_count(struct process_table *process_table, struct process_sample *sample);
/* Notes the source files in a sample's stacks, and derives the role of a child process from its
 * frames. */
void process_table_learn(struct process_table *process_table, const struct process_sample *sample);

#endif
