#include "backends/ptrace/asynciosection.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "backends/ptrace/elf.h"
#include "backends/ptrace/memory.h"
#include "banned.h"
#include "base/array.h"

#define SECTION ".AsyncioDebug"
#define TASK_MAXIMUM 4096
#define STATE_MAXIMUM (16 << 20)

/* The first page of a file that is mapped. */
struct mapped {
	uint64_t start, end;
	unsigned major, minor;
	uint64_t inode;
	const char *path;
};

static bool is_file(int fd, const struct mapped *mapped)
{
	struct stat status;

	return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	       status.st_ino == mapped->inode &&
	       major(status.st_dev) == mapped->major &&
	       minor(status.st_dev) == mapped->minor;
}

/* A path as the process itself sees it, in its own root. */
static int open_in_root(pid_t pid, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	char root[32];
	int folder, fd;

	snprintf(root, sizeof(root), "/proc/%d/root", (int)pid);
	folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
	close(folder);
	return fd;
}

/* The very file that is mapped, or -1. */
static int open_mapped(pid_t pid, const struct mapped *mapped)
{
	char path[80];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		 (int)pid, mapped->start, mapped->end);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fd = open_in_root(pid, mapped->path);
	if (fd >= 0 && !is_file(fd, mapped)) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool make_sense(const struct asynciosection *is)
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
	    is->interpreter_size > STATE_MAXIMUM ||
	    is->interpreter_tasks >= is->interpreter_size)
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(in_task); i++)
		if (in_task[i] >= is->task_size)
			return false;
	for (size_t i = 0; i < ARRAY_LENGTH(in_thread); i++)
		if (in_thread[i] >= is->thread_size)
			return false;
	return true;
}

static int read_file(struct asynciosection *section, struct memory *memory,
		     const struct mapped *mapped)
{
	int fd = open_mapped(memory_pid(memory), mapped);
	struct elf_image image;
	uint64_t address;
	int result;

	if (fd < 0)
		return -1;
	result = elf_file_section(fd, SECTION, &address);
	close(fd);
	if (result < 0 || elf_mapped(&image, memory, mapped->start) < 0 ||
	    memory_fetch(memory, image.bias + address, section,
			 sizeof(*section)) < 0)
		return -1;
	return make_sense(section) ? 0 : -1;
}

/* In a file of its own, or built into the interpreter. */
int asynciosection_read(struct asynciosection *section, struct memory *memory)
{
	static const char *const names[] = { "_asyncio", "python" };
	char line[4096];
	int result = -1;
	FILE *file;

	snprintf(line, sizeof(line), "/proc/%d/maps", (int)memory_pid(memory));
	file = fopen(line, "re");
	if (!file)
		return -1;
	for (size_t i = 0; i < ARRAY_LENGTH(names) && result < 0; i++) {
		rewind(file);
		while (result < 0 && fgets(line, sizeof(line), file)) {
			struct mapped mapped;
			uint64_t offset;
			char *base = strrchr(line, '/');

			line[strcspn(line, "\n")] = '\0';
			if (!base || !strstr(base, names[i]) ||
			    sscanf(line,
				   "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64
				   " %x:%x %" SCNu64,
				   &mapped.start, &mapped.end, &offset,
				   &mapped.major, &mapped.minor,
				   &mapped.inode) != 6 ||
			    offset != 0)
				continue;
			mapped.path = strchr(line, '/');
			result = read_file(section, memory, &mapped);
		}
	}
	fclose(file);
	return result;
}
