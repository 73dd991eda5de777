/*
 * launch: the job that this node was asked to start, on a terminal that its
 * supervisor (job-supervisor.h) holds. Serves the requests `launch`, `jobInput`,
 * `jobTaken`, `jobResize`, `jobBreakpoints` and `jobEnd`, and tells what the
 * job prints and how it ends.
 *
 * The node is an ancestor of all that the job is made of, so it may trace it
 * where Yama lets only those (ptrace_scope 1).
 */
#ifndef BACKENDS_LAUNCH_LAUNCH_H
#define BACKENDS_LAUNCH_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct launch;
struct message;
struct node;
struct launched_programs;

struct launch *launch_new(struct node *node);
/* The job keeps running. */
void launch_free(struct launch *launch);

/* The process that all of the job are below of; 0: no job was started. */
pid_t launch_root(const struct launch *launch);
/* How the process that was started ended, as its status of waitpid(2); false:
 * it is not that one, or it is not known yet. */
bool launch_ended(const struct launch *launch, pid_t pid, int *status);

/* Lends what follows the job's programs; NULL where launch is. */
struct launched_programs *launch_starts(const struct launch *launch);

/* As requests.c calls handlers. */
void launch_request(struct node *node, const struct message *request);
void launch_input_request(struct node *node, const struct message *request);
void launch_taken_request(struct node *node, const struct message *request);
void launch_resize_request(struct node *node, const struct message *request);
void launch_breakpoints_request(struct node *node, const struct message *request);
void launch_end_request(struct node *node, const struct message *request);

#endif
