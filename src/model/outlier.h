/*
 * outlier: threads and children that differ from others of their kind.
 *
 * Threads of the same name (ignoring digits), and children of the same role, are one kind
 * over all ranks of the job. If a kind has at least three members, and more than half
 * have the same stack, a member that has been at another stack for VERDICT_STILL_SECONDS
 * is odd. The verdict judges the ranks' main threads.
 */
#ifndef MODEL_OUTLIER_H
#define MODEL_OUTLIER_H

struct session;

/*
 * Computes is_odd of all threads of the session's ranks, and is_outlier of their
 * children. Takes time in proportion to the number of threads.
 */
void outlier_mark(struct session *session);

#endif
