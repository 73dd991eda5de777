/*
 * watchdog: for how long the peers of a rank that is held wait for it before a
 * time-out of their collective ends the job.
 */
#ifndef MODEL_WATCHDOG_H
#define MODEL_WATCHDOG_H

struct session;

/*
 * What a node has told of a rank, or torch's defaults: 600 where NCCL was seen,
 * else 1,800. -1: there are no peers.
 */
double watchdog_seconds(const struct session *session);

#endif
