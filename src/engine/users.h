/*
 * users: the names of users. Looking one up may ask a server of the cluster,
 * which may not answer for long: it is done beside the loop, once for each
 * user, and what waits for it is drawn without the name meanwhile.
 */
#ifndef ENGINE_USERS_H
#define ENGINE_USERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct engine;

struct users {
	struct user **items;
	size_t count;
	size_t pending; /* that are being looked up */
};

/* After the loop has ended, which lends no time to the look-ups any more. */
void users_clear(struct users *users);
/*
 * Lends the name, or the number where there is none; NULL: it is being looked
 * up, and jobs_name_users() is called when it is known. In a replay it is the
 * number, as users are those of another machine.
 */
const char *users_name(struct engine *engine, uid_t uid);
/* Waits until all are known, so many seconds at most. */
void users_await(struct engine *engine, double seconds);

#endif
