#include "engine/jobs.h"

#include <pwd.h>
#include <stdio.h>

#include "banned.h"
#include "base/alloc.h"
#include "engine/engine.h"
#include "model/joblist.h"

/* Nobody chose a job, so the list is what a person sees. */
static bool is_to_choose(const struct session *session)
{
	return session->job < 0 && session->job_count > 1;
}

/* The users of a recording are those of another machine. */
static char *name_of(const struct session *session, uid_t uid)
{
	const struct passwd *user = session->is_replay ? NULL : getpwuid(uid);

	if (user && user->pw_name && user->pw_name[0] != '\0')
		return xstrdup(user->pw_name);
	return xasprintf("%lu", (unsigned long)uid);
}

void jobs_name_users(struct engine *engine)
{
	struct session *session = &engine->session;

	for (size_t i = 0; i < session->job_count; i++) {
		struct job *job = &session->jobs[i];

		if (!job->user)
			job->user = name_of(session, job->uid);
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
