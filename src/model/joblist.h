/*
 * joblist: summary of each job that was found, chosen or not: its ranks, age, and
 * verdict. All jobs are judged by the same verdict_make().
 */
#ifndef MODEL_JOBLIST_H
#define MODEL_JOBLIST_H

#include <stddef.h>

#include "protocol/rankset.h"

struct session;

struct job_summary {
	struct rankset ranks; /* live ranks */
	int world_size;	      /* 0 unknown */
	double age;	      /* age of the oldest rank in seconds; -1 unknown */
};

/* Summarises session->jobs[index]; clear the summary afterwards. */
void job_summary_make(struct job_summary *summary, const struct session *session, size_t index);
void job_summary_clear(struct job_summary *summary);
/* Sets the finding of each job from the newest samples. */
void joblist_judge(struct session *session);

#endif
