#include "backends/inject/callees.h"

#include <stddef.h>

#include "banned.h"

#include "backends/cpython/cpython.h"
#include "backends/linux/memory.h"
#include "backends/native/loaded-elf.h"
#include "base/array.h"
#include "base/error.h"

static const struct row {
	const char *name;
	size_t member;
} rows[] = {
	{ "PyRun_SimpleString", offsetof(struct callees, run) },
	{ "Py_AddPendingCall", offsetof(struct callees, add_pending) },
	{ "PyThread_start_new_thread", offsetof(struct callees, start_thread) },
	{ "PyGILState_Ensure", offsetof(struct callees, take_gil) },
	{ "PyGILState_Release", offsetof(struct callees, leave_gil) },
};

struct search {
	struct callees *callees;
	struct memory *memory;
	uint64_t runtime;
	const char *missing; /* NULL: all found; "": no interpreter yet */
};

static void take_interpreter(struct search *search, struct loaded_elf_image *image)
{
	uint64_t runtime;

	if (loaded_elf_symbol(image, search->memory, "_PyRuntime", &runtime) < 0 ||
	    runtime != search->runtime)
		return;
	search->missing = NULL;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		if (loaded_elf_symbol(
			    image, search->memory, rows[i].name,
			    (uint64_t *)(void *)((char *)search->callees + rows[i].member)) < 0)
			search->missing = rows[i].name;
}

static bool is_c_library(const char *name)
{
	const char *base = strrchr(name, '/');

	base = base ? base + 1 : name;
	return strncmp(base, "libc.", 5) == 0 || strncmp(base, "libc-", 5) == 0 ||
	       strncmp(base, "ld-musl", 7) == 0;
}

static bool callees_take_library(struct loaded_elf_image *image, const char *name, void *data)
{
	struct search *search = data;

	if (search->missing)
		take_interpreter(search, image);
	if (!search->callees->unmap && is_c_library(name) &&
	    loaded_elf_symbol(image, search->memory, "raise", &search->callees->send) == 0)
		loaded_elf_symbol(image, search->memory, "munmap", &search->callees->unmap);
	return search->missing || !search->callees->unmap;
}

int callees_find(struct callees *callees, struct memory *memory, const struct cpython *python,
		 struct error *error)
{
	struct search search = { callees, memory, python->runtime, "" };
	struct loaded_elf_image program;

	*callees = (struct callees){ .run = 0 };
	memory_begin(memory, false);
	if (loaded_elf_program(&program, memory, NULL) == 0) {
		take_interpreter(&search, &program);
		loaded_elf_each_library(&program, memory, callees_take_library, &search);
	}
	if (!search.missing && !callees->unmap)
		search.missing = "munmap";
	if (!search.missing)
		return 0;
	return error_set(error, "Nothing can be run in pid %d: its program does not export %s.",
			 (int)memory_pid(memory),
			 search.missing[0] ? search.missing : "its functions");
}
