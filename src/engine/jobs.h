/*
 * jobs: the jobs of this machine while a person looks at their list: all of
 * their ranks are sampled then, and all of them are judged.
 */
#ifndef ENGINE_JOBS_H
#define ENGINE_JOBS_H

#include <stdbool.h>

struct engine;

/* Begins or ends it; samples must be requested anew then. */
void jobs_list(struct engine *engine, bool is_listed);
/* Call after each verdict: judges the jobs if the list of jobs is shown. */
void jobs_judge(struct engine *engine);
/* Says whose they are, as far as that is known: users.h. */
void jobs_name_users(struct engine *engine);

#endif
