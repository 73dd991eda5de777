/*
 * watchpoint-hit: handles a write to a watched place.
 *
 * The trap occurs after the write, at any point of the interpreter's work.
 * There are three cases, by the present use of the memory:
 *	The frame exists (it is in its thread's chain, or its generator has not
 *	ended): the expression is looked up again in the frame, because the place
 *	may have moved.
 *	The frame has ended, and the place was in the frame: out of scope. The
 *	memory of a frame is written when the next frame is built there, before
 *	that frame is in the chain, so a new call of the same function is not
 *	mistaken for the old one.
 *	The frame has ended, and the place was in an object that still exists: the
 *	last step of the expression is looked up again in the object.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytype.h"
#include "backends/cpython/pywalk.h"
#include "backends/expression/pyevaluate.h"
#include "backends/linux/memory.h"
#include "backends/ptrace/watchpoints-private.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"

#define OWNER_GENERATOR 1
#define SHOWN_COLUMNS 100

static uint64_t watchpoint_hit_code_of(const struct watched *watched, uint64_t frame)
{
	const struct offsets *at = &watched->python->offsets;
	uint64_t code;

	if (watched_fetch(watched, frame + (uint64_t)at->if_code, &code))
		return 0;
	return pyreader_untag(watched->python->minor, code);
}

static bool is_in_chain(const struct watched *watched, uint64_t tstate, uint64_t frame)
{
	struct pywalk walk = { .frames = NULL };
	bool is_in;

	if (!tstate)
		return false;
	memory_begin(watched->memory, false);
	/*
	 * If the chain cannot be read, the frame counts as part of it: nothing proves that the
	 * frame has ended.
	 */
	is_in = pywalk_read(&walk, watched->memory, watched->python, tstate) < 0;
	for (size_t i = 0; i < walk.count && !is_in; i++)
		is_in = walk.frames[i].address == frame;
	pywalk_clear(&walk);
	return is_in;
}

/* True if the generator has not ended: its frame exists between its calls, too. */
static bool generator_lives(const struct watched *watched, const struct watched_entry *entry)
{
	const struct offsets *at = &watched->python->offsets;
	uint64_t generator = entry->frame.address - (uint64_t)at->gen_frame;
	int8_t state;

	return watched_is_counted(watched, generator) &&
	       !memory_fetch(watched->memory, generator + (uint64_t)at->gen_frame_state, &state,
			     sizeof(state)) &&
	       state <= 0;
}

static bool frame_lives(const struct watched *watched, const struct watched_entry *entry,
			uint64_t tstate, uint64_t newest)
{
	uint64_t frame = entry->frame.address;

	if (!frame || watchpoint_hit_code_of(watched, frame) != entry->code)
		return false;
	if (frame == newest)
		return true;
	/* Up to 3.10 a frame is an object. */
	if (watched->python->minor < 11)
		return watched_is_counted(watched, frame);
	return is_in_chain(watched, tstate, frame) ||
	       (entry->frame.thread != tstate &&
		is_in_chain(watched, entry->frame.thread, frame)) ||
	       (entry->is_generator && generator_lives(watched, entry));
}

static void set_message(struct watched_entry *entry, const char *message)
{
	free(entry->message);
	entry->message = xstrdup_or_null(message);
}

void watched_entry_refresh(struct watched *watched, struct watched_entry *entry)
{
	watched_value_clear(&entry->value);
	watched_value_read(watched, &entry->place, &entry->value);
}

/* Returns the address of the key table of the dict whose ma_used is the guard. */
static uint64_t keys_of(const struct watched *watched, const struct pyexpression_place *place)
{
	uint64_t dict = place->guard - PYINDEX_DICT_USED;
	uint64_t keys;

	if (watched_fetch(watched, dict + (uint64_t)watched->python->offsets.dict_keys, &keys))
		return 0;
	return keys;
}

static void take_place(struct watched *watched, struct watched_entry *entry,
		       const struct pyexpression_place *place)
{
	if (place->address != entry->place.address || place->guard != entry->place.guard)
		watched->revision++;
	entry->place = *place;
	entry->owner_type = 0;
	if (place->owner)
		watched_fetch(watched, place->owner + PYREADER_HEAD - 8, &entry->owner_type);
	if (place->address && place->is_count)
		entry->keys = keys_of(watched, place);
}

static bool is_aligned(const struct pyexpression_place *place)
{
	return place->address % (uint64_t)place->length == 0;
}

static int watchpoint_hit_find_place(struct watched *watched, struct watched_entry *entry,
				     bool is_alive, struct pyexpression_place *place,
				     struct error *error)
{
	struct pyreader reader;
	int result;

	pyreader_init(&reader, watched->memory, watched->python);
	if (is_alive)
		result =
			pyexpression_place(entry->expression, &reader, &entry->frame, place, error);
	else
		result = pyexpression_place_again(entry->expression, &reader, entry->place.owner,
						  place, error);
	if (!result && !is_aligned(place))
		result = error_set(error,
				   "the value at 0x%" PRIx64
				   " cannot be watched: it is not aligned to %d bytes",
				   place->address, place->length);
	return result;
}

static int watchpoint_hit_find_frame(struct watched *watched, struct watched_entry *entry,
				     const struct watchpoints_frames *frames, struct error *error)
{
	const struct offsets *at = &watched->python->offsets;
	uint8_t owner = 0;

	if (!frames)
		return error_set(error, "the expression needs a frame: stop the rank first");
	if (frames->find(entry->wanted.depth, &entry->frame, frames->data) < 0)
		return error_set(error, "the stopped thread has no frame %d", entry->wanted.depth);
	entry->code = watchpoint_hit_code_of(watched, entry->frame.address);
	if (at->if_owner >= 0)
		memory_fetch(watched->memory, entry->frame.address + (uint64_t)at->if_owner, &owner,
			     sizeof(owner));
	entry->is_generator = owner == OWNER_GENERATOR;
	return 0;
}

void watched_entry_find(struct watched *watched, struct watched_entry *entry,
			const struct watchpoints_frames *frames)
{
	bool is_memory = entry->wanted.watch[strspn(entry->wanted.watch, " \t")] == '*';
	struct pyexpression_place place;
	struct error error = ERROR_INIT;

	if ((!is_memory && watchpoint_hit_find_frame(watched, entry, frames, &error)) ||
	    watchpoint_hit_find_place(watched, entry, !is_memory, &place, &error)) {
		set_message(entry, error.message);
		return;
	}
	take_place(watched, entry, &place);
	entry->is_local = pyexpression_is_local(entry->expression, &place) && !is_memory;
	entry->state = WATCHED_SET;
	set_message(entry, NULL);
	watched_entry_refresh(watched, entry);
}

/* Returns why the watch has ended, or NULL if it is active. */
static const char *explain_end(const struct watched *watched, const struct watched_entry *entry,
			       bool is_alive)
{
	if (is_alive || !entry->frame.address)
		return NULL;
	if (entry->is_local)
		return "out of scope: the frame has returned";
	if (!watched_object_lives(watched, entry->place.owner, entry->owner_type))
		return "out of scope: the containing object was deleted";
	return NULL;
}

static void end_entry(struct watched *watched, struct watched_entry *entry, const char *why)
{
	set_message(entry, why);
	entry->state = WATCHED_ENDED;
	watched->revision++;
}

/* Looks the place up again. If that fails, the place's address is 0, and its guard is kept, which
 * is written when the value exists again. */
static void watchpoint_hit_follow(struct watched *watched, struct watched_entry *entry,
				  bool is_alive)
{
	struct pyexpression_place place;

	if (watchpoint_hit_find_place(watched, entry, is_alive, &place, NULL)) {
		place.address = 0;
		if (!place.guard) {
			place.owner = entry->place.owner;
			place.guard = entry->place.guard;
			place.is_count = entry->place.is_count;
		}
		place.length = entry->place.length;
		place.is_object = entry->place.is_object;
		place.format = entry->place.format;
	}
	take_place(watched, entry, &place);
}

static void watchpoint_hit_append_cut(struct buffer *out, const char *text)
{
	text_cut(out, text, SHOWN_COLUMNS);
}

static char *say_change(const struct watched_entry *entry, const struct watched_value *now)
{
	struct buffer text = BUFFER_INIT;

	watchpoint_hit_append_cut(&text, entry->wanted.watch);
	buffer_append_string(&text, ": ");
	watchpoint_hit_append_cut(&text, entry->value.text);
	buffer_append_string(&text, " -> ");
	watchpoint_hit_append_cut(&text, now->text);
	return buffer_take(&text);
}

/*
 * True if the condition is true in the writing frame. A failure counts as false, and is reported
 * once.
 */
static bool watchpoint_hit_is_wanted(struct watched *watched, struct watched_entry *entry,
				     uint64_t tstate, uint64_t frame)
{
	const struct pyobject_frame writer = {
		.address = frame,
		.thread = tstate,
		.is_newest = true,
	};
	struct error error = ERROR_INIT;
	struct pyreader reader;
	char *message;
	int truth;

	if (!entry->condition)
		return true;
	pyreader_init(&reader, watched->memory, watched->python);
	truth = pyexpression_test(entry->condition, &reader, &writer, &error);
	if (truth >= 0)
		return truth;
	if (entry->has_failed)
		return false;
	message = xasprintf("condition failed: %s", error.message);
	set_message(entry, message);
	free(message);
	entry->failure = xasprintf("the condition %s cannot be evaluated, so the watchpoint does "
				   "not stop the process: %s",
				   entry->wanted.condition, error.message);
	entry->has_failed = true;
	watched->revision++;
	return false;
}

char *watchpoints_take_failure(struct watched *watched, int *id)
{
	for (size_t i = 0; i < watched->count; i++) {
		char *failure = watched->entries[i].failure;

		watched->entries[i].failure = NULL;
		*id = watched->entries[i].wanted.id;
		if (failure)
			return failure;
	}
	return NULL;
}

static bool count_hit(struct watched *watched, struct watched_entry *entry)
{
	if (entry->ignore_left > 0) {
		entry->ignore_left--;
		return false;
	}
	entry->hits++;
	if (entry->wanted.is_temporary) {
		entry->state = WATCHED_SPENT;
		watched->revision++;
	}
	return true;
}

/* Handles a changed value. Returns true if the thread stops. */
static bool take_change(struct watched *watched, struct watched_entry *entry,
			struct watched_value *owned_now, uint64_t tstate, uint64_t frame,
			char **description)
{
	char *said;
	bool stops;

	watched_value_refresh(watched, &entry->value);
	said = say_change(entry, owned_now);
	watched_value_clear(&entry->value);
	entry->value = *owned_now;
	stops = watchpoint_hit_is_wanted(watched, entry, tstate, frame) &&
		count_hit(watched, entry);
	if (stops)
		*description = xstrdup(said);
	free(said);
	return stops;
}

static const struct watched_entry *find_on(const struct watched *watched, int id)
{
	for (size_t i = 0; i < watched->count; i++)
		if (watched->entries[i].wanted.id == id &&
		    watchpoints_entry_is_on(&watched->entries[i]))
			return &watched->entries[i];
	return NULL;
}

/*
 * True if a value that was not found no longer exists; false if it may only have moved. The new
 * table of a dict that grows is empty for a moment, a list is empty while it is sorted, and a
 * deleted key is cleared before its value.
 */
static bool is_gone_for_good(const struct watched *watched, const struct watched_entry *entry,
			     const struct pyexpression_place *before)
{
	const struct pyexpression_place *place = &entry->place;
	uint64_t word;

	if (!place->guard)
		return before->address && !watched_fetch(watched, before->address, &word) &&
		       word == 0;
	if (!place->is_count || place->guard != before->guard)
		return false;
	if (watched_fetch(watched, place->guard, &word) || word == 0)
		return word == 0;
	return keys_of(watched, place) == entry->keys &&
	       (watched->python->minor >= 11 ||
		(!watched_fetch(watched, before->address - 8, &word) && word == 0));
}

/*
 * Up to 3.10, the values of an instance's dict may move while its key table stays. Then watches the
 * dict's pointer to the values, which is written at that time.
 */
static void wait_for_values(struct watched *watched, struct watched_entry *entry)
{
	struct pyexpression_place place = entry->place;

	if (!place.is_count || watched->python->minor >= 11 ||
	    keys_of(watched, &place) != entry->keys)
		return;
	place.guard += (uint64_t)watched->python->offsets.dict_values - PYINDEX_DICT_USED;
	place.is_count = false;
	take_place(watched, entry, &place);
}

/* True if a local's word temporarily holds a value of an inlined comprehension, or NULL. */
static bool is_in_between(const struct watched *watched, struct watched_entry *entry,
			  uint64_t frame, const struct watched_value *now)
{
	enum watched_writer writer = WATCHED_WRITER_ANY;

	if (entry->is_local && frame == entry->frame.address)
		writer = watched_writer(watched, frame);
	if (writer == WATCHED_WRITER_LENDS)
		entry->is_lent = true;
	else if (writer == WATCHED_WRITER_RETURNS && now->word == entry->value.word)
		entry->is_lent = false;
	return entry->is_lent ||
	       (entry->place.is_object && !now->word && !watched_value_is_gone(now));
}

/* Reads the place again. Returns true if the value has changed and the thread stops. */
static bool watchpoint_hit_look_at(struct watched *watched, struct watched_entry *entry,
				   uint64_t tstate, uint64_t frame, bool is_alive,
				   char **description)
{
	struct pyexpression_place before = entry->place;
	struct watched_value now;

	watchpoint_hit_follow(watched, entry, is_alive);
	watched_value_read(watched, &entry->place, &now);
	if (watched_value_is_gone(&now) ? !is_gone_for_good(watched, entry, &before)
					: is_in_between(watched, entry, frame, &now)) {
		if (watched_value_is_gone(&now))
			wait_for_values(watched, entry);
		watched_value_clear(&now);
		return false;
	}
	if (entry->place.is_object && watched_writer(watched, frame) == WATCHED_WRITER_ADDS)
		watched_value_complete(watched, frame, &entry->value, &now);
	if (watched_value_is_same(&entry->value, &now)) {
		watched_value_clear(&entry->value);
		entry->value = now;
		return false;
	}
	return take_change(watched, entry, &now, tstate, frame, description);
}

static bool fire_entry(struct watched *watched, struct watched_entry *entry, uint64_t tstate,
		       uint64_t frame, char **description)
{
	bool is_alive = frame_lives(watched, entry, tstate, frame);
	const char *end = explain_end(watched, entry, is_alive);

	if (!end)
		return watchpoint_hit_look_at(watched, entry, tstate, frame, is_alive, description);
	end_entry(watched, entry, end);
	*description = xasprintf("%s is %s", entry->wanted.watch, end);
	return true;
}

/* True if two breakpoints share one hardware watch. */
static bool is_same_watch(const struct pyexpression_place *a, const struct pyexpression_place *b)
{
	return (a->address && a->address == b->address) || (a->guard && a->guard == b->guard);
}

/* Handles the write for all entries that watch the word. The first entry that stops is reported. */
bool watchpoints_fired(struct watched *watched, int *id, uint64_t tstate, uint64_t frame,
		       char **description)
{
	const struct watched_entry *first = find_on(watched, *id);
	struct pyexpression_place place;
	bool stops = false;

	*description = NULL;
	/* Writes without a frame are not reported: the interpreter is being finalized. */
	if (!first || !frame)
		return false;
	place = first->place;
	for (size_t i = 0; i < watched->count; i++) {
		struct watched_entry *entry = &watched->entries[i];
		char *said = NULL;

		if (!watchpoints_entry_is_on(entry) || !is_same_watch(&place, &entry->place) ||
		    !fire_entry(watched, entry, tstate, frame, &said))
			continue;
		if (!stops) {
			*id = entry->wanted.id;
			*description = said;
		} else {
			free(said);
		}
		stops = true;
	}
	return stops;
}

/* Updates the value without a report. If the object is the same and is a str, its text is kept,
 * because the str may be incomplete while text is appended to it. */
static void watchpoint_hit_look_again(struct watched *watched, struct watched_entry *entry)
{
	struct watched_value now;

	watched_value_read(watched, &entry->place, &now);
	if (now.word == entry->value.word && now.word && now.type) {
		watched_value_clear(&now);
		watched_value_refresh(watched, &entry->value);
		return;
	}
	watched_value_clear(&entry->value);
	entry->value = now;
}

void watchpoints_look(struct watched *watched)
{
	for (size_t i = 0; i < watched->count; i++) {
		struct watched_entry *entry = &watched->entries[i];
		const char *end;
		bool is_alive;

		if (!watchpoints_entry_is_on(entry))
			continue;
		is_alive = frame_lives(watched, entry, entry->frame.thread, 0);
		end = explain_end(watched, entry, is_alive);
		if (end) {
			end_entry(watched, entry, end);
			continue;
		}
		watchpoint_hit_follow(watched, entry, is_alive);
		watchpoint_hit_look_again(watched, entry);
	}
}
