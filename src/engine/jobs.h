/*
 * jobs: the list of all jobs of this machine. While a person views the list, the ranks of all jobs
 * are sampled and all jobs are judged.
 */
#ifndef ENGINE_JOBS_H
#define ENGINE_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct engine;

/* Begins or ends the listing; request samples anew afterwards. */
void jobs_list(struct engine *engine, bool is_listed);
/* Call after each verdict: judges the jobs if the list of jobs is shown. */
void jobs_judge(struct engine *engine);
/* Sets the user name of each job, as far as it is known. */
void jobs_name_users(struct engine *engine);

/*
 * Names of users. A lookup may ask a directory server of the cluster and block for long: it
 * runs on another thread, once for each user, and views are drawn without the name meanwhile.
 */

struct users {
	struct user **items;
	size_t count;
	size_t pending; /* number of running lookups */
};

/* Call after loop_free(): no lookup runs any more. */
void users_clear(struct users *users);
/*
 * The user's name, borrowed, or the uid as text if there is no name; NULL: the lookup is still
 * running, and jobs_name_users() is called when it ends. In a replay it is the uid, as the users
 * are those of another machine.
 */
const char *users_name(struct engine *engine, uid_t uid);
/* Waits until all lookups have ended, at most for seconds. */
void users_await(struct engine *engine, double seconds);

#endif
