#include "model/wait-group.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/map.h"
#include "model/debug-state.h"
#include "model/place.h"
#include "model/session.h"
#include "model/stackkey.h"
#include "protocol/stack.h"

static uint64_t hash_code(uint64_t hash, const struct code *code)
{
	return hash_text(hash_text(hash, code->func), code->file);
}

/* Hashes the frames from the outermost to number innermost, inclusive; without the line of an
 * innermost frame in a library. */
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
 * Backward may block in C++ in a collective that no Python frame names (DDP's hooks). If
 * no thread and no child of the rank has used CPU time meanwhile, the rank waits for its
 * peers.
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

	/* In a debugger, the stack does not show whether the rank waits for peers. */
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
	if (main_thread->activity.kind == ACTIVITY_PEERS || is_idle_in_training(rank, main_thread))
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
	struct map *by_key; /* maps a key to an index + 1 */
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

/* Joins the drafts into wait groups; returns the group's index of each draft. Indices are found
 * again by key after the sort. */
static size_t *gather(struct wait_group_list *wait_groups, const struct drafts *drafts,
		      const struct session *session)
{
	struct map *by_key = map_new(NULL);
	size_t *class_wait_groups = xcalloc(drafts->count + 1, sizeof(size_t));
	uint64_t *keys = xcalloc(drafts->count + 1, sizeof(*keys));

	wait_groups->items = xcalloc(drafts->count + 1, sizeof(*wait_groups->items));
	wait_groups->is_sampled_twice = true;
	for (size_t i = 0; i < drafts->count; i++) {
		struct wait_group *wait_group =
			wait_group_find_or_add(wait_groups, by_key, &drafts->items[i]);

		class_wait_groups[i] = (size_t)(wait_group - wait_groups->items);
		keys[i] = wait_group->key;
	}
	for (size_t i = 0; i < session->rank_count; i++) {
		const struct rank *rank = session->ranks[i];

		count_rank(wait_groups, &wait_groups->items[class_wait_groups[rank->class_index]],
			   rank);
	}
	if (wait_groups->count > 1)
		qsort(wait_groups->items, wait_groups->count, sizeof(*wait_groups->items),
		      compare_wait_groups);
	for (size_t i = 0; i < wait_groups->count; i++)
		map_put(by_key, wait_groups->items[i].key, (void *)(uintptr_t)(i + 1));
	for (size_t i = 0; i < drafts->count; i++)
		class_wait_groups[i] = (size_t)(uintptr_t)map_find(by_key, keys[i]) - 1;
	free(keys);
	map_free(by_key);
	return class_wait_groups;
}

size_t *wait_groups_make(struct wait_group_list *wait_groups, struct verdict *verdict,
			 struct session *session)
{
	struct drafts drafts = { .by_key = map_new(NULL) };
	size_t *class_wait_groups;

	*wait_groups = (struct wait_group_list){ .items = NULL };
	for (size_t i = 0; i < session->rank_count; i++)
		draft_rank(&drafts, session, session->ranks[i]);
	sort_drafts(&drafts, session);
	class_wait_groups = gather(wait_groups, &drafts, session);
	verdict->classes = xcalloc(drafts.count + 1, sizeof(struct rank_class));
	verdict->class_count = drafts.count;
	for (size_t i = 0; i < drafts.count; i++)
		verdict->classes[i] = drafts.items[i].class;
	map_free(drafts.by_key);
	free(drafts.items);
	return class_wait_groups;
}

void wait_groups_clear(struct wait_group_list *wait_groups)
{
	for (size_t i = 0; i < wait_groups->count; i++)
		rankset_clear(&wait_groups->items[i].ranks);
	free(wait_groups->items);
	*wait_groups = (struct wait_group_list){ .items = NULL };
}
