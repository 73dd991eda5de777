/*
 * launch: the job that this node has launched, through a supervisor that has the job's
 * terminal (job-supervisor.h). Serves the requests `launch`, `jobInput`, `jobTaken`,
 * `jobResize`, `jobBreakpoints` and `jobEnd`, and reports the job's output and exit.
 *
 * The node is an ancestor of all processes of the job, so it may trace them under
 * Yama's ptrace_scope 1.
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
/* Frees the state; the job and its supervisor keep running. */
void launch_free(struct launch *launch);

/* Returns the pid of the supervisor, which is the ancestor of all processes of the job; 0: no
 * job. */
pid_t launch_root(const struct launch *launch);
/* If pid is the job's process and has exited, sets *status (that of waitpid(2)) and returns
 * true. */
bool launch_ended(const struct launch *launch, pid_t pid, int *status);

/* Returns the object that traces the programs of the job from their first instruction; NULL if
 * launch is NULL. */
struct launched_programs *launch_starts(const struct launch *launch);

/* Handlers of the requests of launch, called by requests.c. */
void launch_request(struct node *node, const struct message *request);
void launch_input_request(struct node *node, const struct message *request);
void launch_taken_request(struct node *node, const struct message *request);
void launch_resize_request(struct node *node, const struct message *request);
void launch_breakpoints_request(struct node *node, const struct message *request);
void launch_end_request(struct node *node, const struct message *request);

#endif
