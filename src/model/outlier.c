#include "model/outlier.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/map.h"
#include "model/session.h"
#include "model/stacktree.h"
#include "protocol/stack.h"

#define ALIKE_MINIMUM 3

/*
 * Threads of one kind. The candidate is the result of a Boyer-Moore majority vote: the
 * only stack that more than half of the threads can have.
 */
struct kind {
	uint64_t candidate;
	size_t lead;
	size_t count;
	size_t candidate_count;
};

struct entry {
	struct thread *thread;
	struct rank *child; /* the child process of the thread; NULL: a thread of a rank */
	size_t kind;
	uint64_t stack;
};

struct table {
	const struct session *session;
	struct entry *entries;
	size_t count;
	size_t capacity;
	struct kind *kinds;
	size_t kind_count;
	size_t kind_capacity;
	struct strmap *by_name; /* maps a kind's name to its index + 1 */
};

static size_t outlier_kind_of(struct table *table, const char *name)
{
	size_t index = (size_t)(uintptr_t)strmap_find(table->by_name, name);

	if (index > 0)
		return index - 1;
	ARRAY_GROW(table->kinds, table->kind_count, table->kind_capacity);
	table->kinds[table->kind_count++] = (struct kind){ .count = 0 };
	strmap_put(table->by_name, name, (void *)(uintptr_t)table->kind_count);
	return table->kind_count - 1;
}

static void outlier_add(struct table *table, struct thread *thread, struct rank *child,
			const char *name)
{
	struct entry entry = { .thread = thread, .child = child };
	struct kind *kind;

	entry.kind = outlier_kind_of(table, name);
	entry.stack = stackkey_of(table->session, thread->sample.stack);
	ARRAY_GROW(table->entries, table->count, table->capacity);
	table->entries[table->count++] = entry;
	kind = &table->kinds[entry.kind];
	kind->count++;
	if (kind->lead == 0)
		kind->candidate = entry.stack;
	if (kind->candidate == entry.stack)
		kind->lead++;
	else
		kind->lead--;
}

/* Replaces digits by #: "Thread-12 (loop)" and "Thread-13 (loop)" are one kind. */
static void outlier_append_kind(struct buffer *out, const char *name)
{
	const char digits[] = "0123456789";

	while (*name != '\0') {
		size_t length = strcspn(name, digits);

		buffer_append(out, name, length);
		name += length;
		length = strspn(name, digits);
		if (length > 0)
			buffer_append_char(out, '#');
		name += length;
	}
}

static void add_threads(struct table *table, struct rank *rank)
{
	struct buffer name = BUFFER_INIT;

	for (size_t i = 0; i < rank->thread_count; i++) {
		struct thread *thread = &rank->threads[i];

		thread->is_odd = false;
		if (thread->sample.is_main || !thread->sample.stack || !thread->sample.name ||
		    rank_is_gone(rank))
			continue;
		buffer_reset(&name);
		buffer_append_string(&name, "thread ");
		outlier_append_kind(&name, thread->sample.name);
		outlier_add(table, thread, NULL, name.data);
	}
	buffer_clear(&name);
}

static void outlier_add_child(struct table *table, struct rank *child)
{
	const char *role = child->process.role;
	struct buffer name = BUFFER_INIT;

	child->is_outlier = false;
	buffer_printf(&name, "child %s", role ? role : "");
	for (size_t i = 0; i < child->thread_count; i++) {
		struct thread *thread = &child->threads[i];

		thread->is_odd = false;
		if (thread->sample.is_main && thread->sample.stack)
			outlier_add(table, thread, child, name.data);
	}
	buffer_clear(&name);
}

static bool is_odd(const struct table *table, const struct entry *entry)
{
	const struct kind *kind = &table->kinds[entry->kind];
	const struct thread *thread = entry->thread;

	return kind->count >= ALIKE_MINIMUM && kind->candidate_count * 2 > kind->count &&
	       entry->stack != kind->candidate && thread->sample_count > 1 &&
	       table->session->now - thread->since >= VERDICT_STILL_SECONDS;
}

void outlier_mark(struct session *session)
{
	struct table table = {
		.session = session,
		.by_name = strmap_new(NULL),
	};

	for (size_t i = 0; i < session->rank_count; i++) {
		struct rank *rank = session->ranks[i];

		add_threads(&table, rank);
		for (size_t j = 0; j < rank->child_count; j++)
			outlier_add_child(&table, rank->children[j]);
	}
	for (size_t i = 0; i < table.count; i++) {
		struct kind *kind = &table.kinds[table.entries[i].kind];

		kind->candidate_count += table.entries[i].stack == kind->candidate;
	}
	for (size_t i = 0; i < table.count; i++) {
		struct entry *entry = &table.entries[i];

		if (entry->child)
			entry->child->is_outlier = is_odd(&table, entry);
		else
			entry->thread->is_odd = is_odd(&table, entry);
	}
	strmap_free(table.by_name);
	free(table.kinds);
	free(table.entries);
}
