#include "backends/cpython/cpython.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "banned.h"

#include "backends/cpython/offsets.h"
#include "backends/cpython/pyobject.h"
#include "backends/linux/access-refusal.h"
#include "backends/linux/memory.h"
#include "backends/native/loaded-elf.h"
#include "base/array.h"
#include "base/error.h"

#define WORKS "CPython 3.8 to 3.14 works"
#define TRIES 5

/* Arguments and findings of the search for _PyRuntime. */
struct search {
	struct memory *memory;
	struct loaded_elf_cache *cache;
	struct loaded_elf_image image; /* image of the interpreter, once found */
	uint64_t runtime;
	bool only_named; /* true: searches only libraries whose name contains "python" */
	bool is_pypy;
	bool is_ancient; /* CPython without _PyRuntime: older than 3.7 */
};

static bool take_image(struct search *search, struct loaded_elf_image *image)
{
	uint64_t address;

	if (loaded_elf_symbol(image, search->memory, "_PyRuntime", &search->runtime) == 0) {
		search->image = *image;
		return true;
	}
	if (loaded_elf_symbol(image, search->memory, "PyCode_Type", &address) == 0)
		search->is_ancient = true;
	return false;
}

static bool cpython_take_library(struct loaded_elf_image *image, const char *name, void *data)
{
	struct search *search = data;
	const char *base = strrchr(name, '/');

	base = base ? base + 1 : name;
	if (strstr(base, "pypy"))
		search->is_pypy = true;
	if (search->only_named && !strstr(base, "python"))
		return true;
	return !take_image(search, image);
}

static void search_libraries(struct search *search, struct loaded_elf_image *program)
{
	search->only_named = true;
	loaded_elf_each_library(program, search->memory, cpython_take_library, search);
	if (search->runtime || search->is_pypy)
		return;
	search->only_named = false;
	loaded_elf_each_library(program, search->memory, cpython_take_library, search);
}

/* Records why a file could not be opened; a missing or forbidden file is no failure. */
static void note_failure(struct search *search, int number)
{
	if (number != ENOENT && number != EACCES && number != EPERM)
		memory_note_failure(search->memory, number);
}

/*
 * Finds _PyRuntime by the section .PyRuntime (3.10 and later), which a program has even if it
 * exports no symbols.
 */
static void search_section(struct search *search, const struct loaded_elf_image *program)
{
	char path[32];
	uint64_t address;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)memory_pid(search->memory));
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		note_failure(search, errno);
		return;
	}
	if (loaded_elf_file_section(fd, ".PyRuntime", &address) == 0) {
		search->image = *program;
		search->runtime = program->bias + address;
	}
	close(fd);
}

/* For a process whose link map cannot be read: tries the mapped files named python. */
static void search_mappings(struct search *search)
{
	char line[4096];

	snprintf(line, sizeof(line), "/proc/%d/maps", (int)memory_pid(search->memory));
	FILE *file = fopen(line, "re");
	if (!file) {
		note_failure(search, errno);
		return;
	}
	while (!search->runtime && fgets(line, sizeof(line), file)) {
		struct loaded_elf_image image;
		uint64_t start;
		uint64_t offset;
		const char *base = strrchr(line, '/');
		if (!base || !strstr(base, "python") ||
		    sscanf(line, "%" SCNx64 "-%*x %*s %" SCNx64, &start, &offset) != 2 ||
		    offset != 0)
			continue;
		if (loaded_elf_mapped(&image, search->memory, start) == 0)
			take_image(search, &image);
	}
	fclose(file);
}

static bool is_pypy_program(pid_t pid)
{
	char path[32];
	char target[1024];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	ssize_t got = readlink(path, target, sizeof(target) - 1);
	target[got > 0 ? got : 0] = '\0';
	const char *base = strrchr(target, '/');
	return base && strstr(base, "pypy");
}

static int cpython_explain_missing(const struct search *search, struct error *error)
{
	char name[64];
	pid_t pid = memory_pid(search->memory);

	access_refusal_name(pid, name, sizeof(name));
	if (search->is_pypy || is_pypy_program(pid))
		return error_set(error, "pid %d (%s) runs PyPy, which probetui cannot read; " WORKS,
				 (int)pid, name);
	if (search->is_ancient)
		return error_set(error,
				 "pid %d (%s) runs a CPython older than 3.7, which probetui cannot "
				 "read; " WORKS,
				 (int)pid, name);
	return error_set(error, "pid %d (%s) is not Python", (int)pid, name);
}

static int find_runtime(struct search *search, struct error *error)
{
	struct loaded_elf_image program;
	uint8_t byte;
	pid_t pid = memory_pid(search->memory);

	if (loaded_elf_program(&program, search->memory, search->cache) < 0)
		return access_refusal_explain(pid, errno, error);
	if (take_image(search, &program))
		return 0;
	search_libraries(search, &program);
	if (!search->runtime && !search->is_pypy)
		search_section(search, &program);
	if (!search->runtime && !search->is_pypy)
		search_mappings(search);
	/* The section was found in the file: check that the process's memory can be read, too. */
	if (search->runtime && memory_read_u8(search->memory, search->runtime, &byte) < 0)
		return access_refusal_explain(pid, errno, error);
	return search->runtime ? 0 : cpython_explain_missing(search, error);
}

/* For versions before 3.11, which lack Py_Version: each minor version brought a new symbol. */
static int minor_by_symbols(struct search *search)
{
	static const struct {
		int minor;
		const char *symbol;
	} rows[] = {
		{ 10, "Py_NewRef" },
		{ 9, "PyObject_CallNoArgs" },
		{ 8, "PyCode_NewWithPosOnlyArgs" },
		{ 7, "_PyRuntime" },
	};
	uint64_t address;

	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++)
		if (loaded_elf_symbol(&search->image, search->memory, rows[i].symbol, &address) ==
		    0)
			return rows[i].minor;
	return 0;
}

static int cpython_find_version(struct cpython *python, struct search *search)
{
	uint64_t address;

	if (loaded_elf_symbol(&search->image, search->memory, "Py_Version", &address) == 0 &&
	    memory_read_u32(search->memory, address, &python->version) == 0) {
		python->minor = python->version >> 16 & 0xff;
		return python->version >> 24 == 3 ? 0 : -1;
	}
	python->minor = minor_by_symbols(search);
	python->version = 0x03000000u | (uint32_t)python->minor << 16;
	return python->minor ? 0 : -1;
}

/* _Py_DebugOffsets begins with a cookie, the version, and the free-threaded flag. */
static int read_own_offsets(struct cpython *python, struct memory *memory, struct error *error)
{
	uint64_t head[3];
	pid_t pid = memory_pid(memory);

	if (python->minor < 13)
		return 0;
	if (memory_read(memory, python->runtime, head, sizeof(head)) < 0)
		return access_refusal_explain(pid, errno, error);
	if (head[2] != 0)
		return error_set(error,
				 "pid %d runs a free-threaded CPython 3.%d, which probetui cannot "
				 "read; builds with a GIL, 3.8 to 3.14, work",
				 (int)pid, python->minor);
	if (offsets_override(&python->offsets, python->minor, memory, python->runtime) < 0)
		return error_set(
			error,
			"pid %d runs CPython 3.%d with invalid debug offsets, so its stacks cannot "
			"be read; the process may still be starting: try again",
			(int)pid, python->minor);
	return 0;
}

/* The links runtime -> interpreter -> thread -> interpreter must agree. */
static bool cpython_is_valid(const struct cpython *python, struct memory *memory)
{
	const struct offsets *offsets = &python->offsets;
	uint64_t interpreter;
	uint64_t thread;
	uint64_t back;

	return memory_read_u64(memory, python->runtime + (uint64_t)offsets->rt_interp_head,
			       &interpreter) == 0 &&
	       interpreter &&
	       memory_read_u64(memory, interpreter + (uint64_t)offsets->is_tstate_head, &thread) ==
		       0 &&
	       thread &&
	       memory_read_u64(memory, thread + (uint64_t)offsets->ts_interp, &back) == 0 &&
	       back == interpreter;
}

static int validate(const struct cpython *python, struct memory *memory, struct error *error)
{
	/* A list that changes during a read looks broken once, not TRIES times. */
	for (int i = 0; i < TRIES; i++) {
		if (cpython_is_valid(python, memory))
			return 0;
		memory_begin(memory, false);
	}
	return error_set(error,
			 "pid %d runs CPython 3.%d, but no Python thread was found; the process "
			 "may be exiting, or starting: try again",
			 (int)memory_pid(memory), python->minor);
}

/* Before 3.11 only sys.hexversion holds the patch number. */
static void find_patch(struct cpython *python, struct memory *memory)
{
	struct pyreader reader;
	uint64_t interpreter;
	uint64_t object;
	int64_t value;

	pyreader_init(&reader, memory, python);
	if (memory_read_u64(memory, python->runtime + (uint64_t)python->offsets.rt_interp_head,
			    &interpreter) == 0 &&
	    pymodule_find(&reader, interpreter, "sys", "hexversion", &object) == 0 &&
	    pyobject_integer(&reader, object, &value) == 0 && value >> 16 == python->version >> 16)
		python->version = (uint32_t)value;
}

static void write_version(struct cpython *python)
{
	unsigned patch = python->version >> 8 & 0xff;

	if (python->version & 0xffff)
		snprintf(python->version_text, sizeof(python->version_text), "3.%d.%u",
			 python->minor, patch);
	else
		snprintf(python->version_text, sizeof(python->version_text), "3.%d", python->minor);
}

static int locate(struct cpython *python, struct memory *memory, struct loaded_elf_cache *cache,
		  struct error *error)
{
	struct search search = { .memory = memory, .cache = cache };

	if (find_runtime(&search, error) < 0)
		return -1;
	python->runtime = search.runtime;
	if (cpython_find_version(python, &search) < 0)
		return error_set(error, "pid %d runs a CPython of unknown version; " WORKS,
				 (int)memory_pid(memory));
	const struct offsets *offsets = offsets_find(python->minor);
	if (!offsets)
		return error_set(error,
				 "pid %d runs CPython 3.%d, which probetui cannot read; " WORKS,
				 (int)memory_pid(memory), python->minor);
	python->offsets = *offsets;
	if (read_own_offsets(python, memory, error) < 0 || validate(python, memory, error) < 0)
		return -1;
	loaded_elf_symbol(&search.image, memory, "PyCode_Type", &python->code_type);
	loaded_elf_symbol(&search.image, memory, "_Py_HashSecret", &python->hash_secret);
	loaded_elf_symbol(&search.image, memory, "PyEval_EvalCode", &python->eval_code);
	if (python->minor < 11)
		find_patch(python, memory);
	write_version(python);
	return 0;
}

/*
 * A failed read of memory is the error in every case: an interpreter that was found nevertheless
 * may be the wrong one, and if none was found, the failed read is the cause.
 */
int cpython_locate(struct cpython *python, struct memory *memory, struct loaded_elf_cache *cache,
		   struct error *error)
{
	struct error found = ERROR_INIT;
	int failure;
	int result;

	*python = (struct cpython){ .minor = 0 };
	memory_begin(memory, false);
	memory_take_failure(memory);
	result = locate(python, memory, cache, &found);
	failure = memory_take_failure(memory);
	if (failure)
		return access_refusal_explain(memory_pid(memory), failure, error);
	if (result < 0)
		return error_set(error, "%s", found.message);
	return 0;
}
