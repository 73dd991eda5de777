/*
 * code-function: finds functions by name, or by a path of attributes. The search takes the first
 * place that has the name: the main program, running frames' globals, the module that the path
 * names, all modules of the user, functions nested in the user's files, libraries.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/cpython/code-file.h"
#include "backends/cpython/code-search-private.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/object-search.h"
#include "backends/cpython/pycontainer.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pystring.h"
#include "backends/cpython/pytype.h"
#include "backends/linux/memory.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"

#define NAME_MAXIMUM 1024
#define CONSTANTS_MAXIMUM 16384
/*
 * The value of a name may be a decorator's object that holds the function: maximum number of
 * containers and instances on the way from the value to the function.
 */
#define DEPTH 1
/* Maximum bytes read to look up one name. */
#define BUDGET ((size_t)1 << 20)

struct function_search {
	struct code_search base;
	struct pyreader reader;
	const char *name; /* the searched name or path */
	const char *last; /* the part of name behind its last dot */
	struct code_list *list;
};

static bool find_in_bases(struct pyreader *reader, const struct pytype *type, const char *name,
			  uint64_t *value)
{
	int64_t count = pytuple_count(reader, type->mro);

	for (int64_t i = 0; i < count && i < PYTYPE_BASES_MAXIMUM; i++) {
		struct pytype base;
		uint64_t address;

		if (!pytuple_item(reader, type->mro, i, &address) &&
		    !pytype_read(reader, address, &base) &&
		    !pytype_attribute(reader, &base, name, value))
			return true;
	}
	return false;
}

/* Like getattr(), but runs no code of the process (no descriptor, no __getattr__). */
static bool code_function_find_attribute(struct pyreader *reader, uint64_t object, const char *name,
					 uint64_t *value)
{
	struct pytype type, class;
	uint64_t dict;

	if (pytype_of(reader, object, &type))
		return false;
	if (type.flags & PYTYPE_TYPE)
		return !pytype_read(reader, object, &class) &&
		       find_in_bases(reader, &class, name, value);
	if (!pyobject_attribute(reader, object, name, value))
		return true;
	if (pytype_is(reader, object, "module"))
		return !pyreader_pointer(reader, object + MODULE_DICT, &dict) &&
		       !pydict_find(reader, dict, name, value);
	return find_in_bases(reader, &type, name, value);
}

/* Follows a path of attributes from a namespace; false: an attribute is missing. */
static bool code_function_resolve(struct pyreader *reader, uint64_t dict, const char *path,
				  uint64_t *object)
{
	char part[NAME_MAXIMUM];
	bool is_first = true;

	for (const char *at = path;; is_first = false) {
		size_t length = strcspn(at, ".");

		snprintf(part, sizeof(part), "%.*s", (int)length, at);
		if (is_first ? pydict_find(reader, dict, part, object) != 0
			     : !code_function_find_attribute(reader, *object, part, object))
			return false;
		if (!at[length])
			return true;
		at += length + 1;
	}
}

static bool is_called(struct function_search *search, uint64_t code, const char *name)
{
	long at = search->base.codes->python->offsets.co_name;
	uint64_t text;

	return !pyreader_pointer(&search->reader, code + (uint64_t)at, &text) &&
	       pystring_equals(&search->reader, text, name);
}

static void code_function_append(struct code_list *list, uint64_t code)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == code)
			return;
	ARRAY_GROW(list->items, list->count, list->capacity);
	list->items[list->count++] = code;
}

/*
 * Adds code of the functions that object is, wraps or closes over: of each function with the
 * searched name; if no function has that name, of the first function.
 */
static void add_object(struct function_search *search, uint64_t object)
{
	const struct object_search_calls calls = { NULL, NULL, true };
	struct code_list found = { .items = NULL };
	struct codes *codes = search->base.codes;
	const char *name = search->last;
	struct object_search *crawl;
	bool is_named = false;

	if (pytype_has(&search->reader, object, PYTYPE_TYPE)) {
		name = "__init__";
		if (!code_function_find_attribute(&search->reader, object, name, &object))
			return;
	}
	crawl = object_search_new(codes->memory, codes->python, &calls);
	object_search_add(crawl, object, DEPTH);
	object_search_run(crawl, &found);
	object_search_free(crawl);
	for (size_t i = 0; i < found.count; i++) {
		if (!is_called(search, found.items[i], name))
			continue;
		code_function_append(search->list, found.items[i]);
		is_named = true;
	}
	if (!is_named && found.count)
		code_function_append(search->list, found.items[0]);
	code_list_clear(&found);
}

static void code_function_look_in(struct function_search *search, uint64_t dict, const char *path)
{
	uint64_t object;

	search->reader.budget = BUDGET;
	if (code_function_resolve(&search->reader, dict, path, &object))
		add_object(search, object);
}

static bool code_function_is_main(struct function_search *search, const struct module *module)
{
	return pystring_equals(&search->reader, module->name, "__main__");
}

static void look_near(struct function_search *search)
{
	const struct code_search *base = &search->base;
	uint64_t last = 0;

	for (size_t i = 0; i < base->modules.count; i++)
		if (code_function_is_main(search, &base->modules.items[i]))
			code_function_look_in(search, base->modules.items[i].dict, search->name);
	for (size_t i = 0; i < base->running_count && !search->list->count; i++) {
		if (base->running[i].globals != last)
			code_function_look_in(search, base->running[i].globals, search->name);
		last = base->running[i].globals;
	}
}

static char *code_function_text_of(struct function_search *search, uint64_t string)
{
	struct buffer text = BUFFER_INIT;

	search->reader.budget = BUDGET;
	if (!string || pyobject_string(&search->reader, string, NAME_MAXIMUM, &text))
		buffer_reset(&text);
	return buffer_take(&text);
}

/*
 * Returns the rest of name behind the module's name or behind its last components ("b.f" of module
 * "a.b": "f"); NULL: no match.
 */
static const char *behind_module(const char *name, const char *module)
{
	while (*module) {
		size_t length = strlen(module);
		const char *dot = strchr(module, '.');

		if (!strncmp(name, module, length) && name[length] == '.' && name[length + 1])
			return name + length + 1;
		module = dot ? dot + 1 : module + length;
	}
	return NULL;
}

/* Cuts "/x/train.py" to "train". */
static void cut_to_stem(char *path)
{
	char *slash = strrchr(path, '/');
	char *dot;

	if (slash)
		memmove(path, slash + 1, strlen(slash + 1) + 1);
	dot = strrchr(path, '.');
	if (dot)
		*dot = '\0';
}

static void look_in_module(struct function_search *search, const struct module *module)
{
	char *name = code_function_text_of(search, module->name);
	const char *path = behind_module(search->name, name);

	/* The main program can also be named by its file's stem. */
	if (!path && !strcmp(name, "__main__")) {
		free(name);
		name = code_function_text_of(search, module->file);
		cut_to_stem(name);
		path = behind_module(search->name, name);
	}
	if (path)
		code_function_look_in(search, module->dict, path);
	free(name);
}

static void look_in_all(struct function_search *search, bool in_libraries)
{
	const struct sys_modules *modules = &search->base.modules;

	for (size_t i = 0; i < modules->count; i++) {
		char *file = code_function_text_of(search, modules->items[i].file);
		bool is_own = file[0] && !code_file_is_library(file);

		if (is_own != in_libraries)
			code_function_look_in(search, modules->items[i].dict, search->name);
		free(file);
	}
}

static bool code_function_is_own(const char *filename, void *data)
{
	(void)data;
	return !code_file_is_library(filename);
}

/* True if the code's qualified name is the searched name or ends in it after a dot. */
static bool is_nested(struct function_search *search, uint64_t code)
{
	const struct offsets *at = &search->base.codes->python->offsets;
	size_t length = strlen(search->name);
	uint64_t string = 0;
	char *text;
	bool is_meant;
	size_t all;

	search->reader.budget = BUDGET;
	if (at->co_qualname < 0)
		return is_called(search, code, search->name);
	pyreader_pointer(&search->reader, code + (uint64_t)at->co_qualname, &string);
	text = code_function_text_of(search, string);
	all = strlen(text);
	is_meant = all >= length && !strcmp(text + all - length, search->name) &&
		   (all == length || text[all - length - 1] == '.');
	free(text);
	return is_meant;
}

/* Adds functions nested in functions of the user's own files. */
static void look_inside(struct function_search *search)
{
	const struct object_search_calls calls = { code_function_is_own, NULL, false };
	struct code_search *base = &search->base;
	struct code_list found = { .items = NULL };

	base->crawl = object_search_new(base->codes->memory, base->codes->python, &calls);
	for (size_t i = 0; i < base->running_count; i++)
		object_search_add(base->crawl, base->running[i].code, 0);
	for (size_t i = 0; i < base->modules.count; i++) {
		char *file = code_function_text_of(search, base->modules.items[i].file);

		if (file[0] && !code_file_is_library(file))
			object_search_add(base->crawl, base->modules.items[i].dict, DEPTH + 1);
		free(file);
	}
	object_search_run(base->crawl, &found);
	for (size_t i = 0; i < found.count; i++)
		if (is_nested(search, found.items[i]))
			code_function_append(search->list, found.items[i]);
	code_list_clear(&found);
}

/* Returns the code object of this name among code's constants; 0: none. */
static uint64_t find_nested(struct function_search *search, uint64_t code, const char *name)
{
	long at = search->base.codes->python->offsets.co_consts;
	struct pyreader *reader = &search->reader;
	uint64_t found = 0;
	uint64_t consts, item;
	int64_t count;

	if (pyreader_pointer(reader, code + (uint64_t)at, &consts))
		return 0;
	count = pytuple_count(reader, consts);
	/* Of several definitions with one name, the last one is valid in the end. */
	for (int64_t i = 0; i < count && i < CONSTANTS_MAXIMUM; i++)
		if (!pytuple_item(reader, consts, i, &item) && pytype_is(reader, item, "code") &&
		    is_called(search, item, name))
			found = item;
	return found;
}

static void look_in_code(struct function_search *search, uint64_t code, const char *path)
{
	char part[NAME_MAXIMUM];

	for (const char *at = path; code;) {
		size_t length = strcspn(at, ".");

		snprintf(part, sizeof(part), "%.*s", (int)length, at);
		code = find_nested(search, code, part);
		if (!at[length])
			break;
		at += length + 1;
	}
	if (code)
		code_function_append(search->list, code);
}

static char *file_of(struct function_search *search, uint64_t code)
{
	long at = search->base.codes->python->offsets.co_filename;
	uint64_t file = 0;

	search->reader.budget = BUDGET;
	pyreader_pointer(&search->reader, code + (uint64_t)at, &file);
	return code_function_text_of(search, file);
}

/* Turns "x/pkg/mod.py" into "x.pkg.mod", which ends in the module's name. */
static char *module_of(const char *file)
{
	size_t length = strlen(file);
	char *module = xstrdup(file);

	if (length > 3 && !strcmp(file + length - 3, ".py"))
		module[length - 3] = '\0';
	for (char *at = module; *at; at++)
		if (*at == '/')
			*at = '.';
	return module;
}

void code_search_of_function_in(struct codes *codes, uint64_t code, const char *name,
				struct code_list *list)
{
	struct function_search search = {
		.base = { .codes = codes },
		.name = name,
		.list = list,
	};
	char *file, *module;
	const char *path;

	memory_begin(codes->memory, false);
	pyreader_init(&search.reader, codes->memory, codes->python);
	file = file_of(&search, code);
	module = module_of(file);
	path = behind_module(name, module);
	if (path)
		look_in_code(&search, code, path);
	else if (!code_file_is_library(file))
		look_in_code(&search, code, name);
	free(module);
	free(file);
}

static void code_function_look(struct function_search *search)
{
	const struct sys_modules *modules = &search->base.modules;

	look_near(search);
	for (size_t i = 0; i < modules->count && !search->list->count; i++)
		if (strchr(search->name, '.'))
			look_in_module(search, &modules->items[i]);
	if (!search->list->count)
		look_in_all(search, false);
	if (!search->list->count)
		look_inside(search);
	if (!search->list->count)
		look_in_all(search, true);
}

void code_search_of_function(struct codes *codes, const char *name, struct code_list *list)
{
	struct function_search search = { .name = name, .list = list };
	const char *dot = strrchr(name, '.');

	search.last = dot ? dot + 1 : name;
	code_search_begin(&search.base, codes);
	pyreader_init(&search.reader, codes->memory, codes->python);
	code_function_look(&search);
	if (list->count && !list->file)
		list->file = file_of(&search, list->items[0]);
	code_search_end(&search.base);
}
