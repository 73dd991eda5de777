#include "backends/linux/root-file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "backends/linux/procfs.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "protocol/process.h"

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

/*
 * Writes the working directory of the process as a path below the root of the process. In /proc
 * both paths begin at the root of this program.
 */
static int folder_in_root(pid_t pid, char *out, size_t size)
{
	char root[PATH_MAX];
	char cwd[PATH_MAX];
	char path[64];
	size_t length;
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	got = readlink(path, root, sizeof(root) - 1);
	if (got <= 0)
		return -1;
	root[got] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/cwd", (int)pid);
	got = readlink(path, cwd, sizeof(cwd) - 1);
	if (got <= 0)
		return -1;
	cwd[got] = '\0';
	length = strcmp(root, "/") == 0 ? 0 : strlen(root);
	if (strncmp(cwd, root, length) != 0 || cwd[length] != '/')
		return -1;
	snprintf(out, size, "%s", cwd + length);
	return 0;
}

/*
 * Finds the file and sets *full to its path below the root of the process, to free(); NULL: the
 * path of the working directory is unknown.
 */
static int source_file_find_file(const struct process *process, const char *path, char **full)
{
	char folder[PATH_MAX];
	const char *base = "root";

	*full = NULL;
	if (path[0] == '/')
		*full = xstrdup(path);
	else if (folder_in_root(process->pid, folder, sizeof(folder)) == 0)
		*full = xasprintf("%s/%s", folder, path);
	else
		base = "cwd";
	return root_file_find(process->pid, base, *full ? *full : path);
}

/*
 * True if the file was modified after the process was started, that is after the end of the clock
 * tick of the start.
 */
static bool source_file_is_newer(const struct stat *about, uint64_t start_time)
{
	struct timespec now;
	double modified;

	clock_gettime(CLOCK_REALTIME, &now);
	modified = (double)about->st_mtim.tv_sec + (double)about->st_mtim.tv_nsec / 1e9;
	return modified >
	       (double)now.tv_sec + (double)now.tv_nsec / 1e9 - procfs_age(start_time + 1);
}

static char *read_content(int fd, size_t size, struct error *error)
{
	char *content = xmalloc(size + 1);
	size_t length = 0;

	while (length < size) {
		ssize_t got = read(fd, content + length, size - length);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			error_set_errno(error, errno, "cannot read the file");
			free(content);
			return NULL;
		}
		if (got == 0)
			break;
		length += (size_t)got;
	}
	/* A NUL within the file ends the text: source code has none. */
	content[length] = '\0';
	return content;
}

static void read_found(struct source_file *source, const struct process *process, int found,
		       const struct stat *about, const char *path, struct error *error)
{
	int fd = root_file_open(found);

	if (fd < 0) {
		error_set_errno(error, errno, "cannot open %s in the file system of process %d",
				path, (int)process->pid);
		return;
	}
	source->device = about->st_dev;
	source->inode = about->st_ino;
	source->is_changed = source_file_is_newer(about, process->start_time);
	source->content = read_content(fd, (size_t)about->st_size, error);
	close(fd);
}

int source_file_read(struct source_file *source, const struct process *process, const char *path,
		     struct error *error)
{
	struct stat about;
	int fd;

	*source = (struct source_file){ .content = NULL };
	if (path[0] == '<' || path[0] == '\0')
		return error_set(error, "no source (%s)", path[0] ? path : "no name");
	fd = source_file_find_file(process, path, &source->full);
	if (fd < 0)
		return error_set_errno(error, errno,
				       "cannot open %s in the file system of process %d", path,
				       (int)process->pid);
	if (fstat(fd, &about) < 0 || !S_ISREG(about.st_mode)) {
		error_set(error, "%s is not a regular file", path);
	} else if (about.st_size > SOURCE_FILE_MAXIMUM) {
		error_set(error, "%s is larger than 16 MB, which is too large for source", path);
	} else {
		read_found(source, process, fd, &about, path, error);
	}
	close(fd);
	return source->content ? 0 : -1;
}

int source_file_open_folder(const struct process *process, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder;
	int fd;

	if (path[0] != '/' || slash == path)
		return -1;
	folder = xstrndup(path, (size_t)(slash - path));
	fd = root_file_find(process->pid, "root", folder);
	free(folder);
	return fd;
}

char *source_file_read_below(int folder, const char *name, size_t maximum, double *written,
			     struct error *error)
{
	int found = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char *content = NULL;
	struct stat about;
	int number = 0;
	int fd = -1;

	if (found < 0) {
		number = errno;
		error_set_errno(error, number, "cannot open %s", name);
	} else if (fstat(found, &about) < 0 || !S_ISREG(about.st_mode)) {
		number = EINVAL;
		error_set(error, "%s is not a regular file", name);
	} else if ((uint64_t)about.st_size > maximum) {
		number = EFBIG;
		error_set(error, "%s is larger than %zu KB", name, maximum >> 10);
	} else if ((fd = root_file_open(found)) < 0) {
		number = errno;
		error_set_errno(error, number, "cannot open %s", name);
	} else {
		content = read_content(fd, (size_t)about.st_size, error);
		number = errno;
	}
	if (content)
		*written = (double)about.st_mtim.tv_sec + (double)about.st_mtim.tv_nsec / 1e9;
	if (fd >= 0)
		close(fd);
	if (found >= 0)
		close(found);
	errno = number;
	return content;
}
