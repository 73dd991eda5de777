/*
 * joblist: what a person is told of each job that was found, chosen or not:
 * whose ranks, since when, and its verdict. A job that is not chosen is judged
 * by the same verdict_make() as the one that is.
 */
#ifndef MODEL_JOBLIST_H
#define MODEL_JOBLIST_H

#include <stddef.h>

#include "protocol/rankset.h"

struct session;

struct job_summary {
	struct rankset ranks; /* that live */
	int world_size;	      /* 0 unknown */
	double age;	      /* seconds, of its oldest rank; -1 unknown */
};

/* index into session->jobs; clear it afterwards. */
void job_summary_make(struct job_summary *summary, const struct session *session, size_t index);
void job_summary_clear(struct job_summary *summary);
/* Sets the finding of each of the session's jobs, from their samples now. */
void joblist_judge(struct session *session);

#endif
