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

/* Tells the engine whether a person views the list of jobs; request a new sample afterwards. */
void jobs_list(struct engine *engine, bool is_listed);
/* Call after each verdict: if the list of jobs is shown, computes a verdict for each job. */
void jobs_judge(struct engine *engine);
/* Sets the user name of each job, if the name is known already. */
void jobs_name_users(struct engine *engine);

/*
 * Names of users. A lookup may ask a directory server of the cluster and block for long: it runs on
 * another thread, once for each user, and views are drawn without the name until the lookup has
 * ended.
 */

struct users {
	struct user **items;
	size_t count;
	size_t pending; /* number of running lookups */
};

/* Call after loop_free(): no lookup runs any more. */
void users_clear(struct users *users);
/*
 * Returns the user's name, borrowed; or the uid as text if the user has no name, and always in a
 * replay, whose users may be those of another machine. NULL: the lookup is still running, and
 * jobs_name_users() will be called when the lookup has ended.
 */
const char *users_name(struct engine *engine, uid_t uid);
/* Waits at most `seconds` seconds until all lookups have ended. */
void users_await(struct engine *engine, double seconds);

#endif
