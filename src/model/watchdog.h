/*
 * watchdog: how long the peers of a stopped rank wait before a time-out of their
 * collective ends the job.
 */
#ifndef MODEL_WATCHDOG_H
#define MODEL_WATCHDOG_H

struct session;

/*
 * Seconds: the shortest that a node reported, else torch's default: 600 if NCCL is in a
 * stack, else 1,800. -1: the job has no peers.
 */
double watchdog_seconds(const struct session *session);

#endif
