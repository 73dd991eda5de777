#include "model/wait-group.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/map.h"
#include "model/debug-state.h"
#include "model/helper.h"
#include "model/phrase.h"
#include "model/place.h"
#include "model/session.h"
#include "model/stacktree.h"
#include "protocol/stack.h"

/* Two ends within so many seconds may be reported in the wrong order. */
#define ORDER_SECONDS 0.01

static uint64_t hash_code(uint64_t hash, const struct code *code)
{
	return hash_text(hash_text(hash, code->func), code->file);
}

/*
 * Hashes the frames from the outermost to index innermost, inclusive; leaves out the line of the
 * innermost one if that frame is in a library.
 */
static uint64_t hash_frames(uint64_t hash, const struct stack *stack, size_t innermost)
{
	for (size_t i = stack->frame_count; i-- > innermost;) {
		const struct frame *frame = &stack->frames[i];

		hash = hash_code(hash, frame->code);
		if (i > innermost || !place_is_library(frame->code->file))
			hash = hash_number(hash, (uint64_t)frame->lineno);
	}
	return hash;
}

static bool is_blocked_in_training(const struct thread *main_thread)
{
	return main_thread->activity.kind == ACTIVITY_TRAIN &&
	       main_thread->sample.state == THREAD_BLOCKED;
}

/*
 * True if the rank probably waits for its peers in backward, which may block in C++ in a collective
 * that no Python frame names (DDP's hooks): no thread and no child of the rank has used CPU time
 * since the sample before.
 */
static bool is_idle_in_training(const struct rank *rank, const struct thread *main_thread)
{
	if (!is_blocked_in_training(main_thread) || main_thread->sample_count < 2)
		return false;
	for (size_t i = 0; i < rank->thread_count; i++) {
		if (rank->threads[i].is_busy || rank->threads[i].has_moved)
			return false;
	}
	for (size_t i = 0; i < rank->child_count; i++) {
		const struct thread *thread = rank_main_thread(rank->children[i]);

		if (thread && thread->has_moved)
			return false;
	}
	return true;
}

enum wait_group_role wait_group_role_of(const struct rank *rank)
{
	const struct thread *main_thread = rank_main_thread(rank);

	/* The stack of a rank in a debugger does not show whether the rank waits for peers. */
	if (debug_state_is_held(rank))
		return WAIT_GROUP_ELSEWHERE;
	switch (rank->state) {
	case RANK_NOT_FOUND:
		return rank->unseen ? WAIT_GROUP_UNREADABLE : WAIT_GROUP_GONE;
	case RANK_EXITED:
		return WAIT_GROUP_GONE;
	case RANK_UNREADABLE:
		return WAIT_GROUP_UNREADABLE;
	case RANK_UNKNOWN:
		return WAIT_GROUP_UNREAD;
	case RANK_STOPPED:
		return WAIT_GROUP_ELSEWHERE;
	case RANK_RUNNING:
	case RANK_WAITING:
	case RANK_SLEEPING:
		break;
	}
	if (main_thread->activity.kind == ACTIVITY_TEARDOWN)
		return WAIT_GROUP_TEARDOWN;
	if (main_thread->activity.kind == ACTIVITY_PEERS ||
	    is_idle_in_training(rank, main_thread) || helper_waits_for_peers(rank))
		return WAIT_GROUP_WAITS;
	return WAIT_GROUP_ELSEWHERE;
}

static bool has_stack(enum wait_group_role role)
{
	return role == WAIT_GROUP_WAITS || role == WAIT_GROUP_ELSEWHERE ||
	       role == WAIT_GROUP_TEARDOWN;
}

/* The rank's main thread, or the thread that a debugger has stopped; NULL: no stack to compare. */
static const struct thread *compared_thread(const struct rank *rank, enum wait_group_role role)
{
	const struct thread *thread =
		debug_state_is_stopped(rank) ? debug_state_thread(rank) : rank_main_thread(rank);

	if (!has_stack(role) || !thread || !thread->sample.stack)
		return NULL;
	return thread;
}

/* A class under construction. */
struct draft {
	struct rank_class class;
	enum wait_group_role role;
	const struct rank *first;
	size_t count;
	size_t number; /* index before sorting */
};

struct drafts {
	struct draft *items;
	size_t count;
	size_t capacity;
	struct map *by_key; /* maps a class's key to its index in items + 1 */
};

/* Hash of the states that separate ranks at the same place. */
static uint64_t state_key(const struct rank *rank)
{
	return (uint64_t)(rank->state == RANK_STOPPED) |
	       (uint64_t)debug_state_is_waiting(rank) << 1 |
	       (uint64_t)debug_state_is_outlier(rank) << 2 |
	       (uint64_t)debug_state_is_taken(rank) << 3 | (uint64_t)debug_state_is_busy(rank) << 4;
}

static uint64_t wait_group_class_key(const struct session *session, const struct rank *rank,
				     enum wait_group_role role)
{
	const struct thread *thread = compared_thread(rank, role);
	uint64_t hash = hash_number(HASH_START, role);

	hash = hash_number(hash, state_key(rank));
	if (!thread)
		return hash_text(hash, rank->error ? rank->error : "");
	hash = hash_text(hash, thread->activity.name);
	return hash_number(hash, stackkey_of(session, thread->sample.stack));
}

static void start_draft(struct draft *draft, const struct rank *rank, enum wait_group_role role)
{
	const struct thread *thread = compared_thread(rank, role);

	draft->role = role;
	draft->first = rank;
	draft->class.mark = 0;
	draft->class.activity.kind = ACTIVITY_UNKNOWN;
	if (!thread)
		return;
	draft->class.stack = thread->sample.stack;
	draft->class.activity = thread->activity;
	draft->class.user_frame = place_find(&rank->process, thread->sample.stack)
					  ? place_user_frame(&rank->process, thread->sample.stack)
					  : thread->sample.stack->frame_count;
}

static void draft_rank(struct drafts *drafts, const struct session *session, struct rank *rank)
{
	enum wait_group_role role = wait_group_role_of(rank);
	uint64_t key = wait_group_class_key(session, rank, role);
	size_t index = (size_t)(uintptr_t)map_find(drafts->by_key, key);

	if (index == 0) {
		ARRAY_GROW(drafts->items, drafts->count, drafts->capacity);
		drafts->items[drafts->count] = (struct draft){ .number = drafts->count };
		start_draft(&drafts->items[drafts->count], rank, role);
		index = ++drafts->count;
		map_put(drafts->by_key, key, (void *)(uintptr_t)index);
	}
	rankset_add(&drafts->items[index - 1].class.ranks, rank->process.rank);
	drafts->items[index - 1].count++;
	rank->class_index = (int)index - 1;
}

static int compare_drafts(const void *left, const void *right)
{
	const struct draft *a = left;
	const struct draft *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->first->process.rank - b->first->process.rank;
}

static void sort_drafts(struct drafts *drafts, struct session *session)
{
	size_t *places = xcalloc(drafts->count + 1, sizeof(*places));

	if (drafts->count > 1)
		qsort(drafts->items, drafts->count, sizeof(*drafts->items), compare_drafts);
	for (size_t i = 0; i < drafts->count; i++)
		places[drafts->items[i].number] = i;
	for (size_t i = 0; i < session->rank_count; i++) {
		struct rank *rank = session->ranks[i];

		rank->class_index = (int)places[rank->class_index];
	}
	free(places);
}

static uint64_t wait_group_key(const struct draft *draft)
{
	const struct activity *activity = &draft->class.activity;
	uint64_t hash = hash_number(HASH_START, draft->role);
	const char *error = draft->first->error;

	hash = hash_number(hash, state_key(draft->first));
	if (!draft->class.stack)
		return hash_text(hash, error ? error : "");
	hash = hash_text(hash, activity->name);
	return hash_frames(hash, draft->class.stack, activity->frame_index);
}

static struct wait_group *wait_group_find_or_add(struct wait_group_list *wait_groups,
						 struct map *by_key, const struct draft *draft)
{
	uint64_t key = wait_group_key(draft);
	size_t index = (size_t)(uintptr_t)map_find(by_key, key);
	struct wait_group *wait_group;

	if (index > 0)
		return &wait_groups->items[index - 1];
	wait_group = &wait_groups->items[wait_groups->count++];
	wait_group->key = key;
	wait_group->role = draft->role;
	wait_group->first = draft->first;
	wait_group->main_thread = compared_thread(draft->first, draft->role);
	wait_group->is_stopped = draft->first->state == RANK_STOPPED;
	wait_group->unchanged = -1;
	wait_group->ended_at = draft->first->ended_at;
	wait_group->was_ended = true;
	map_put(by_key, key, (void *)(uintptr_t)wait_groups->count);
	return wait_group;
}

static void count_rank(struct wait_group_list *wait_groups, struct wait_group *wait_group,
		       const struct rank *rank)
{
	const struct thread *thread = compared_thread(rank, wait_group->role);
	double unchanged;

	rankset_add(&wait_group->ranks, rank->process.rank);
	wait_group->count++;
	wait_groups->role_counts[wait_group->role]++;
	if (rank->process.rank < wait_group->first->process.rank) {
		wait_group->first = rank;
		wait_group->main_thread = thread;
	}
	if (rank->ended_at < wait_group->ended_at)
		wait_group->ended_at = rank->ended_at;
	wait_group->was_ended = wait_group->was_ended && rank_has_end_signal(rank);
	if (!thread)
		return;
	wait_group->moving_count += rank_is_moving(rank);
	wait_group->changing_count += rank_is_changing(rank);
	wait_group->leaving_count += rank_is_leaving(rank);
	wait_group->working_count += rank_is_working(rank);
	wait_group->helped_count += rank_is_helped(rank);
	wait_group->waking_count += rank_is_waking(rank);
	unchanged = rank->sampled_at - thread->since;
	if (wait_group->unchanged < 0 || unchanged < wait_group->unchanged)
		wait_group->unchanged = unchanged;
	if (thread->sample_count >= 2)
		return;
	wait_groups->is_sampled_twice = false;
	if (wait_group->role == WAIT_GROUP_ELSEWHERE && !wait_group->is_stopped &&
	    is_blocked_in_training(thread))
		wait_group->is_unsettled = true;
}

static int compare_wait_groups(const void *left, const void *right)
{
	const struct wait_group *a = left;
	const struct wait_group *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->first->process.rank - b->first->process.rank;
}

/* Joins the drafts into wait groups. */
static void gather(struct wait_group_list *wait_groups, const struct drafts *drafts,
		   const struct session *session)
{
	struct map *by_key = map_new(NULL);
	size_t *places = xcalloc(drafts->count + 1, sizeof(*places));

	wait_groups->items = xcalloc(drafts->count + 1, sizeof(*wait_groups->items));
	wait_groups->is_sampled_twice = true;
	for (size_t i = 0; i < drafts->count; i++)
		places[i] =
			(size_t)(wait_group_find_or_add(wait_groups, by_key, &drafts->items[i]) -
				 wait_groups->items);
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		count_rank(wait_groups, &wait_groups->items[places[rank->class_index]], rank);
	}
	if (wait_groups->count > 1)
		qsort(wait_groups->items, wait_groups->count, sizeof(*wait_groups->items),
		      compare_wait_groups);
	free(places);
	map_free(by_key);
}

bool wait_group_ended_before(const struct wait_group *wait_group, const struct wait_group *other)
{
	if (wait_group->was_ended != other->was_ended &&
	    fabs(wait_group->ended_at - other->ended_at) < ORDER_SECONDS)
		return other->was_ended;
	return wait_group->ended_at < other->ended_at;
}

void wait_groups_make(struct wait_group_list *wait_groups, struct verdict *verdict,
		      struct session *session)
{
	struct drafts drafts = { .by_key = map_new(NULL) };

	*wait_groups = (struct wait_group_list){ .items = NULL };
	for (size_t i = 0; i < session->rank_count; i++)
		draft_rank(&drafts, session, session->ranks[i]);
	sort_drafts(&drafts, session);
	gather(wait_groups, &drafts, session);
	verdict->classes = xcalloc(drafts.count + 1, sizeof(struct rank_class));
	verdict->class_count = drafts.count;
	for (size_t i = 0; i < drafts.count; i++)
		verdict->classes[i] = drafts.items[i].class;
	map_free(drafts.by_key);
	free(drafts.items);
}

void wait_groups_clear(struct wait_group_list *wait_groups)
{
	for (size_t i = 0; i < wait_groups->count; i++)
		rankset_clear(&wait_groups->items[i].ranks);
	free(wait_groups->items);
	*wait_groups = (struct wait_group_list){ .items = NULL };
}

#define NCCL_SECONDS 600.0
#define OTHER_SECONDS 1800.0
#define RANKS_LOOKED_AT 8 /* enough ranks to examine, as all ranks run the same program */

static bool has_nccl_frame(const struct stack *stack)
{
	for (size_t i = 0; stack && i < stack->frame_count; i++) {
		const struct code *code = stack->frames[i].code;

		if (strcasestr(code->func, "nccl") || strcasestr(code->file, "nccl"))
			return true;
	}
	return false;
}

static bool has_nccl(const struct rank *rank)
{
	for (size_t i = 0; i < rank->thread_count; i++) {
		const struct thread_sample *sample = &rank->threads[i].sample;

		if (has_nccl_frame(sample->stack) || has_nccl_frame(sample->native))
			return true;
	}
	return false;
}

double watchdog_seconds(const struct session *session)
{
	size_t count = session->rank_count;
	double usual = OTHER_SECONDS;
	double least = -1;

	if (count == 0 || (count == 1 && session->ranks[0]->process.world_size <= 1))
		return -1;
	for (size_t i = 0; i < count; i++) {
		const struct rank *rank = session->ranks[i];
		double told = rank->debugger.watchdog;

		if (told >= 0 && (least < 0 || told < least))
			least = told;
		if (i < RANKS_LOOKED_AT && has_nccl(rank))
			usual = NCCL_SECONDS;
	}
	return least >= 0 ? least : usual;
}

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

/* The ranks that wait in probetui.breakpoint(ranks=…), and a summary of the other live ranks. */
struct company {
	struct rankset holding;
	const struct wait_group *place; /* the only wait group of holding; NULL: several */
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

/* Waiting ranks wake periodically to check whether they may resume: a wake is not a movement. */
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

/* Appends "wait in probetui.breakpoint (train.py:12)". */
static void append_hold(struct buffer *out, const struct company *company)
{
	bool is_plural = rankset_count(&company->holding) != 1;

	if (company->place)
		phrase_append_doing(out, company->place, is_plural);
	else
		buffer_printf(out, "%s at several breakpoints", is_plural ? "wait" : "waits");
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
			buffer_append_string(out, " for ranks that were not found here");
		} else {
			buffer_append_string(out, "; ");
			append_others(out, wait_groups, false);
		}
	}
	buffer_append_char(out, '.');
	company_clear(&company);
}
