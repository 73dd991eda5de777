#include "engine/replay-answers.h"

#include <string.h>

#include "banned.h"
#include "base/error.h"
#include "base/json.h"
#include "engine/engine.h"
#include "engine/recording-segment.h"
#include "engine/replay.h"

struct finding {
	const struct engine *engine;
	const struct rank *rank;
	const struct replay_answers *recalled;
	json_t *body; /* the newest so far */
};

/*
 * True if the recorded request is that of a comparison: with a hash, and without slices, searches
 * or raw data. Answers to requests of a tensor pane or a watch, or of element comparisons, have
 * other contents.
 */
static bool replay_answers_is_whole(const json_t *asked)
{
	return json_get_boolean(asked, "hash", false) && !json_object_get(asked, "slice") &&
	       !json_object_get(asked, "find") && !json_object_get(asked, "data") &&
	       !json_object_get(asked, "blocks");
}

static void replay_answers_note(const struct replay_line *line, void *data)
{
	struct finding *finding = data;
	const struct replay_answers *recalled = finding->recalled;
	const json_t *body = line->message.body;
	const json_t *asked = json_object_get(body, "asked");
	const char *expression = json_get_string(asked, "expression", "");

	if (line->node != finding->rank->node || line->time > finding->engine->session.now ||
	    json_get_integer(asked, "pid", 0) != finding->rank->process.pid ||
	    strcmp(expression, recalled->expression) != 0 ||
	    json_get_boolean(asked, "gradients", false) != recalled->is_of_gradients ||
	    json_get_boolean(asked, "values", false) != recalled->has_values ||
	    json_get_integer(asked, "start", 0) != recalled->start ||
	    !replay_answers_is_whole(asked))
		return;
	json_decref(finding->body);
	finding->body = json_incref(line->message.body);
}

json_t *replay_answers_find(const struct engine *engine, const struct rank *rank,
			    const struct replay_answers *recalled, struct error *error)
{
	struct finding finding = {
		.engine = engine,
		.rank = rank,
		.recalled = recalled,
	};
	const struct replay_search search = {
		.command = recalled->command,
		.flag = RECORDING_SEGMENT_VALUES,
		.each = replay_answers_note,
		.data = &finding,
	};

	if (replay_each(engine->replay, &search, error) == 0 && !finding.body)
		error_set(error, "the recording has no answer of it to this; values are recorded "
				 "with --record-locals only");
	return finding.body;
}
