#include "engine/rank-answers.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/json.h"
#include "engine/breakpoint-sync.h"
#include "engine/debuggers.h"
#include "engine/engine.h"
#include "engine/format.h"
#include "protocol/rankset.h"

struct failure {
	char *sentence;
	struct rankset ranks; /* empty: a failure without a rank */
};

static void rank_answers_on_done(struct engine *engine, void *data);

struct rank_answers *rank_answers_new(struct engine *engine, const char *command)
{
	struct rank_answers *pending = xcalloc(1, sizeof(*pending));

	pending->engine = engine;
	pending->group = request_group_new(engine, NULL, rank_answers_on_done, pending);
	pending->command = xstrdup(command);
	pending->number = ++engine->pendings.newest;
	return pending;
}

void rank_answers_free(struct rank_answers *pending)
{
	if (!pending)
		return;
	request_group_free(pending->group);
	free(pending->command);
	json_decref(pending->arguments);
	free(pending);
}

void rank_answers_add(struct rank_answers *pending, size_t node, int rank, const char *request,
		      json_t *owned_arguments)
{
	pending->count++;
	request_group_add(pending->group, node, rank, request, owned_arguments, NULL);
}

void rank_answers_wait(struct rank_answers *pending)
{
	request_group_wait(pending->group, pending->engine->settings.timeout);
}

bool rank_answers_take(struct rank_answers *pending, struct group_answer *answer)
{
	if (!request_group_take(pending->group, answer))
		return false;
	if (answer->error)
		answer->body = NULL;
	return true;
}

void failures_clear(struct failures *failures)
{
	for (size_t i = 0; i < failures->count; i++) {
		free(failures->items[i].sentence);
		rankset_clear(&failures->items[i].ranks);
	}
	free(failures->items);
	*failures = (struct failures)FAILURES_INIT;
}

void failures_add(struct failures *failures, int rank, const char *sentence)
{
	struct failure *found = NULL;

	for (size_t i = 0; i < failures->count && !found; i++) {
		if (strcmp(failures->items[i].sentence, sentence) == 0)
			found = &failures->items[i];
	}
	if (!found) {
		ARRAY_GROW(failures->items, failures->count, failures->capacity);
		found = &failures->items[failures->count++];
		*found = (struct failure){ .sentence = xstrdup(sentence) };
	}
	if (rank >= 0)
		rankset_add(&found->ranks, rank);
}

/*
 * Returns the length of a process or thread number at text[at], or of a "\u2026" in place of such a
 * number; 0 if neither is there.
 */
static size_t id_length(const char *text, size_t at)
{
	static const char *const words[] = { "pid ", "rocess ", "hread " };

	for (size_t i = 0; i < ARRAY_LENGTH(words); i++) {
		size_t length = strlen(words[i]);

		if (at < length || strncmp(text + at - length, words[i], length) != 0)
			continue;
		if (strncmp(text + at, "\u2026", strlen("\u2026")) == 0)
			return strlen("\u2026");
		return strspn(text + at, "0123456789");
	}
	return 0;
}

/*
 * Returns one sentence for both, with "\u2026" for process and thread numbers that differ; NULL if
 * the sentences differ in anything else.
 */
static char *fold(const char *a, const char *b)
{
	struct buffer out = BUFFER_INIT;
	size_t i = 0, j = 0;

	while (a[i] != '\0' && b[j] != '\0') {
		size_t own = id_length(a, i);
		size_t other = id_length(b, j);

		if (own > 0 && other > 0) {
			if (own == other && strncmp(a + i, b + j, own) == 0)
				buffer_append(&out, a + i, own);
			else
				buffer_append_string(&out, "\u2026");
			i += own;
			j += other;
			continue;
		}
		if (a[i] != b[j])
			break;
		buffer_append_char(&out, a[i]);
		i++;
		j++;
	}
	if (a[i] == b[j] && out.length > 0)
		return buffer_take(&out);
	buffer_clear(&out);
	return NULL;
}

/*
 * Adds a failure to told. If told has the same sentence, apart from process and thread numbers,
 * adds only the ranks.
 */
static void fold_into(struct failures *told, const struct failure *failure)
{
	for (size_t i = 0; i < told->count; i++) {
		struct failure *before = &told->items[i];
		char *sentence = fold(before->sentence, failure->sentence);

		if (!sentence)
			continue;
		free(before->sentence);
		before->sentence = sentence;
		rankset_unite(&before->ranks, &failure->ranks);
		return;
	}
	ARRAY_GROW(told->items, told->count, told->capacity);
	told->items[told->count] = (struct failure){
		.sentence = xstrdup(failure->sentence),
	};
	rankset_copy(&told->items[told->count++].ranks, &failure->ranks);
}

void failures_append(struct buffer *out, const struct failures *failures)
{
	struct failures told = FAILURES_INIT;

	for (size_t i = 0; i < failures->count; i++)
		fold_into(&told, &failures->items[i]);
	for (size_t i = 0; i < told.count; i++) {
		struct failure *failure = &told.items[i];
		size_t length = strlen(failure->sentence);

		if (i + 1 < told.count && length > 0 && failure->sentence[length - 1] == '.')
			failure->sentence[length - 1] = '\0';
		if (failure->ranks.range_count > 0) {
			rankset_append_named(out, &failure->ranks);
			buffer_append_string(out, ": ");
			format_clause(failure->sentence);
		}
		buffer_append_string(out, failure->sentence);
		if (i + 1 < told.count)
			buffer_append_string(out, "; ");
	}
	failures_clear(&told);
}

void failures_append_lines(struct buffer *out, const struct failures *said)
{
	for (size_t i = 0; i < said->count; i++) {
		rankset_append_named(out, &said->items[i].ranks);
		buffer_printf(out, ": %s\n", said->items[i].sentence);
	}
}

static void say_failures(struct engine *engine, const struct rank_answers *pending,
			 const struct failures *failures)
{
	struct buffer out = BUFFER_INIT;

	failures_append(&out, failures);
	engine_say(engine, true, "%s: %s", pending->command, out.data);
	buffer_clear(&out);
}

/* Reports "0-2,4-7: 0.0312 · 3: nan". */
static void say_results(struct engine *engine, const struct failures *results, bool is_one)
{
	struct buffer out = BUFFER_INIT;

	for (size_t i = 0; i < results->count; i++) {
		if (i > 0)
			buffer_append_string(&out, " \u00b7 ");
		if (!is_one) {
			rankset_append(&out, &results->items[i].ranks);
			buffer_append_string(&out, ": ");
		}
		buffer_append_string(&out, results->items[i].sentence);
	}
	engine_say(engine, false, "%s", out.data);
	buffer_clear(&out);
}

/* Adds one line for an answer: its output and its result, or the line that say() makes. */
static void rank_answers_add_result(struct failures *results, const struct rank_answers *pending,
				    const struct group_answer *answer)
{
	const char *output = json_get_string(answer->body, "output", "");
	const char *result = json_get_string(answer->body, "result", NULL);
	struct buffer text = BUFFER_INIT;

	if (pending->say) {
		json_object_update_missing(answer->body, pending->arguments);
		pending->say(&text, answer->body);
		failures_add(results, answer->rank, text.data);
		buffer_clear(&text);
		return;
	}
	if (output[0] != '\0')
		format_text(&text, output);
	if (output[0] != '\0' && result)
		buffer_append_char(&text, ' ');
	if (result)
		format_text(&text, result);
	failures_add(results, answer->rank, text.length > 0 ? text.data : "-");
	buffer_clear(&text);
}

static void rank_answers_tell(struct engine *engine, struct rank_answers *pending)
{
	struct failures failures = FAILURES_INIT;
	struct failures results = FAILURES_INIT;
	struct group_answer answer;

	if (strcmp(pending->command, "break") == 0 || strcmp(pending->command, "watch") == 0) {
		breakpoint_sync_take(engine, pending, &failures);
		breakpoint_sync_confirm(engine, pending, &failures);
	}
	while (rank_answers_take(pending, &answer)) {
		if (pending->tells_results)
			session_touch(&engine->session, answer.rank);
		if (answer.error)
			failures_add(&failures, answer.rank, answer.error);
		else if (pending->tells_results)
			rank_answers_add_result(&results, pending, &answer);
		else if (strcmp(pending->command, "connect") == 0)
			debuggers_connected(engine, answer.body);
	}
	if (results.count > 0)
		say_results(engine, &results, pending->count == 1);
	if (failures.count > 0)
		say_failures(engine, pending, &failures);
	failures_clear(&failures);
	failures_clear(&results);
}

/*
 * Removes pending from engine->pendings.items. Returns false if pending is not in the list: then a
 * shell command waits for the answers.
 */
static bool take_left(struct engine *engine, const struct rank_answers *pending)
{
	size_t i = 0;

	while (i < engine->pendings.count && engine->pendings.items[i] != pending)
		i++;
	if (i == engine->pendings.count)
		return false;
	engine->pendings.count--;
	memmove(&engine->pendings.items[i], &engine->pendings.items[i + 1],
		(engine->pendings.count - i) * sizeof(struct rank_answers *));
	return true;
}

static void rank_answers_on_done(struct engine *engine, void *data)
{
	struct rank_answers *pending = data;

	if (!take_left(engine, pending))
		return;
	rank_answers_tell(engine, pending);
	rank_answers_free(pending);
}

void rank_answers_leave(struct rank_answers *owned_pending)
{
	struct engine *engine = owned_pending->engine;

	ARRAY_GROW(engine->pendings.items, engine->pendings.count, engine->pendings.capacity);
	engine->pendings.items[engine->pendings.count++] = owned_pending;
	if (owned_pending->count == 0)
		rank_answers_on_done(engine, owned_pending);
}

void rank_answers_clear(struct engine *engine)
{
	for (size_t i = 0; i < engine->pendings.count; i++)
		rank_answers_free(engine->pendings.items[i]);
	free(engine->pendings.items);
	engine->pendings.items = NULL;
	engine->pendings.count = 0;
	engine->pendings.capacity = 0;
}
