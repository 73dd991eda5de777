#include "engine/collective-query.h"

#include <jansson.h>
#include <math.h>

#include "banned.h"
#include "engine/engine.h"
#include "engine/request.h"
#include "model/wait-group.h"

#define AGE_SECONDS 5.0
#define ANSWERS_PER_LIMIT 4
/* Seconds without a movement after which ranks that wait are asked. */
#define WAITED_SECONDS 2.0
/* Seconds between two rounds of requests. */
#define ROUND_SECONDS 1.0

static bool is_asked(const struct rank *rank)
{
	return rank->process.pid > 0 && !rank_is_gone(rank) && rank->state != RANK_UNREADABLE;
}

/*
 * Asks for the variables of the frame in which the rank waits to send or receive: they name the
 * peer.
 */
static void ask_peer(const struct rank *rank, struct request_group *group)
{
	const struct thread *thread = rank_main_thread(rank);

	if (!thread || !activity_names_peer(thread))
		return;
	request_group_add(group, rank->node, rank->process.rank, "variables",
			  json_pack("{s:i, s:i, s:i, s:i}", "pid", (int)rank->process.pid, "tid",
				    (int)thread->sample.tid, "depth",
				    (int)thread->activity.frame_index, "start", 0),
			  NULL);
}

static void ask_rank(const struct rank *rank, size_t count, struct request_group *group)
{
	request_group_add(
		group, rank->node, rank->process.rank, "collectives",
		json_pack("{s:i, s:I}", "pid", (int)rank->process.pid, "count", (json_int_t)count),
		NULL);
	ask_peer(rank, group);
}

void collectives_ask(struct engine *engine, size_t count, struct request_group *group)
{
	const struct session *session = &engine->session;

	for (size_t i = 0; i < session->rank_count; i++) {
		if (is_asked(session->ranks[i]))
			ask_rank(session->ranks[i], count, group);
	}
}

static bool is_any_waiting(struct rank *const *ranks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (wait_group_role_of(ranks[i]) == WAIT_GROUP_WAITS)
			return true;
	}
	return false;
}

bool collectives_are_wanted(const struct engine *engine)
{
	const struct session *session = &engine->session;

	return !engine->replay && is_any_waiting(session->ranks, session->rank_count);
}

/* Asks the ranks, and waits for the answers. */
static void await(struct engine *engine, bool has_others)
{
	const struct session *session = &engine->session;
	struct request_group *group = request_group_new(engine, NULL, NULL, NULL);

	collectives_ask(engine, COLLECTIVES_FOR_VERDICT, group);
	for (size_t i = 0; has_others && i < session->other_count; i++) {
		if (is_asked(session->others[i]))
			ask_rank(session->others[i], COLLECTIVES_FOR_VERDICT, group);
	}
	request_group_wait(group, engine->settings.timeout);
	request_group_free(group);
}

void collectives_await_jobs(struct engine *engine)
{
	const struct session *session = &engine->session;

	if (collectives_are_wanted(engine) ||
	    (!engine->replay && is_any_waiting(session->others, session->other_count)))
		await(engine, true);
}

void collectives_await(struct engine *engine)
{
	if (collectives_are_wanted(engine))
		await(engine, false);
}

static bool is_outdated(const struct rank *rank, double now, double age)
{
	return !rank->collectives || rank->collectives_at <= rank->last_changed_at ||
	       now - rank->collectives_at > age;
}

/*
 * Seconds after which an answer about a rank that has not moved is asked for again: several times
 * within a limit on the time without a movement.
 */
static double age_of_answers(const struct session *session)
{
	double limit = session->choice.longest_wait;

	return limit > 0 ? fmin(AGE_SECONDS, limit / ANSWERS_PER_LIMIT) : AGE_SECONDS;
}

/* True if the ranks that wait for their peers have not moved for a while. */
static bool have_waited(const struct session *session, double now)
{
	for (size_t i = 0; i < session->rank_count; i++) {
		if (wait_group_role_of(session->ranks[i]) == WAIT_GROUP_WAITS &&
		    now - session->ranks[i]->last_changed_at < WAITED_SECONDS)
			return false;
	}
	return true;
}

/*
 * A rank for which others wait may compute, which is progress; and a pause that is as long as those
 * before counts as progress, but may end the job, if a time limit is short.
 */
static bool is_followed(const struct engine *engine, double now)
{
	const struct verdict *verdict = &engine->session.verdict;

	return (verdict->state != VERDICT_PROGRESSING || verdict->outliers.range_count > 0 ||
		have_waited(&engine->session, now)) &&
	       collectives_are_wanted(engine);
}

void collectives_follow(struct engine *engine, bool is_shown)
{
	const struct session *session = &engine->session;
	double now = engine_now(engine);

	if (engine->following) {
		if (request_group_open_count(engine->following) > 0 &&
		    now < engine->followed_at + engine->settings.timeout)
			return;
		request_group_free(engine->following);
		engine->following = NULL;
	}
	if (engine->replay || now < engine->followed_at + ROUND_SECONDS ||
	    (!is_shown && !is_followed(engine, now)))
		return;
	engine->followed_at = now;
	engine->following = request_group_new(engine, NULL, NULL, NULL);
	for (size_t i = 0; i < session->rank_count; i++) {
		if (is_asked(session->ranks[i]) &&
		    is_outdated(session->ranks[i], now,
				is_shown ? ROUND_SECONDS : age_of_answers(session)))
			ask_rank(session->ranks[i],
				 is_shown ? COLLECTIVES_SHOWN : COLLECTIVES_FOR_VERDICT,
				 engine->following);
	}
}
