/*
 * joblist: summary of each job that was found, chosen or not: its ranks, age, and
 * verdict. All jobs are judged by the same verdict_make().
 */
#ifndef MODEL_JOBLIST_H
#define MODEL_JOBLIST_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "model/output.h"
#include "protocol/process.h"
#include "protocol/rankset.h"

struct buffer;
struct error;
struct session;

struct job_summary {
	struct rankset ranks; /* live ranks */
	int world_size;	      /* 0: unknown */
	double age;	      /* age of the oldest rank in seconds; -1: unknown */
};

/* Summarises session->jobs[index]; clear the summary afterwards. */
void job_summary_make(struct job_summary *summary, const struct session *session, size_t index);
void job_summary_clear(struct job_summary *summary);
/* Sets the finding of each job from the newest samples. */
void joblist_judge(struct session *session);

/*
 * The job that a node started: its state, and the output of its terminal.
 */

struct launching {
	struct launched job; /* state LAUNCHED_NONE: no job was started */
	size_t node;
	struct transcript transcript;
};

void launching_init(struct launching *launching);
void launching_clear(struct launching *launching);

/* True if a process of the job is known to be alive. */
bool launching_is_alive(const struct session *session);
/* Appends "train.sh exited with code 3"; nothing if no job was started. */
void launching_append(struct buffer *out, const struct session *session);

/* Handles the event `job` for session_apply(). Returns 0; -1 and *error: the event is invalid. */
int session_apply_job(struct session *session, size_t node, const json_t *body,
		      struct error *error);
/* Handles an event `output` of category `job`. */
void session_apply_job_output(struct session *session, const json_t *body);

/*
 * expectation: which ranks of the chosen job must be found here. If the job runs on several
 * machines, ranks on machines without a node are not missing, so a rank is expected only
 * - if the job's address is a loopback address: then all ranks of the world are here;
 * - else if all ranks found on a machine are numbered as one block (rank minus local rank
 *   is equal for all): then from the block's first number to the highest one found.
 * In the second case missing ranks at the end of a block are not noticed.
 */

struct expectation {
	struct rankset numbers;
	int world_size;
	bool is_loopback;
};

/* Computes the ranks expected in the session's job; clear the result afterwards. */
void expectation_make(struct expectation *expectation, const struct session *session);
void expectation_clear(struct expectation *expectation);

#endif
