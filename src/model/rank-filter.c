#include "model/rank-filter.h"

#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "model/rankselect.h"
#include "model/session.h"

static void free_select(struct rankselect **select)
{
	if (*select)
		rankselect_clear(*select);
	free(*select);
	*select = NULL;
}

void rank_filter_clear(struct session *session)
{
	free_select(&session->choice.wanted_select);
	free_select(&session->choice.wanted_focus);
	rankset_clear(&session->choice.wanted);
	free(session->choice.wanted_text);
	session->choice.wanted_text = NULL;
}

int rank_filter_set(struct session *session, const char *text, struct error *error)
{
	struct rankselect *select = xcalloc(1, sizeof(*select));
	struct buffer folded = BUFFER_INIT;

	if (rankselect_parse(select, text, error) < 0) {
		free(select);
		return -1;
	}
	rank_filter_clear(session);
	if (rankselect_add_numbers(select, &session->choice.wanted)) {
		rankset_append(&folded, &session->choice.wanted);
		free_select(&select);
	} else {
		buffer_append_string(&folded, text);
		if (rankselect_is_of_process(select))
			session->choice.wanted_select = select;
		else
			session->choice.wanted_focus = select;
	}
	session->choice.wanted_text = buffer_take(&folded);
	return 0;
}

void rank_filter_recorded(struct session *session, size_t node, const json_t *json)
{
	const char *job = json_get_string(json, "job", NULL);
	const char *ranks = json_get_string(json, "ranks", NULL);

	if (job && !session->choice.wanted_job)
		session->choice.wanted_job = xstrdup(job);
	if (ranks && session->node_count > 1)
		rankset_parse(&session->nodes[node].wanted, ranks, NULL);
	else if (ranks && !session->choice.wanted_text)
		rank_filter_set(session, ranks, NULL);
	if (json_array_size(json_object_get(json, "pids")) > 0)
		session->choice.has_wanted_pids = true;
}

bool rank_filter_is_part(const struct session *session)
{
	return session->choice.wanted.range_count > 0 || session->choice.wanted_select;
}

static bool rank_filter_is_other(const struct rankset *numbers, int rank)
{
	return numbers->range_count > 0 && !rankset_contains(numbers, rank);
}

bool rank_filter_has(const struct session *session, const struct rank *rank)
{
	/* A placeholder for a missing rank has no node. */
	if (rank->process.pid != 0 &&
	    rank_filter_is_other(&session->nodes[rank->node].wanted, rank->process.rank))
		return false;
	if (session->choice.wanted.range_count > 0 &&
	    !rankset_contains(&session->choice.wanted, rank->process.rank))
		return false;
	return !session->choice.wanted_select ||
	       rankselect_has(session->choice.wanted_select, session, rank);
}

static bool is_sampled(const struct session *session)
{
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		if (rank->state == RANK_UNKNOWN)
			return false;
	}
	return session->is_discovered && session->rank_count > 0;
}

int rank_filter_focus(struct session *session, struct error *error)
{
	struct rankset focus = RANKSET_INIT;
	int result;

	if (!session->choice.wanted_focus || !is_sampled(session))
		return 0;
	result = rankselect_resolve(session->choice.wanted_focus, session, &focus, error);
	if (result == 0 && rankset_count(&focus) == 0)
		result = error_set(error, "no rank matches %.80s", session->choice.wanted_text);
	if (result == 0) {
		rankset_copy(&session->choice.focus, &focus);
		session->choice.is_focus_all = false;
		session->revision++;
	}
	rankset_clear(&focus);
	free_select(&session->choice.wanted_focus);
	return result;
}
