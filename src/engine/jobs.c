#include "engine/jobs.h"

#include <pwd.h>
#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/loop.h"
#include "engine/engine.h"
#include "model/joblist.h"

/* True if no job was chosen among several, so that the list is shown. */
static bool is_to_choose(const struct session *session)
{
	return session->job < 0 && session->job_count > 1;
}

void jobs_name_users(struct engine *engine)
{
	struct session *session = &engine->session;

	for (size_t i = 0; i < session->job_count; i++) {
		struct job *job = &session->jobs[i];

		if (!job->user)
			job->user = xstrdup_or_null(users_name(engine, job->uid));
	}
}

void jobs_judge(struct engine *engine)
{
	if (!engine->lists_jobs && !is_to_choose(&engine->session))
		return;
	jobs_name_users(engine);
	joblist_judge(&engine->session);
}

void jobs_list(struct engine *engine, bool is_listed)
{
	if (engine->lists_jobs == is_listed)
		return;
	engine->lists_jobs = is_listed;
	jobs_judge(engine);
}

#define ENTRY_MAXIMUM 16384
/* More users than this come only from a hostile node. */
#define USERS_MAXIMUM 1024

struct user {
	struct engine *engine;
	uid_t uid;
	char *found; /* written by the lookup thread; read after it has ended */
	char *name;  /* NULL: the lookup is running */
};

void users_clear(struct users *users)
{
	for (size_t i = 0; i < users->count; i++) {
		free(users->items[i]->name);
		free(users->items[i]);
	}
	free(users->items);
	*users = (struct users){ .items = NULL };
}

static char *users_number_of(uid_t uid)
{
	return xasprintf("%lu", (unsigned long)uid);
}

/* Runs on another thread. */
static void users_look_up(void *data)
{
	struct user *user = data;
	struct passwd entry;
	struct passwd *found = NULL;
	char *text = xmalloc(ENTRY_MAXIMUM);

	if (getpwuid_r(user->uid, &entry, text, ENTRY_MAXIMUM, &found) == 0 && found &&
	    found->pw_name[0] != '\0')
		user->found = xstrdup(found->pw_name);
	free(text);
}

static void on_looked_up(void *data)
{
	struct user *user = data;
	struct engine *engine = user->engine;

	user->name = user->found ? user->found : users_number_of(user->uid);
	user->found = NULL;
	engine->users.pending--;
	jobs_name_users(engine);
	engine->session.revision++;
	/* changed is NULL while the engine is being cleared. */
	if (engine->changed)
		engine->changed(engine->changed_data);
}

static struct user *users_add(struct engine *engine, uid_t uid)
{
	struct users *users = &engine->users;
	struct user *user = xcalloc(1, sizeof(*user));

	*user = (struct user){ .engine = engine, .uid = uid };
	users->items = xrealloc(users->items, (users->count + 1) * sizeof(*users->items));
	users->items[users->count++] = user;
	return user;
}

const char *users_name(struct engine *engine, uid_t uid)
{
	struct users *users = &engine->users;
	struct user *user;

	for (size_t i = 0; i < users->count; i++) {
		if (users->items[i]->uid == uid)
			return users->items[i]->name;
	}
	if (users->count >= USERS_MAXIMUM)
		return NULL;
	user = users_add(engine, uid);
	if (engine->replay) {
		user->name = users_number_of(uid);
	} else {
		users->pending++;
		loop_work(engine->loop, users_look_up, on_looked_up, user);
	}
	return user->name;
}

static bool users_is_known(const struct engine *engine, void *data)
{
	(void)data;
	return engine->users.pending == 0;
}

void users_await(struct engine *engine, double seconds)
{
	engine_wait(engine, users_is_known, NULL, seconds);
}
