#include "base/file.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"

int file_write(int fd, const char *bytes, size_t length)
{
	struct pollfd room = { .fd = fd, .events = POLLOUT };

	while (length > 0) {
		ssize_t written = write(fd, bytes, length);

		if (written < 0 && errno == EINTR)
			continue;
		/* Another process that shares the file description may have set O_NONBLOCK. */
		if (written < 0 && errno == EAGAIN) {
			poll(&room, 1, -1);
			continue;
		}
		if (written < 0)
			return -1;
		bytes += written;
		length -= (size_t)written;
	}
	return 0;
}

char *file_program_folder(void)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (length <= 0)
		return NULL;
	path[length] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	return xstrdup(path);
}

char *file_config_path(const char *name)
{
	const char *folder = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");

	/* The XDG specification declares relative paths invalid. */
	if (folder && folder[0] == '/')
		return xasprintf("%s/probetui/%s", folder, name);
	if (home && home[0] == '/')
		return xasprintf("%s/.config/probetui/%s", home, name);
	return NULL;
}

/* Makes path and its missing parent folders with mode 0700, as the XDG specification demands. */
static void make_folders(char *path)
{
	for (char *at = path + 1; *at != '\0'; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	mkdir(path, 0700);
}

/*
 * Returns the path of probetui/name in the folder that the environment variable names, else in
 * $HOME/below_home; NULL: neither variable is an absolute path. The caller frees the path.
 */
static char *kept_path(const char *variable, const char *below_home, const char *name)
{
	const char *folder = getenv(variable);
	const char *home = getenv("HOME");
	const char *slash = name[0] != '\0' ? "/" : "";

	if (folder && folder[0] == '/')
		return xasprintf("%s/probetui%s%s", folder, slash, name);
	if (home && home[0] == '/')
		return xasprintf("%s/%s/probetui%s%s", home, below_home, slash, name);
	return NULL;
}

static int check_folder(const char *path, struct error *error)
{
	struct stat about;

	if (lstat(path, &about) < 0)
		return error_set_errno(error, errno, "cannot open the folder %s", path);
	if (!S_ISDIR(about.st_mode))
		return error_set(error, "%s is not a folder", path);
	if (about.st_uid != geteuid())
		return error_set(error, "the folder %s belongs to another user", path);
	if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0 && chmod(path, 0700) < 0)
		return error_set_errno(error, errno, "cannot restrict the folder %s to its owner",
				       path);
	return 0;
}

char *file_state_folder(const char *name, struct error *error)
{
	char *path = kept_path("XDG_STATE_HOME", ".local/state", name);

	if (!path) {
		error_set(error,
			  "no state folder: neither XDG_STATE_HOME nor HOME is an absolute path");
		return NULL;
	}
	make_folders(path);
	if (check_folder(path, error) == 0)
		return path;
	free(path);
	return NULL;
}

/* True if the user owns path or, if path is missing, its nearest existing ancestor. */
static bool begins_in_own(const char *path)
{
	char *at = xstrdup(path);
	struct stat about = { .st_uid = (uid_t)-1 };
	char *slash;

	while (stat(at, &about) < 0 && (slash = strrchr(at, '/')) && slash != at)
		*slash = '\0';
	free(at);
	return S_ISDIR(about.st_mode) && about.st_uid == geteuid();
}

int file_cache_folder(const char *name)
{
	char *path = kept_path("XDG_CACHE_HOME", ".cache", name);
	struct error error = ERROR_INIT;
	int fd = -1;

	if (path && begins_in_own(path)) {
		make_folders(path);
		if (check_folder(path, &error) == 0)
			fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	}
	free(path);
	return fd;
}

static int file_check_owner(const struct stat *status, const char *path, const char *called,
			    struct error *error)
{
	if (status->st_uid != geteuid() && status->st_uid != 0)
		return error_set(error, "%s %s belongs to another user and was not read", called,
				 path);
	if (status->st_mode & (S_IWGRP | S_IWOTH))
		return error_set(error,
				 "%s %s was not read, as other users can write to the file: run "
				 "chmod go-w on the file",
				 called, path);
	return 0;
}

static int file_read_all(int fd, const char *path, const char *called, struct buffer *out,
			 struct error *error)
{
	char bytes[4096];

	for (;;) {
		ssize_t count = read(fd, bytes, sizeof(bytes));

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return error_set_errno(error, errno, "cannot read %s", path);
		if (count == 0)
			return 0;
		if (buffer_append(out, bytes, (size_t)count) < 0)
			return error_set(error, "%s %s is too long", called, path);
	}
}

static int file_check(int fd, const char *path, const char *called, bool is_own,
		      struct error *error)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return error_set_errno(error, errno, "cannot stat %s", path);
	if (!S_ISREG(status.st_mode))
		return error_set(error, "%s %s is not a regular file", called, path);
	return is_own ? file_check_owner(&status, path, called, error) : 0;
}

static int read_path(const char *path, const char *called, bool is_own, struct buffer *out,
		     struct error *error)
{
	/* Without O_NONBLOCK, opening a FIFO would block. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int result;

	if (fd < 0) {
		int number = errno;

		error_set_errno(error, number, "cannot open %s %s", called, path);
		errno = number;
		return -1;
	}
	result = file_check(fd, path, called, is_own, error);
	if (result == 0)
		result = file_read_all(fd, path, called, out, error);
	close(fd);
	errno = 0;
	return result;
}

int file_read(const char *path, const char *called, struct buffer *out, struct error *error)
{
	return read_path(path, called, false, out, error);
}

int file_read_own(const char *path, const char *called, struct buffer *out, struct error *error)
{
	return read_path(path, called, true, out, error);
}

/* Prefers the agent folder beside the program (a build tree) to the installed folder. */
char *file_agent_folder(struct error *error)
{
	char *program = file_program_folder();
	char *beside = program ? xasprintf("%s/agent", program) : NULL;
	char *path = beside ? realpath(beside, NULL) : NULL;
	char *package = path ? xasprintf("%s/probetui/__init__.py", path) : NULL;

	if (!package || access(package, R_OK) < 0) {
		free(package);
		free(path);
		path = xstrdup(PROBETUI_DATADIR "/agent");
		package = xasprintf("%s/probetui/__init__.py", path);
	}
	if (access(package, R_OK) < 0) {
		error_set_errno(
			error, errno,
			"cannot read the Python package of probetui in %s (install probetui again)",
			path);
		free(path);
		path = NULL;
	}
	free(package);
	free(beside);
	free(program);
	return path;
}

void standard_open(void)
{
	int fd;

	/* open() returns the lowest free descriptor, so this fills closed standard descriptors. */
	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/*
 * Returns the path of a shared object in the running program's folder, else in libexecdir; the
 * caller frees the path.
 */
static char *plugin_find_file(const char *file)
{
	char *folder = file_program_folder();
	char *path = folder ? xasprintf("%s/%s", folder, file) : NULL;

	free(folder);
	if (path && access(path, F_OK) == 0)
		return path;
	free(path);
	return xasprintf(PROBETUI_LIBEXECDIR "/%s", file);
}

const void *plugin_open(const char *file, const char *name, const char *need, struct error *error)
{
	char *path = plugin_find_file(file);
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const void *found = handle ? dlsym(handle, name) : NULL;

	if (!found)
		error_set(error, "%s: %s", need, dlerror());
	free(path);
	return found;
}
