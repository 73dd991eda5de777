#include "model/rank-barrier.h"

#include <ctype.h>

#include "banned.h"
#include "base/buffer.h"
#include "model/phrase.h"
#include "model/session.h"
#include "model/wait-group.h"

#define WAIT_GROUPS_LISTED 4
/* A step that takes longer than a second releases the waiting ranks: the job is called hung only
 * after this many seconds. */
#define RELEASE_SECONDS 2.0

bool rank_barrier_is(const struct wait_group *wait_group)
{
	return wait_group->role == WAIT_GROUP_WAITS && wait_group->main_thread &&
	       activity_is_hold(&wait_group->main_thread->activity);
}

bool rank_barrier_is_any(const struct wait_group_list *wait_groups)
{
	for (size_t i = 0; i < wait_groups->count; i++) {
		if (rank_barrier_is(&wait_groups->items[i]))
			return true;
	}
	return false;
}

static bool rank_barrier_is_other(const struct wait_group *wait_group)
{
	return (wait_group->role == WAIT_GROUP_WAITS || wait_group->role == WAIT_GROUP_ELSEWHERE) &&
	       !rank_barrier_is(wait_group);
}

/* The ranks that wait at the breakpoint, and a summary of the other live ranks. */
struct company {
	struct rankset holding;
	const struct wait_group *place; /* their only wait group; NULL: several */
	size_t others;			/* number of other wait groups */
	bool are_waiting;		/* all other ranks wait for their peers */
	bool are_moving;		/* some other ranks move and do not wait for their peers */
	double unchanged; /* shortest time without change of the other wait groups, in seconds */
};

static void rank_barrier_add_ranks(struct rankset *ranks, const struct rankset *more)
{
	for (size_t i = 0; i < more->range_count; i++)
		rankset_add_range(ranks, more->ranges[i].first, more->ranges[i].last);
}

static void rank_barrier_add_other(struct company *company, const struct wait_group *wait_group)
{
	bool is_waiting = wait_group->role == WAIT_GROUP_WAITS;

	if (company->others++ == 0 || wait_group->unchanged < company->unchanged)
		company->unchanged = wait_group->unchanged;
	company->are_waiting = company->are_waiting && is_waiting;
	company->are_moving =
		company->are_moving ||
		(!is_waiting && wait_group->moving_count + wait_group->helped_count > 0);
}

static void company_init(struct company *company, const struct wait_group_list *wait_groups)
{
	size_t places = 0;

	*company = (struct company){ .are_waiting = true };
	for (size_t i = 0; i < wait_groups->count; i++) {
		const struct wait_group *wait_group = &wait_groups->items[i];

		if (rank_barrier_is(wait_group)) {
			rank_barrier_add_ranks(&company->holding, &wait_group->ranks);
			company->place = places++ == 0 ? wait_group : NULL;
		} else if (rank_barrier_is_other(wait_group)) {
			rank_barrier_add_other(company, wait_group);
		}
	}
}

static void company_clear(struct company *company)
{
	rankset_clear(&company->holding);
}

/* Waiting ranks wake periodically to check whether they may resume: no movement. */
enum verdict_state rank_barrier_state(const struct wait_group_list *wait_groups)
{
	enum verdict_state state = VERDICT_UNKNOWN;
	struct company company;

	company_init(&company, wait_groups);
	if (!wait_groups->is_sampled_twice || company.others == 0)
		state = VERDICT_UNKNOWN;
	else if (company.are_moving)
		state = VERDICT_PROGRESSING;
	else if (company.unchanged >= RELEASE_SECONDS)
		state = VERDICT_HUNG;
	company_clear(&company);
	return state;
}

/* Appends "Ranks 1 and 3", or "ranks 1 and 3" within a sentence. */
static void rank_barrier_append_ranks(struct buffer *out, const struct rankset *ranks,
				      bool is_first)
{
	size_t start = out->length;

	phrase_append_ranks(out, ranks);
	if (!is_first)
		out->data[start] = (char)tolower(out->data[start]);
}

/* Appends "hold in probetui.breakpoint (train.py:12)". */
static void append_hold(struct buffer *out, const struct company *company)
{
	bool is_plural = rankset_count(&company->holding) != 1;

	if (company->place)
		phrase_append_doing(out, company->place, is_plural);
	else
		buffer_printf(out, "%s at several breakpoints", is_plural ? "hold" : "holds");
}

/* Appends "Ranks 0 and 2 wait in all_reduce (a.py:17), rank 4 waits in barrier (…)". */
static void append_others(struct buffer *out, const struct wait_group_list *wait_groups,
			  bool is_first)
{
	size_t listed = 0;

	for (size_t i = 0; i < wait_groups->count; i++) {
		const struct wait_group *wait_group = &wait_groups->items[i];

		if (!rank_barrier_is_other(wait_group))
			continue;
		if (listed == WAIT_GROUPS_LISTED) {
			buffer_append_string(out, ", and others elsewhere");
			return;
		}
		if (listed > 0)
			buffer_append_string(out, ", ");
		rank_barrier_append_ranks(out, &wait_group->ranks, is_first && listed == 0);
		buffer_append_char(out, ' ');
		phrase_append_doing(out, wait_group, wait_group->count != 1);
		listed++;
	}
}

void rank_barrier_append_sentence(struct buffer *out, const struct session *session,
				  const struct wait_group_list *wait_groups)
{
	struct company company;

	company_init(&company, wait_groups);
	if (company.others > 0 && company.are_waiting) {
		append_others(out, wait_groups, true);
		buffer_append_string(out, " for ");
		rank_barrier_append_ranks(out, &company.holding, false);
		buffer_append_string(out, ", which ");
		append_hold(out, &company);
		phrase_append_duration(out, ", for ", company.unchanged);
	} else {
		if (rankset_count(&company.holding) == session->rank_count)
			phrase_append_all(out, session);
		else
			rank_barrier_append_ranks(out, &company.holding, true);
		buffer_append_char(out, ' ');
		append_hold(out, &company);
		if (company.others == 0) {
			buffer_append_string(out, " for ranks that are not seen here");
		} else {
			buffer_append_string(out, "; ");
			append_others(out, wait_groups, false);
		}
	}
	buffer_append_char(out, '.');
	company_clear(&company);
}
