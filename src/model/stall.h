/*
 * stall: for how long the job has made no progress, so that a job is not called stuck too early.
 *
 * If ranks wait for their peers, only these ranks count: while none of them changes, the job makes
 * no progress. A late rank that computes may be in an endless loop, so its movement does not count,
 * except during work that is known to take time: it saves or loads a checkpoint, loads data from a
 * DataLoader, is in backward or an optimizer, or waits for its own children or threads, which use
 * CPU time. If no rank waits for peers, a rank that moves is progress, and so is a rank that sleeps
 * and wakes, because samples may miss its work between two sleeps. A job whose ranks are all
 * stopped is not stuck: the user has stopped it.
 *
 * A rank that has waited since its first sample may have waited for longer: if torch has recorded
 * when it called the collective, it has waited since then.
 */
#ifndef MODEL_STALL_H
#define MODEL_STALL_H

struct session;

/*
 * Seconds without progress up to the newest samples; 0: there is progress, or unknown. clock:
 * seconds since 1970 at session time 0; -1: unknown, only the samples count. After a change of the
 * session, call session_judge() first.
 */
double stall_seconds(const struct session *session, double clock);

#endif
