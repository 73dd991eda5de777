#include "backends/cpython/asyncio-section.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "banned.h"
#include "backends/linux/maps.h"
#include "backends/linux/memory.h"
#include "backends/native/loaded-elf.h"
#include "base/array.h"

#define SECTION ".AsyncioDebug"
#define TASK_MAXIMUM 4096
#define STATE_MAXIMUM (16 << 20)

static bool asyncio_section_make_sense(const struct asyncio_section *is)
{
	const uint64_t in_task[] = {
		is->task_name,	    is->task_awaited_by,
		is->task_is_task,   is->task_awaited_by_is_set,
		is->task_coroutine, is->task_node,
	};
	const uint64_t in_thread[] = {
		is->thread_running_loop,
		is->thread_running_task,
		is->thread_tasks,
	};

	if (is->task_size > TASK_MAXIMUM || is->thread_size > STATE_MAXIMUM ||
	    is->interpreter_size > STATE_MAXIMUM || is->interpreter_tasks >= is->interpreter_size)
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(in_task); i++)
		if (in_task[i] >= is->task_size)
			return false;
	for (size_t i = 0; i < ARRAY_LENGTH(in_thread); i++)
		if (in_thread[i] >= is->thread_size)
			return false;
	return true;
}

/* mapping is the module's code: the ELF header is mapped mapping->offset bytes below it. */
static int asyncio_section_read_file(struct asyncio_section *section, struct memory *memory,
				     const struct mapping *mapping)
{
	int fd = mapping_open(mapping, memory_pid(memory));
	struct loaded_elf_image image;
	uint64_t address;
	int result;

	if (fd < 0)
		return -1;
	result = loaded_elf_file_section(fd, SECTION, &address);
	close(fd);
	if (result < 0 || mapping->start < mapping->offset ||
	    loaded_elf_mapped(&image, memory, mapping->start - mapping->offset) < 0 ||
	    memory_fetch(memory, image.bias + address, section, sizeof(*section)) < 0)
		return -1;
	return asyncio_section_make_sense(section) ? 0 : -1;
}

static bool asyncio_section_is_module(const struct maps *maps, const struct mapping *mapping)
{
	static const char module[] = "/_asyncio.cpython";
	const char *base = strrchr(mapping->path, '/');

	(void)maps;
	return base && strncmp(base, module, strlen(module)) == 0;
}

static bool is_interpreter(const struct maps *maps, const struct mapping *mapping)
{
	return mapping->inode != 0 && mapping->inode == maps->inode &&
	       mapping->device == maps->device;
}

/* Tries _asyncio as a shared library, then the interpreter with _asyncio built in. */
int asyncio_section_read(struct asyncio_section *section, struct memory *memory, uint64_t runtime)
{
	static bool (*const places[])(const struct maps *maps, const struct mapping *mapping) = {
		asyncio_section_is_module,
		is_interpreter,
	};
	struct maps maps = { .mappings = NULL };
	int result = -1;

	if (maps_read(&maps, memory_pid(memory), runtime) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LENGTH(places) && result < 0; i++) {
		size_t j = 0;

		while (j < maps.count && !places[i](&maps, &maps.mappings[j]))
			j++;
		if (j < maps.count)
			result = asyncio_section_read_file(section, memory, &maps.mappings[j]);
	}
	maps_clear(&maps);
	return result;
}
