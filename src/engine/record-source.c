/*
 * record-source: requests the source files of user frames for a recording of a shell command, since
 * the recording may be viewed on a machine that lacks the files. Each file is requested once.
 */
#include <stdlib.h>

#include "banned.h"
#include "base/json.h"
#include "base/map.h"
#include "engine/engine.h"
#include "engine/request-group.h"
#include "model/place.h"
#include "protocol/stack.h"

/* Maximum of files in a recording; programs with more files generate code. */
#define FILES_MAXIMUM 256

static void record_source_ask(struct engine *engine, struct request_group *group,
			      const struct process *process, const struct frame *frame)
{
	const char *path = frame->code->file;
	json_t *arguments;

	if (!place_is_user(process, frame) ||
	    strmap_count(engine->recorded_sources) >= FILES_MAXIMUM ||
	    strmap_find(engine->recorded_sources, path))
		return;
	strmap_put(engine->recorded_sources, path, engine);
	arguments = json_pack("{s:i}", "pid", (int)process->pid);
	json_set_text(arguments, "path", path);
	request_group_add(group, process->rank, "source", arguments, NULL);
}

static void record_source_ask_rank(struct engine *engine, struct request_group *group,
				   const struct rank *rank)
{
	if (rank->process.state == PROCESS_EXITED)
		return;
	for (size_t i = 0; i < rank->thread_count; i++) {
		const struct stack *stack = rank->threads[i].sample.stack;

		for (size_t j = 0; stack && j < stack->frame_count; j++)
			record_source_ask(engine, group, &rank->process, &stack->frames[j]);
	}
	for (size_t i = 0; i < rank->child_count; i++)
		record_source_ask_rank(engine, group, rank->children[i]);
}

void engine_record_sources(struct engine *engine)
{
	struct request_group *group;

	if (!engine_record_path(engine))
		return;
	if (!engine->recorded_sources)
		engine->recorded_sources = strmap_new(NULL);
	group = request_group_new(engine, NULL, NULL, NULL);
	for (size_t i = 0; i < engine->session.rank_count; i++)
		record_source_ask_rank(engine, group, engine->session.ranks[i]);
	request_group_wait(group, engine->settings.timeout);
	request_group_free(group);
}
