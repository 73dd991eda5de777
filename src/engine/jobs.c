#include "engine/jobs.h"

#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "engine/engine.h"
#include "engine/users.h"
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
