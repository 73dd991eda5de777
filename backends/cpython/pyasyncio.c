#include "backends/cpython/pyasyncio.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/offsets.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytstate.h"
#include "backends/cpython/pytype.h"
#include "backends/linux/maps.h"
#include "backends/linux/memory.h"
#include "backends/native/loaded-elf.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"

#define MINOR_FIRST 14
#define NAME_MAXIMUM 256
#define LOCATE_TRIES 3
#define CHAIN_MAXIMUM 200 /* coroutines in one task's chain */
/* gi_frame_state of a coroutine that awaits another (pycore_frame.h, 3.14). */
#define SUSPENDED_YIELD_FROM (-1)

struct pyasyncio {
	struct memory *memory;
	const struct cpython *python;
	struct pyreader reader;
	struct asyncio_section at;
	bool is_located;
	int tries;
	int numbers;		      /* number of the newest task */
	struct pyasyncio_task *tasks; /* in order of their numbers */
	size_t count;
	size_t capacity;
	struct pywalk again;
};

struct pyasyncio *pyasyncio_new(struct memory *memory, const struct cpython *python)
{
	struct pyasyncio *asyncio = xcalloc(1, sizeof(*asyncio));

	asyncio->memory = memory;
	asyncio->python = python;
	return asyncio;
}

static void clear_task(struct pyasyncio_task *task)
{
	free(task->name);
	pywalk_clear(&task->walk);
}

void pyasyncio_free(struct pyasyncio *asyncio)
{
	if (!asyncio)
		return;
	for (size_t i = 0; i < asyncio->count; i++)
		clear_task(&asyncio->tasks[i]);
	free(asyncio->tasks);
	pywalk_clear(&asyncio->again);
	free(asyncio);
}

static bool pyasyncio_locate(struct pyasyncio *asyncio, uint64_t interpreter)
{
	uint64_t value;

	if (asyncio->is_located || asyncio->tries == LOCATE_TRIES ||
	    pymodule_find(&asyncio->reader, interpreter, "_asyncio", "__name__", &value))
		return asyncio->is_located;
	asyncio->tries++;
	asyncio->is_located =
		asyncio_section_read(&asyncio->at, asyncio->memory, asyncio->python->runtime) == 0;
	return asyncio->is_located;
}

/* "Task-3". CPython stores only the number until the program asks for the name. */
static char *pyasyncio_read_name(struct pyasyncio *asyncio, uint64_t task)
{
	struct buffer text = BUFFER_INIT;
	uint64_t name;
	int64_t number;

	if (pyreader_pointer(&asyncio->reader, task + asyncio->at.task_name, &name))
		return NULL;
	if (!pyobject_integer(&asyncio->reader, name, &number))
		return xasprintf("Task-%" PRId64, number);
	if (!pyobject_string(&asyncio->reader, name, NAME_MAXIMUM, &text))
		return buffer_take(&text);
	buffer_clear(&text);
	return NULL;
}

/*
 * Returns the known task or adds a new one. Name and coroutine are compared, too, because an
 * address may be reused.
 */
static struct pyasyncio_task *keep_task(struct pyasyncio *asyncio, uint64_t address,
					uint64_t coroutine)
{
	char *name = pyasyncio_read_name(asyncio, address);
	struct pyasyncio_task *task;

	for (size_t i = 0; i < asyncio->count; i++) {
		task = &asyncio->tasks[i];
		if (task->address != address || task->coroutine != coroutine ||
		    !task->name != !name || (name && strcmp(task->name, name) != 0))
			continue;
		free(name);
		return task;
	}
	ARRAY_GROW(asyncio->tasks, asyncio->count, asyncio->capacity);
	task = &asyncio->tasks[asyncio->count++];
	*task = (struct pyasyncio_task){
		.address = address,
		.coroutine = coroutine,
		.name = name,
		.number = ++asyncio->numbers,
	};
	return task;
}

static bool is_coroutine(struct pyreader *reader, uint64_t object)
{
	return pytype_is(reader, object, "coroutine") || pytype_is(reader, object, "generator");
}

uint64_t pyasyncio_frame(const struct pyasyncio *asyncio, const struct pyasyncio_task *task)
{
	return task->coroutine + (uint64_t)asyncio->python->offsets.gen_frame;
}

/* The awaited coroutine, which lies on top of the frame's value stack; 0: none. */
static uint64_t read_awaited(struct pyasyncio *asyncio, uint64_t coroutine, const uint8_t *frame)
{
	const struct offsets *at = &asyncio->python->offsets;
	uint64_t top, object;
	int8_t state;

	if (pyreader_read(&asyncio->reader, coroutine + (uint64_t)at->gen_frame_state, &state,
			  sizeof(state)) ||
	    state != SUSPENDED_YIELD_FROM)
		return 0;
	top = pyreader_word(frame, at->if_stackpointer);
	if (pyreader_pointer(&asyncio->reader, top - 8, &object))
		return 0;
	object = pyreader_untag(asyncio->python->minor, object);
	return is_coroutine(&asyncio->reader, object) ? object : 0;
}

/*
 * Reads the chain, outermost coroutine first; -1: a frame cannot be read, or the chain is too long.
 */
static int walk_chain(struct pyasyncio *asyncio, uint64_t coroutine, struct pywalk *walk)
{
	const struct offsets *at = &asyncio->python->offsets;
	uint8_t bytes[OFFSETS_FRAME_BYTES];

	walk->count = 0;
	walk->dropped_count = 0;
	for (int i = 0; coroutine && i < CHAIN_MAXIMUM; i++) {
		uint64_t address = coroutine + (uint64_t)at->gen_frame;

		if (!is_coroutine(&asyncio->reader, coroutine) ||
		    pyreader_read(&asyncio->reader, address, bytes, (size_t)at->if_localsplus))
			return -1;
		ARRAY_GROW(walk->frames, walk->count, walk->capacity);
		walk->frames[walk->count++] = (struct pyframe){
			.address = address,
			.code = pyreader_untag(asyncio->python->minor,
					       pyreader_word(bytes, at->if_code)),
			.position = pyreader_word(bytes, at->if_instr),
		};
		coroutine = read_awaited(asyncio, coroutine, bytes);
	}
	return coroutine ? -1 : 0;
}

static void pyasyncio_reverse(struct pywalk *walk)
{
	for (size_t i = 0; i < walk->count / 2; i++) {
		struct pyframe held = walk->frames[i];

		walk->frames[i] = walk->frames[walk->count - 1 - i];
		walk->frames[walk->count - 1 - i] = held;
	}
}

/* Walks the chain in both copies of memory's snapshot; equal walks are CONSISTENT. */
static void read_chain(struct pyasyncio *asyncio, struct pyasyncio_task *task)
{
	bool is_same;

	task->is_broken = walk_chain(asyncio, task->coroutine, &task->walk) < 0;
	memory_use(asyncio->memory, 1);
	is_same = walk_chain(asyncio, task->coroutine, &asyncio->again) == 0 &&
		  pywalk_agrees(&task->walk, &asyncio->again);
	memory_use(asyncio->memory, 0);
	task->exactness = is_same && !task->is_broken ? CONSISTENT : TORN;
	pyasyncio_reverse(&task->walk);
}

/* Reads a linked list of tasks. head: address of the list's head node (next, previous). */
static void read_list(struct pyasyncio *asyncio, uint64_t head, uint64_t thread, uint64_t running)
{
	const struct asyncio_section *at = &asyncio->at;
	uint64_t node;

	if (pyreader_pointer(&asyncio->reader, head, &node))
		return;
	for (int i = 0; i < PYASYNCIO_TASKS_MAXIMUM && node && node != head; i++) {
		uint64_t address = node - at->task_node;
		struct pyasyncio_task *task;
		uint64_t coroutine;

		if (pyreader_pointer(&asyncio->reader, node, &node) ||
		    pyreader_pointer(&asyncio->reader, address + at->task_coroutine, &coroutine) ||
		    asyncio->count >= 2 * PYASYNCIO_TASKS_MAXIMUM || asyncio->reader.budget == 0)
			return;
		if (!coroutine || !is_coroutine(&asyncio->reader, coroutine))
			continue;
		task = keep_task(asyncio, address, coroutine);
		task->is_seen = true;
		task->thread = thread;
		task->is_running = running == address;
		read_chain(asyncio, task);
	}
}

static void pyasyncio_read_threads(struct pyasyncio *asyncio, const struct pytstate_list *states)
{
	const struct asyncio_section *at = &asyncio->at;

	for (size_t i = 0; i < states->count; i++) {
		uint64_t state = states->items[i].address;
		uint64_t running = 0;

		if (pyreader_pointer(&asyncio->reader, state + at->thread_running_task, &running))
			continue;
		read_list(asyncio, state + at->thread_tasks, state, running);
	}
	/* Tasks of threads that have ended. */
	read_list(asyncio, states->main_interpreter + at->interpreter_tasks, 0, 0);
}

static void pyasyncio_drop_unseen(struct pyasyncio *asyncio)
{
	size_t kept = 0;

	for (size_t i = 0; i < asyncio->count; i++) {
		if (asyncio->tasks[i].is_seen && kept < PYASYNCIO_TASKS_MAXIMUM)
			asyncio->tasks[kept++] = asyncio->tasks[i];
		else
			clear_task(&asyncio->tasks[i]);
	}
	asyncio->count = kept;
}

void pyasyncio_read(struct pyasyncio *asyncio, const struct pytstate_list *states)
{
	if (asyncio->python->minor < MINOR_FIRST)
		return;
	pyreader_init(&asyncio->reader, asyncio->memory, asyncio->python);
	for (size_t i = 0; i < asyncio->count; i++)
		asyncio->tasks[i].is_seen = false;
	if (pyasyncio_locate(asyncio, states->main_interpreter))
		pyasyncio_read_threads(asyncio, states);
	pyasyncio_drop_unseen(asyncio);
}

const struct pyasyncio_task *pyasyncio_next(const struct pyasyncio *asyncio, size_t *place)
{
	return *place < asyncio->count ? &asyncio->tasks[(*place)++] : NULL;
}

const struct pyasyncio_task *pyasyncio_find(const struct pyasyncio *asyncio, int number)
{
	for (size_t i = 0; i < asyncio->count; i++)
		if (asyncio->tasks[i].number == number)
			return &asyncio->tasks[i];
	return NULL;
}

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

/*
 * mapping: the executable segment of the module; the ELF header is mapped mapping->offset bytes
 * below mapping->start.
 */
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
