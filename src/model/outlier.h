/*
 * outlier: threads and children that do not do what their like do.
 *
 * Threads of one name (whatever number is in it), and children of one role,
 * are alike over the ranks of the job. Where there are three at least, and
 * more than half have the same stack, one that has stood at another for a
 * second is odd. Main threads of ranks are the verdict's.
 */
#ifndef MODEL_OUTLIER_H
#define MODEL_OUTLIER_H

struct session;

/*
 * Sets is_odd of the threads of the session's ranks, and is_outlier of their
 * children, anew. Takes time in proportion to the number of threads.
 */
void outlier_mark(struct session *session);

#endif
