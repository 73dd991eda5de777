#include "backends/stack-files.h"

#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/map.h"
#include "protocol/sample.h"
#include "protocol/stack.h"

struct stack_files {
	struct map *stacks; /* set of the ids of noted stacks */
	struct strmap *paths;
};

struct stack_files *stack_files_new(void)
{
	struct stack_files *files = xcalloc(1, sizeof(*files));

	files->stacks = map_new(NULL);
	files->paths = strmap_new(NULL);
	return files;
}

void stack_files_free(struct stack_files *files)
{
	if (!files)
		return;
	strmap_free(files->paths);
	map_free(files->stacks);
	free(files);
}

static void note_stack(struct stack_files *files, const struct stack *stack)
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

void stack_files_note(struct stack_files *files, const struct process_sample *sample)
{
	for (size_t i = 0; i < sample->thread_count; i++)
		if (sample->threads[i].stack)
			note_stack(files, sample->threads[i].stack);
}

void stack_files_reset(struct stack_files *files)
{
	map_free(files->stacks);
	strmap_free(files->paths);
	files->stacks = map_new(NULL);
	files->paths = strmap_new(NULL);
}

bool stack_files_has(const struct stack_files *files, const char *path)
{
	return strmap_find(files->paths, path) != NULL;
}

size_t stack_files_count(const struct stack_files *files)
{
	return strmap_count(files->paths);
}

struct each_path {
	void (*each)(const char *path, void *data);
	void *data;
};

static void pass_path(const char *path, void *value, void *data)
{
	const struct each_path *pass = data;

	(void)value;
	pass->each(path, pass->data);
}

void stack_files_each(const struct stack_files *files, void (*each)(const char *path, void *data),
		      void *data)
{
	struct each_path pass = { .each = each, .data = data };

	strmap_each(files->paths, pass_path, &pass);
}
