#include "backends/ptrace/entry-point.h"

#include <elf.h>
#include <limits.h>
#include <string.h>

#include "banned.h"
#include "backends/linux/memory.h"
#include "backends/linux/procfs.h"
#include "backends/native/loaded-elf.h"

#define FUNCTION "PyEval_EvalCode"

bool entry_point_is_python(struct procfs *procfs, pid_t pid)
{
	char path[PATH_MAX];
	const char *name;

	if (procfs_link(procfs, pid, "exe", path, sizeof(path)) < 0)
		return false;
	name = strrchr(path, '/');
	name = name ? name + 1 : path;
	return strstr(name, "python") || strstr(name, "pypy");
}

uint64_t entry_point_of_program(struct procfs *procfs, pid_t pid)
{
	Elf64_auxv_t entry;
	char *bytes;
	ssize_t length = procfs_read(procfs, pid, "auxv", &bytes, NULL);

	for (ssize_t at = 0; at + (ssize_t)sizeof(entry) <= length; at += (ssize_t)sizeof(entry)) {
		memcpy(&entry, bytes + at, sizeof(entry));
		if (entry.a_type == AT_ENTRY)
			return entry.a_un.a_val;
	}
	return 0;
}

struct search {
	struct memory *memory;
	uint64_t address;
};

static bool entry_point_look(struct loaded_elf_image *image, const char *name, void *data)
{
	struct search *search = data;

	/* Only libpython… has the function; other libraries need not be searched. */
	if (!strstr(name, "python"))
		return true;
	return loaded_elf_symbol(image, search->memory, FUNCTION, &search->address) < 0;
}

uint64_t entry_point_of_python(struct memory *memory, struct loaded_elf_cache *cache)
{
	struct search search = { .memory = memory };
	struct loaded_elf_image program;

	memory_begin(memory, false);
	if (loaded_elf_program(&program, memory, cache) < 0)
		return 0;
	if (loaded_elf_symbol(&program, memory, FUNCTION, &search.address) < 0)
		loaded_elf_each_library(&program, memory, entry_point_look, &search);
	return search.address;
}
