/*
 * outlier: threads and children that differ from others of their kind.
 *
 * All threads of the job's ranks with the same name (ignoring digits) are one kind, and so are all
 * children with the same role. If a kind has at least three members, and more than half of them
 * have the same stack, a member that has had another stack for VERDICT_STILL_SECONDS is an outlier.
 * The ranks' main threads are not judged here, but by the verdict.
 */
#ifndef MODEL_OUTLIER_H
#define MODEL_OUTLIER_H

struct session;

/*
 * Sets is_odd of all threads of the session's ranks, and is_outlier of all their children. Takes
 * time in proportion to the number of threads.
 */
void outlier_mark(struct session *session);

#endif
