/*
 * jobs: the list of all jobs of this machine. While a person views the list, the ranks of all jobs
 * are sampled and all jobs are judged.
 */
#ifndef ENGINE_JOBS_H
#define ENGINE_JOBS_H

#include <stdbool.h>

struct engine;

/* Begins or ends the listing; request samples anew afterwards. */
void jobs_list(struct engine *engine, bool is_listed);
/* Call after each verdict: judges the jobs if the list of jobs is shown. */
void jobs_judge(struct engine *engine);
/* Sets the user name of each job, as far as users.h knows it. */
void jobs_name_users(struct engine *engine);

#endif
