#include "backends/linux/root-file.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "banned.h"

static int root_file_open_folder(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int root_file_find(pid_t pid, const char *base, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int folder = root_file_open_folder(pid, base);
	int fd;

	if (folder < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
	close(folder);
	return fd;
}

int root_file_open(int found)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}
