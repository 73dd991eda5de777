/*
 * breakpoint-hit: evaluates the breakpoints of a line at a line event, each in the way of
 * bdb.effective().
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "banned.h"
#include "backends/cpython/bytecode.h"
#include "backends/cpython/pyobject.h"
#include "backends/expression/logpoint.h"
#include "backends/expression/pyexpression.h"
#include "backends/linux/memory.h"
#include "backends/ptrace/breakpoint-table-private.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/loop.h"

/* A thread that is stopped where a line begins. */
struct line_stop {
	struct breaks *breaks;
	const struct bytecode *code;
	int line;
	struct pyobject_frame frame;
	struct pyreader reader;
};

void break_hit_clear(struct break_hit *hit)
{
	for (size_t i = 0; i < hit->said_count; i++)
		free(hit->said[i].text);
	free(hit->said);
	*hit = (struct break_hit){ .said = NULL };
}

static bool breakpoint_hit_is_there(const struct break_entry *entry, const struct line_stop *stop)
{
	for (size_t i = 0; i < entry->count; i++) {
		const struct break_place *place = &entry->places[i];

		if (place->code == stop->code->address && place->line == stop->line &&
		    place->signature == break_signature(stop->code))
			return true;
	}
	return false;
}

static void breakpoint_hit_say(struct break_hit *hit, const struct break_entry *entry,
			       struct buffer *text)
{
	size_t capacity = hit->said_count;

	ARRAY_GROW(hit->said, hit->said_count, capacity);
	hit->said[hit->said_count++] = (struct break_said){
		.id = entry->wanted.id,
		.text = buffer_take(text),
	};
}

/*
 * Only the first failure is reported, because the thread continues, and the condition may fail
 * again at once.
 */
static void breakpoint_hit_say_failure(struct break_hit *hit, struct break_entry *entry,
				       const struct error *error)
{
	struct buffer text = BUFFER_INIT;
	bool had_failed = entry->failure;

	free(entry->failure);
	entry->failure = xasprintf("condition failed: %s", error->message);
	if (had_failed)
		return;
	buffer_printf(&text, "the condition %s cannot be evaluated, so the breakpoint does not stop "
		      "the process: %s",
		      entry->wanted.condition, error->message);
	breakpoint_hit_say(hit, entry, &text);
}

/* Once a second: reports how many texts the log point has left out, and resets its counts. */
static void end_second(struct break_entry *entry, double now, struct break_hit *hit)
{
	struct buffer text = BUFFER_INIT;

	if (now - entry->speaks_since < 1)
		return;
	if (entry->left_out > 0) {
		buffer_printf(&text,
			      "%" PRIu64
			      " more messages left out (a log point prints at most %d a second)",
			      entry->left_out, BREAK_SAID_MAXIMUM);
		breakpoint_hit_say(hit, entry, &text);
	}
	entry->speaks_since = now;
	entry->said = 0;
	entry->left_out = 0;
}

void breakpoint_table_left_out(struct breaks *breaks, double now, struct break_hit *hit)
{
	for (size_t i = 0; i < breaks->count; i++)
		if (breaks->entries[i].left_out > 0)
			end_second(&breaks->entries[i], now, hit);
}

static bool may_speak(struct break_entry *entry, struct break_hit *hit)
{
	end_second(entry, loop_now(), hit);
	if (entry->said < BREAK_SAID_MAXIMUM) {
		entry->said++;
		return true;
	}
	entry->left_out++;
	return false;
}

/*
 * Returns a reader for the snapshot of the trap, which is prefetched; without a trap, for a new
 * snapshot.
 */
static struct pyreader *fresh_reader(struct line_stop *stop)
{
	struct breaks *breaks = stop->breaks;
	bool is_still = memory_is_standing(breaks->trapped);
	struct memory *memory = is_still ? breaks->trapped : breaks->memory;

	if (is_still)
		memory_renew(memory);
	else
		memory_begin(memory, false);
	pyreader_init(&stop->reader, memory, breaks->python);
	stop->reader.is_still = is_still;
	return &stop->reader;
}

/* True if the breakpoint stops or prints now: its condition is true and its ignore count is 0. */
static bool is_effective(struct break_entry *entry, struct line_stop *stop, struct break_hit *hit)
{
	struct error error = ERROR_INIT;
	int truth = 1;

	if (entry->condition)
		truth = pyexpression_test(entry->condition, fresh_reader(stop), &stop->frame,
					  &error);
	if (truth < 0) {
		breakpoint_hit_say_failure(hit, entry, &error);
		return false;
	}
	if (truth && entry->ignore_left > 0) {
		entry->ignore_left--;
		return false;
	}
	if (truth && entry->wanted.is_temporary)
		entry->state = ENTRY_SPENT;
	return truth;
}

static void take_effect(struct break_entry *entry, struct line_stop *stop, struct break_hit *hit)
{
	struct buffer text = BUFFER_INIT;

	if (entry->hits < INT_MAX)
		entry->hits++;
	if (!entry->log) {
		if (hit->count < STOP_HITS_MAXIMUM)
			hit->ids[hit->count++] = entry->wanted.id;
		return;
	}
	if (!may_speak(entry, hit))
		return;
	logpoint_say(entry->log, fresh_reader(stop), &stop->frame, &text);
	breakpoint_hit_say(hit, entry, &text);
}

bool breakpoint_table_hit(struct breaks *breaks, const struct bytecode *code, int line,
			  uint64_t frame, uint64_t tstate, struct break_hit *hit)
{
	struct line_stop stop = {
		.breaks = breaks,
		.code = code,
		.line = line,
		.frame = { .address = frame, .thread = tstate, .is_newest = true },
	};
	bool is_spent = false;

	*hit = (struct break_hit){ .said = NULL };
	for (size_t i = 0; i < breaks->count; i++) {
		struct break_entry *entry = &breaks->entries[i];

		if (entry->state != ENTRY_BOUND || !break_entry_is_on(entry) ||
		    !breakpoint_hit_is_there(entry, &stop))
			continue;
		if (is_effective(entry, &stop, hit))
			take_effect(entry, &stop, hit);
		is_spent |= entry->state == ENTRY_SPENT;
	}
	if (is_spent)
		breakpoint_table_request_again(breaks);
	return hit->count > 0;
}
