#include "backends/files.h"

#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/map.h"
#include "protocol/sample.h"
#include "protocol/stack.h"

struct files {
	struct map *stacks; /* ids of those noted; a value says nothing */
	struct strmap *paths;
};

struct files *files_new(void)
{
	struct files *files = xcalloc(1, sizeof(*files));

	files->stacks = map_new(NULL);
	files->paths = strmap_new(NULL);
	return files;
}

void files_free(struct files *files)
{
	if (!files)
		return;
	strmap_free(files->paths);
	map_free(files->stacks);
	free(files);
}

static void note_stack(struct files *files, const struct stack *stack)
{
	if (map_find(files->stacks, stack->id))
		return;
	map_put(files->stacks, stack->id, files);
	for (size_t i = 0; i < stack->frame_count; i++) {
		const char *path = stack->frames[i].code->file;

		if (!strmap_find(files->paths, path))
			strmap_put(files->paths, path, files);
	}
}

void files_note(struct files *files, const struct process_sample *sample)
{
	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].stack)
			note_stack(files, sample->threads[i].stack);
}

void files_reset(struct files *files)
{
	map_free(files->stacks);
	strmap_free(files->paths);
	files->stacks = map_new(NULL);
	files->paths = strmap_new(NULL);
}

bool files_has(const struct files *files, const char *path)
{
	return strmap_find(files->paths, path) != NULL;
}
