#include "ui/ranklist.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/map.h"
#include "base/text.h"
#include "model/place.h"
#include "model/session.h"
#include "protocol/stack.h"
#include "ui/pane.h"
#include "ui/view.h"

/* Maximum number of frames that are hashed into the key of a class; folded classes are remembered
 * by key. */
#define KEY_FRAMES 64

/* Data of a rank while the list is made. */
struct item {
	const struct rank *rank;
	size_t group;
	bool is_known; /* the sort key is known; ranks without a sort key come last */
	double number;
	char *text; /* sort key, owned; NULL: sorted by number */
	int sign;
};

const char *ranklist_filter(const struct view *view)
{
	const struct prompt *prompt = &view->prompt;

	if (prompt->is_open && prompt->kind == PROMPT_FILTER)
		return prompt->text.length > 0 ? prompt->text.data : NULL;
	return view->order.filter;
}

static void ranklist_append_line(struct buffer *out, const struct session *session,
				 const struct view *view, const struct rank *rank)
{
	for (int i = 0; i < COLUMN_COUNT; i++) {
		column_append(out, session, view, rank, (enum column)i);
		buffer_append_char(out, '\n');
	}
}

/* Appends the text that a filter searches: all columns of a rank, its children and its odd threads,
 * each in a line of its own, so that no match spans two columns. */
static void ranklist_append_text(struct buffer *out, const struct session *session,
				 const struct view *view, const struct rank *rank)
{
	ranklist_append_line(out, session, view, rank);
	for (size_t i = 0; i < rank->child_count; i++)
		ranklist_append_line(out, session, view, rank->children[i]);
	for (size_t i = 0; i < rank->thread_count; i++) {
		const struct thread *thread = &rank->threads[i];

		if (thread->is_odd && thread->sample.name != NULL)
			buffer_printf(out, "%s\n%s\n", thread->sample.name, thread->activity.name);
	}
}

/* Keeps the items whose text contains the filter, ignoring case; returns the new count. */
static size_t keep_matching(struct item *items, size_t count, const struct session *session,
			    const struct view *view)
{
	const char *filter = ranklist_filter(view);
	struct buffer needle = BUFFER_INIT;
	struct buffer text = BUFFER_INIT;
	struct buffer lower = BUFFER_INIT;
	size_t kept = 0;

	if (filter == NULL)
		return count;
	text_lower(&needle, filter);
	for (size_t i = 0; i < count; i++) {
		buffer_reset(&text);
		buffer_reset(&lower);
		ranklist_append_text(&text, session, view, items[i].rank);
		text_lower(&lower, text.data);
		if (strstr(lower.data, needle.data) != NULL)
			items[kept++] = items[i];
	}
	buffer_clear(&lower);
	buffer_clear(&text);
	buffer_clear(&needle);
	return kept;
}

/* True if the rank's own row contains the filter. */
static bool matches(const struct session *session, const struct view *view, const struct rank *rank)
{
	struct buffer needle = BUFFER_INIT;
	struct buffer text = BUFFER_INIT;
	struct buffer lower = BUFFER_INIT;
	bool is_found;

	text_lower(&needle, ranklist_filter(view));
	ranklist_append_line(&text, session, view, rank);
	text_lower(&lower, text.data);
	is_found = strstr(lower.data, needle.data) != NULL;
	buffer_clear(&lower);
	buffer_clear(&text);
	buffer_clear(&needle);
	return is_found;
}

static void ranklist_find_key(struct item *item, const struct session *session,
			      const struct view *view)
{
	enum column sort = view->order.sort;
	struct buffer text = BUFFER_INIT;

	item->sign = column_is_descending(sort) != view->order.is_reversed ? -1 : 1;
	item->is_known = column_number(session, item->rank, sort, &item->number);
	if (column_is_number(sort))
		return;
	/* column_append() would add the age, which changes with each sample. */
	if (sort == COLUMN_ACTIVITY)
		rank_append_activity(&text, item->rank);
	else
		column_append(&text, session, view, item->rank, sort);
	item->is_known = text.length > 0;
	item->text = buffer_take(&text);
}

/* Sets the group of each item: a host's number in the order of the hosts' first ranks, or the
 * class. */
static void find_groups(struct item *items, size_t count, const struct session *session,
			enum grouping grouping)
{
	struct strmap *hosts = strmap_new(NULL);

	for (size_t i = 0; i < count; i++) {
		const struct rank *rank = items[i].rank;
		const char *host = rank_host(session, rank);
		size_t group;

		if (grouping == GROUPING_CLASS) {
			items[i].group = (size_t)(rank->class_index + 1);
			continue;
		}
		group = (size_t)(uintptr_t)strmap_find(hosts, host);
		if (group == 0) {
			group = strmap_count(hosts) + 1;
			strmap_put(hosts, host, (void *)(uintptr_t)group);
		}
		items[i].group = group;
	}
	strmap_free(hosts);
}

static int compare_keys(const struct item *a, const struct item *b)
{
	if (!a->is_known || !b->is_known)
		return b->is_known - a->is_known;
	if (a->text != NULL && b->text != NULL)
		return a->sign * strverscmp(a->text, b->text);
	return a->sign * ((a->number > b->number) - (a->number < b->number));
}

static int compare_items(const void *left, const void *right)
{
	const struct item *a = left;
	const struct item *b = right;
	int order;

	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	order = compare_keys(a, b);
	return order != 0 ? order : a->rank->process.rank - b->rank->process.rank;
}

/* Returns the ranks that match the filter, sorted by group and sort key. */
static struct item *make_items(struct ranklist *list, const struct session *session,
			       const struct view *view)
{
	const struct rank_order *order = &view->order;
	size_t count = session->rank_count;
	struct item *items = xcalloc(count + 1, sizeof(*items));

	for (size_t i = 0; i < count; i++)
		items[i].rank = session->ranks[i];
	count = keep_matching(items, count, session, view);
	if (order->grouping != GROUPING_NONE)
		find_groups(items, count, session, order->grouping);
	/* session->ranks is sorted by number already. */
	if (order->sort != COLUMN_RANK || order->is_reversed)
		for (size_t i = 0; i < count; i++)
			ranklist_find_key(&items[i], session, view);
	if (count > 1)
		qsort(items, count, sizeof(*items), compare_items);
	list->rank_count = count;
	list->total_count = session->rank_count;
	return items;
}

static uint64_t ranklist_class_key(const struct rank_class *class)
{
	const struct stack *stack = class->stack;
	uint64_t key = hash_text(HASH_START, class->activity.name);

	for (size_t i = 0; stack != NULL && i < stack->frame_count && i < KEY_FRAMES; i++) {
		struct buffer place = BUFFER_INIT;

		place_append(&place, &stack->frames[i]);
		key = hash_text(key, place.data);
		buffer_clear(&place);
	}
	return key;
}

static const struct rank_class *ranklist_class_of(const struct session *session,
						  const struct rank *rank)
{
	if (rank->class_index < 0 || (size_t)rank->class_index >= session->verdict.class_count)
		return NULL;
	return &session->verdict.classes[rank->class_index];
}

static uint64_t group_key(const struct session *session, const struct rank *rank,
			  enum grouping grouping)
{
	const struct rank_class *class = ranklist_class_of(session, rank);

	if (grouping == GROUPING_HOST)
		return hash_text(HASH_START, rank_host(session, rank));
	return class != NULL ? ranklist_class_key(class) : HASH_START;
}

static void make_groups(struct ranklist *list, const struct item *items,
			const struct session *session, const struct view *view)
{
	enum grouping grouping = view->order.grouping;
	size_t capacity = 0;

	for (size_t i = 0; i < list->rank_count; i++) {
		struct ranklist_group *group;

		if (i == 0 || items[i].group != items[i - 1].group) {
			ARRAY_GROW(list->groups, list->group_count, capacity);
			group = &list->groups[list->group_count++];
			*group = (struct ranklist_group){ .first = i };
			group->key = group_key(session, items[i].rank, grouping);
			group->is_folded = key_set_has(&view->order.folded, group->key);
		}
		list->groups[list->group_count - 1].count++;
	}
}

static void ranklist_add_row(struct ranklist *list, size_t *capacity,
			     const struct ranklist_row *row)
{
	ARRAY_GROW(list->rows, list->row_count, *capacity);
	list->rows[list->row_count++] = *row;
}

/*
 * Adds the rows of one rank. Threads and children that differ from others of their kind (is_odd and
 * is_outlier, set by outlier_mark()) are always shown; if only children match the filter, the
 * matching children are shown, too.
 */
static void add_rank_rows(struct ranklist *list, size_t *capacity, size_t at,
			  const struct session *session, const struct view *view)
{
	const struct rank *rank = list->ranks[at];
	bool is_found_below = rank->child_count > 0 && ranklist_filter(view) != NULL &&
			      !matches(session, view, rank);
	bool is_open = rank->child_count > 0 &&
		       key_set_has(&view->order.opened, (uint64_t)rank->process.pid);
	struct ranklist_row row = { .kind = RANKLIST_RANK, .at = at };

	ranklist_add_row(list, capacity, &row);
	list->has_children |= rank->child_count > 0;
	for (size_t i = 0; i < rank->thread_count; i++) {
		row = (struct ranklist_row){ .kind = RANKLIST_THREAD,
					     .at = at,
					     .thread = &rank->threads[i] };
		if (rank->threads[i].is_odd)
			ranklist_add_row(list, capacity, &row);
	}
	for (size_t i = 0; i < rank->child_count; i++) {
		row = (struct ranklist_row){ .kind = RANKLIST_CHILD,
					     .at = at,
					     .child = rank->children[i] };
		if (is_open || rank->children[i]->is_outlier ||
		    (is_found_below && matches(session, view, rank->children[i])))
			ranklist_add_row(list, capacity, &row);
	}
}

static void ranklist_make_rows(struct ranklist *list, const struct session *session,
			       const struct view *view)
{
	size_t capacity = 0;
	size_t group = 0;

	for (size_t i = 0; i < list->rank_count; i++) {
		struct ranklist_row row = { .kind = RANKLIST_GROUP, .at = i };

		if (group < list->group_count && list->groups[group].first == i) {
			ranklist_add_row(list, &capacity, &row);
			group++;
		}
		if (group == 0 || !list->groups[group - 1].is_folded)
			add_rank_rows(list, &capacity, i, session, view);
	}
}

static bool is_under_cursor(const struct ranklist *list, const struct session *session,
			    const struct view *view, const struct ranklist_row *row)
{
	const struct selection *selection = &session->choice.selection;
	const struct ranklist_group *group;

	switch (row->kind) {
	case RANKLIST_GROUP:
		group = ranklist_group_at(list, row->at);
		if (group->is_folded)
			return (size_t)list->at >= group->first &&
			       (size_t)list->at < group->first + group->count;
		return group->key == view->order.group && (size_t)list->at == group->first &&
		       selection->pid == 0 && selection->tid == 0;
	case RANKLIST_RANK:
		return row->at == (size_t)list->at;
	case RANKLIST_CHILD:
		return row->at == (size_t)list->at && row->child->process.pid == selection->pid;
	case RANKLIST_THREAD:
		return row->at == (size_t)list->at && selection->pid == 0 &&
		       row->thread->sample.tid == selection->tid;
	}
	return false;
}

/* Sets the cursor to the last matching row, since a child's row comes after the row of its rank. If
 * the selected rank's group is under the cursor, the group's row is taken instead. */
static void find_cursor(struct ranklist *list, const struct session *session,
			const struct view *view)
{
	const struct rank *selected = session_selected(session);

	list->at = -1;
	list->cursor = -1;
	for (size_t i = 0; i < list->rank_count; i++)
		if (list->ranks[i] == selected)
			list->at = (int)i;
	for (size_t i = 0; i < list->row_count && list->at >= 0; i++) {
		if (!is_under_cursor(list, session, view, &list->rows[i]))
			continue;
		list->cursor = (int)i;
		if (list->rows[i].kind == RANKLIST_GROUP)
			break;
	}
}

static void look_for_hosts(struct ranklist *list, const struct session *session)
{
	const char *first = NULL;

	for (size_t i = 0; i < session->rank_count && !list->has_hosts; i++) {
		const char *host = rank_host(session, session->ranks[i]);

		if (*host != '\0' && first == NULL)
			first = host;
		list->has_hosts = *host != '\0' && strcmp(first, host) != 0;
	}
}

void ranklist_make(struct ranklist *list, const struct session *session, const struct view *view)
{
	struct item *items;

	*list = (struct ranklist){ .ranks = NULL };
	items = make_items(list, session, view);
	list->ranks = xcalloc(list->rank_count + 1, sizeof(*list->ranks));
	for (size_t i = 0; i < list->rank_count; i++)
		list->ranks[i] = items[i].rank;
	if (view->order.grouping != GROUPING_NONE)
		make_groups(list, items, session, view);
	ranklist_make_rows(list, session, view);
	find_cursor(list, session, view);
	look_for_hosts(list, session);
	for (size_t i = 0; i < list->rank_count; i++)
		free(items[i].text);
	free(items);
}

void ranklist_clear(struct ranklist *list)
{
	free(list->ranks);
	free(list->groups);
	free(list->rows);
	*list = (struct ranklist){ .ranks = NULL };
}

const struct ranklist_group *ranklist_group_at(const struct ranklist *list, size_t at)
{
	size_t low = 0;
	size_t high = list->group_count;

	if (high == 0)
		return NULL;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (list->groups[middle].first <= at)
			low = middle;
		else
			high = middle;
	}
	return &list->groups[low];
}

void ranklist_append_group(struct buffer *out, const struct ranklist *list,
			   const struct session *session, const struct view *view,
			   const struct ranklist_group *group)
{
	const struct rank *rank = list->ranks[group->first];
	const struct frame *frame = rank_top_frame(rank);
	const char *host = rank_host(session, rank);

	if (view->order.grouping == GROUPING_HOST) {
		buffer_append_string(out, *host != '\0' ? host : "no host");
		return;
	}
	rank_append_activity(out, rank);
	if (frame != NULL) {
		buffer_printf(out, "  %s ", frame->code->func);
		place_append(out, frame);
	}
}

void ranklist_select(const struct ranklist *list, struct session *session, struct view *view,
		     const struct ranklist_row *row)
{
	const struct rank *rank = list->ranks[row->at];

	session->choice.selection = (struct selection){
		.rank = rank->process.rank,
		.depth = -1,
	};
	view->order.group = 0;
	switch (row->kind) {
	case RANKLIST_GROUP:
		view->order.group = ranklist_group_at(list, row->at)->key;
		break;
	case RANKLIST_CHILD:
		session->choice.selection.pid = row->child->process.pid;
		break;
	case RANKLIST_THREAD:
		session->choice.selection.tid = row->thread->sample.tid;
		break;
	case RANKLIST_RANK:
		break;
	}
	session->revision++;
}

static void ranklist_toggle(struct key_set *set, uint64_t key)
{
	if (key_set_has(set, key))
		key_set_remove(set, key);
	else
		key_set_add_page(set, key);
}

bool ranklist_fold(const struct ranklist *list, struct view *view, const struct ranklist_row *row)
{
	const struct rank *rank = list->ranks[row->at];

	if (row->kind == RANKLIST_GROUP) {
		ranklist_toggle(&view->order.folded, ranklist_group_at(list, row->at)->key);
		return true;
	}
	if (rank->child_count == 0)
		return false;
	ranklist_toggle(&view->order.opened, (uint64_t)rank->process.pid);
	return true;
}
