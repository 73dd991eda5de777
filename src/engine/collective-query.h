/*
 * collective-query: asks the nodes what ranks have called of torch.distributed (the request
 * `collectives`). The session takes the answers; the verdict and the view of the process groups
 * read them there.
 */
#ifndef ENGINE_COLLECTIVE_QUERY_H
#define ENGINE_COLLECTIVE_QUERY_H

#include <stdbool.h>
#include <stddef.h>

struct engine;
struct request_group;

/* Number of newest calls of each rank that a verdict needs. */
#define COLLECTIVES_FOR_VERDICT 16
/* Number of newest calls that are read to show them, and to find different ones. */
#define COLLECTIVES_SHOWN 64

/* Sends the request for each live rank; a shell can wait for the answers with group. */
void collectives_ask(struct engine *engine, size_t count, struct request_group *group);
/* True if ranks of the job wait for their peers: what they have called may name the cause. */
bool collectives_are_wanted(const struct engine *engine);
/* In a shell: asks all ranks if collectives_are_wanted(), and waits for the answers. */
void collectives_await(struct engine *engine);
/* The same for the ranks of all jobs, chosen or not. */
void collectives_await_jobs(struct engine *engine);
/*
 * On a screen, and while a command watches the job: asks ranks whose last answer is older than
 * their last movement, or a few seconds old, if collectives_are_wanted() and the job does not make
 * progress, or if a view shows the answers. Does not wait.
 */
void collectives_follow(struct engine *engine, bool is_shown);

#endif
