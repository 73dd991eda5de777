/*
 * stall: for how long nothing that should move has moved, so
 * that a job is not called stuck too early.
 *
 * Where ranks wait for their peers, those count: as long as none of them goes
 * on, the job does not. A rank that they wait for and that computes may be in
 * a loop without an end, so it does not count, unless it is at work that is
 * known to take its time and moves: it saves or loads a checkpoint, is handed
 * batches by a DataLoader, is in backward or an optimizer, or waits for its own
 * children or threads, which use a processor. Where nobody
 * waits for peers every rank counts that moves, or sleeps and wakes, since what
 * it does between two sleeps may never be seen. A job that is stopped as a
 * whole stands because somebody wants it to.
 */
#ifndef MODEL_STALL_H
#define MODEL_STALL_H

struct session;

/*
 * Seconds up to the newest samples; 0 when something moves or it is not known.
 * The session must have been judged (session_judge) since it changed.
 */
double stall_seconds(const struct session *session);

#endif
