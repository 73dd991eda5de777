/*
 * stall: how long nothing has moved that should move, so that a job is not called stuck
 * too early.
 *
 * If ranks wait for their peers, the waiting ranks count: while none of them changes, the
 * job makes no progress. A late rank that computes may be in an endless loop, so its
 * movement does not count, except during work that is known to take time: it saves or
 * loads a checkpoint, loads data from a DataLoader, is in backward or an optimizer, or
 * waits for its own children or threads, which use CPU time. If no rank waits for peers,
 * each rank counts that moves, or sleeps and wakes, since its work between two sleeps may
 * be missed by the samples. A job that is stopped as a whole is not stuck: the user has
 * stopped it.
 */
#ifndef MODEL_STALL_H
#define MODEL_STALL_H

struct session;

/*
 * Seconds without movement up to the newest samples; 0: something moves, or unknown. Call
 * session_judge() after each change of the session before this.
 */
double stall_seconds(const struct session *session);

#endif
