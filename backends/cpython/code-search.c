#include "backends/cpython/code-search.h"

#include <stdlib.h>
#include <string.h>

#include "backends/cpython/code-file.h"
#include "backends/cpython/code-search-private.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/object-search.h"
#include "backends/linux/memory.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/map.h"

/* Maximum containers and instances between a module's dict and a function. */
#define DEPTH 4
/* The same limit for a search through all modules. */
#define DEPTH_EVERYWHERE 2
/* Frames of each thread, newest first, that are checked for new code. */
#define NEWEST 64
/* Maximum number of new code objects in one check, all threads together. */
#define NEW_MAXIMUM 256
/*
 * The set of known code and the set of known files are emptied when they have more entries than
 * this.
 */
#define SEEN_MAXIMUM 65536u

struct codes *code_search_new(struct memory *memory, const struct cpython *python)
{
	struct codes *codes = xcalloc(1, sizeof(*codes));

	codes->memory = memory_new(memory_pid(memory));
	codes->watching = memory_new(memory_pid(memory));
	codes->python = python;
	codes->revision = 1;
	return codes;
}

void code_search_free(struct codes *codes)
{
	if (!codes)
		return;
	pywalk_clear(&codes->walk);
	pytstate_list_clear(&codes->threads);
	address_set_clear(&codes->files);
	address_set_clear(&codes->seen);
	memory_free(codes->watching);
	memory_free(codes->memory);
	free(codes);
}

void code_list_clear(struct code_list *list)
{
	free(list->file);
	free(list->items);
	*list = (struct code_list){ .items = NULL };
}

static bool code_search_is_file(const char *filename, void *data)
{
	const struct code_search *search = data;

	return code_file_matches(search->path, filename);
}

static void add_frames(struct code_search *search)
{
	struct codes *codes = search->codes;
	long at = codes->python->offsets.if_f_globals;

	for (size_t i = 0; i < codes->walk.count; i++) {
		const struct pyframe *frame = &codes->walk.frames[i];
		struct running running = { .code = frame->code };

		memory_read_u64(codes->memory, frame->address + (uint64_t)at, &running.globals);
		ARRAY_GROW(search->running, search->running_count, search->running_capacity);
		search->running[search->running_count++] = running;
	}
}

static void code_search_read_threads(struct codes *codes, struct memory *memory)
{
	if (pytstate_list_read(&codes->threads, memory, codes->python, NULL) < 0)
		codes->threads.count = 0;
}

static void read_modules(struct code_search *search)
{
	struct codes *codes = search->codes;
	uint64_t last = 0;

	/*
	 * pytstate_list_read() lists the threads of one interpreter together, so each interpreter
	 * is read once.
	 */
	for (size_t i = 0; i < codes->threads.count; i++) {
		uint64_t interpreter = codes->threads.items[i].interpreter;

		if (interpreter != last)
			sys_modules_read(&search->modules, codes->memory, codes->python,
					 interpreter);
		last = interpreter;
	}
}

void code_search_begin(struct code_search *search, struct codes *codes)
{
	search->codes = codes;
	memory_begin(codes->memory, false);
	code_search_read_threads(codes, codes->memory);
	for (size_t i = 0; i < codes->threads.count; i++) {
		pywalk_read(&codes->walk, codes->memory, codes->python,
			    codes->threads.items[i].address);
		add_frames(search);
	}
	read_modules(search);
}

void code_search_end(struct code_search *search)
{
	free(search->running);
	sys_modules_clear(&search->modules);
	object_search_free(search->crawl);
}

/* Adds the namespaces of the modules that were loaded from the searched file. */
static void add_its_modules(struct code_search *search, const struct object_search_calls *calls)
{
	struct codes *codes = search->codes;
	struct code_names *names = code_names_new(codes->memory, codes->python, calls);

	for (size_t i = 0; i < search->modules.count; i++)
		code_names_expect(names, search->modules.items[i].file);
	code_names_learn(names);
	for (size_t i = 0; i < search->modules.count; i++) {
		const struct module *module = &search->modules.items[i];

		if (code_names_is_wanted(names, module->file))
			object_search_add(search->crawl, module->dict, DEPTH);
	}
	code_names_free(names);
}

static bool list_has(const struct code_list *list, uint64_t address)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == address)
			return true;
	return false;
}

static void search_near(struct code_search *search, const struct object_search_calls *calls,
			struct code_list *list)
{
	for (size_t i = 0; i < search->running_count; i++)
		object_search_add(search->crawl, search->running[i].code, 0);
	object_search_run(search->crawl, list);
	/* Code that was run by exec() belongs to no module: search its frame's globals. */
	for (size_t i = 0; i < search->running_count; i++)
		if (list_has(list, search->running[i].code))
			object_search_add(search->crawl, search->running[i].globals, DEPTH);
	add_its_modules(search, calls);
	object_search_run(search->crawl, list);
}

static void search_everywhere(struct code_search *search, struct code_list *list)
{
	for (size_t i = 0; i < search->running_count; i++)
		object_search_add(search->crawl, search->running[i].globals, DEPTH);
	for (size_t i = 0; i < search->modules.count; i++)
		object_search_add(search->crawl, search->modules.items[i].dict, DEPTH_EVERYWHERE);
	object_search_run(search->crawl, list);
}

static void search_file(struct codes *codes, const char *path, bool is_far, struct code_list *list)
{
	struct code_search search = { .path = path };
	const struct object_search_calls calls = { code_search_is_file, &search, false };

	code_search_begin(&search, codes);
	search.crawl = object_search_new(codes->memory, codes->python, &calls);
	search_near(&search, &calls, list);
	if (is_far)
		search_everywhere(&search, list);
	code_search_end(&search);
}

void code_search_of_file(struct codes *codes, const char *path, struct code_list *list)
{
	search_file(codes, path, false, list);
}

void code_search_of_file_far(struct codes *codes, const char *path, struct code_list *list)
{
	search_file(codes, path, true, list);
}

void code_search_nested(struct codes *codes, uint64_t code, struct code_list *list)
{
	const struct object_search_calls calls = { NULL, NULL, false };
	struct object_search *crawl = object_search_new(codes->memory, codes->python, &calls);

	object_search_add(crawl, code, 0);
	object_search_run(crawl, list);
	object_search_free(crawl);
}

static bool is_none(const char *filename, void *data)
{
	(void)filename;
	(void)data;
	return false;
}

/* Adds the file names to codes->files; true: at least one of them is new. */
static bool know_files(struct codes *codes, const uint64_t *strings, size_t count)
{
	const struct object_search_calls calls = { is_none, NULL, false };
	struct code_names *names = code_names_new(codes->watching, codes->python, &calls);
	bool is_new = false;

	for (size_t i = 0; i < count; i++)
		code_names_expect(names, strings[i]);
	code_names_learn(names);
	for (size_t i = 0; i < count; i++) {
		const char *text = code_names_text(names, strings[i]);

		if (text && address_set_add(&codes->files, hash_text(HASH_START, text)))
			is_new = true;
	}
	code_names_free(names);
	return is_new;
}

/* Finds running code that was not running at an earlier check; returns the number found. */
static size_t find_new_code(struct codes *codes, uint64_t *found)
{
	size_t count = 0;

	for (size_t i = 0; i < codes->threads.count; i++) {
		pywalk_read(&codes->walk, codes->watching, codes->python,
			    codes->threads.items[i].address);
		for (size_t j = 0; j < codes->walk.count && j < NEWEST; j++) {
			uint64_t code = codes->walk.frames[j].code;

			if (count < NEW_MAXIMUM && address_set_add(&codes->seen, code))
				found[count++] = code;
		}
	}
	return count;
}

/* True if code from a file runs that codes->files did not contain. */
static bool look_at_frames(struct codes *codes)
{
	long at = codes->python->offsets.co_filename;
	uint64_t found[NEW_MAXIMUM];
	uint64_t files[NEW_MAXIMUM];
	struct memory_part parts[NEW_MAXIMUM];
	size_t count = find_new_code(codes, found);

	for (size_t i = 0; i < count; i++) {
		files[i] = 0;
		parts[i] = (struct memory_part){
			.address = found[i] + (uint64_t)at,
			.out = &files[i],
			.length = sizeof(files[i]),
		};
	}
	memory_fetch_parts(codes->watching, parts, count);
	return know_files(codes, files, count);
}

/*
 * Adds the files of all modules to codes->files: searches find the code of these files through the
 * module, so running that code is nothing new.
 */
static void know_modules(struct codes *codes, uint64_t interpreter)
{
	struct sys_modules modules = { .items = NULL };
	uint64_t *files;

	sys_modules_read(&modules, codes->watching, codes->python, interpreter);
	files = xcalloc(modules.count + 1, sizeof(*files));
	for (size_t i = 0; i < modules.count; i++)
		files[i] = modules.items[i].file;
	know_files(codes, files, modules.count);
	free(files);
	sys_modules_clear(&modules);
}

static bool look_at_modules(struct codes *codes)
{
	uint64_t now = HASH_START;
	uint64_t last = 0;

	for (size_t i = 0; i < codes->threads.count; i++) {
		uint64_t interpreter = codes->threads.items[i].interpreter;

		if (interpreter != last)
			now = hash_number(now, sys_modules_revision(codes->watching, codes->python,
								    interpreter));
		last = interpreter;
	}
	if (now == codes->modules)
		return false;
	codes->modules = now;
	for (size_t i = 0; i < codes->threads.count; i++)
		if (i == 0 ||
		    codes->threads.items[i].interpreter != codes->threads.items[i - 1].interpreter)
			know_modules(codes, codes->threads.items[i].interpreter);
	return true;
}

static void forget_some(struct codes *codes)
{
	if (codes->seen.count > SEEN_MAXIMUM)
		address_set_clear(&codes->seen);
	if (codes->files.count > SEEN_MAXIMUM)
		address_set_clear(&codes->files);
}

uint64_t code_search_revision(struct codes *codes)
{
	bool is_new;

	forget_some(codes);
	memory_begin(codes->watching, true);
	code_search_read_threads(codes, codes->watching);
	is_new = look_at_modules(codes);
	is_new = look_at_frames(codes) || is_new;
	codes->revision += is_new;
	return codes->revision;
}
