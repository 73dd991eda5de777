#include "backends/inject/staging-dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/fsuid.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "banned.h"

#include "backends/linux/procfs.h"
#include "backends/linux/root-file.h"
#include "backends/linux/task.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"

#define FILE_MAXIMUM (1 << 20)
#define PACKAGE_MAXIMUM (8 << 20)
#define ANSWER_MAXIMUM 8192
#define DEPTH_MAXIMUM 2 /* maximum depth of sub-packages */
#define PACKAGE "package"
#define SCRIPT "injected.py" /* file of the package; START contains its text */
#define START "start.py"

static const char *const places[] = { "/tmp", "/var/tmp", "/dev/shm" };
/* All files of the folder; the last two are written by the process. */
static const char *const files[] = { START, PACKAGE, "answer", "answer.new" };

struct staging_dir {
	pid_t pid;
	double seconds;
	int place;  /* descriptor of the parent folder, one of places[] */
	int folder; /* descriptor of the folder; -1: not made */
	char name[32];
	char start[96]; /* path of START as the process sees it */
	uid_t user;	/* all file accesses have the rights of this user and group */
	gid_t group;
};

/*
 * Rights: the process may have any mounts in its mount namespace. Such mounts must not make the
 * node, which may be root, access files that the process's user may not access.
 */

struct rights {
	gid_t group;
	gid_t others[NGROUPS_MAX];
	int other_count; /* number of supplementary groups; -1: the rights were not changed */
};

/*
 * Takes the rights of the process's user and group, if the node is root. setfsuid(2), setfsgid(2)
 * and the system call setgroups(2) affect only this thread; glibc's setgroups() would change all
 * threads.
 */
static void take_rights(const struct staging_dir *dir, struct rights *rights)
{
	rights->other_count = -1;
	if (geteuid() != 0 || (dir->user == 0 && dir->group == 0))
		return;
	rights->other_count = getgroups(NGROUPS_MAX, rights->others);
	rights->group = getegid();
	syscall(SYS_setgroups, 0, NULL);
	setfsgid(dir->group);
	setfsuid(dir->user);
}

static void give_back_rights(const struct rights *rights)
{
	int number = errno;

	if (rights->other_count >= 0) {
		setfsuid(geteuid());
		setfsgid(rights->group);
		syscall(SYS_setgroups, rights->other_count, rights->others);
	}
	errno = number;
}

/*
 * Opens a file in the folder; fails rather than cross a mount, follow a link or leave the folder.
 */
static int open_in(int folder, const char *name, int flags, mode_t mode)
{
	struct open_how how = {
		.flags = (uint64_t)flags | O_CLOEXEC | O_NOFOLLOW,
		.mode = mode,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV,
	};

	return (int)syscall(SYS_openat2, folder, name, &how, sizeof(how));
}

/* Removing the folder */

void staging_dir_free(struct staging_dir *dir)
{
	struct rights rights;

	if (!dir)
		return;
	take_rights(dir, &rights);
	if (dir->folder >= 0) {
		for (size_t i = 0; i < ARRAY_LENGTH(files); i++)
			unlinkat(dir->folder, files[i], 0);
		unlinkat(dir->place, dir->name, AT_REMOVEDIR);
		close(dir->folder);
	}
	give_back_rights(&rights);
	if (dir->place >= 0)
		close(dir->place);
	free(dir);
}

/* The package in one file: for each module a line "NAME SIZE", then the bytes of the module */

static bool staging_dir_is_module(const char *name)
{
	size_t length = strlen(name);

	return length > 3 && strcmp(name + length - 3, ".py") == 0;
}

static int append_module(struct buffer *out, const char *folder, const char *inner,
			 const char *name, struct error *error)
{
	struct buffer content = BUFFER_INIT;
	char *path = xasprintf("%s/%s%s", folder, inner, name);
	int result;

	content.maximum = FILE_MAXIMUM;
	result = file_read(path, "the Python package", &content, error);
	if (result == 0) {
		buffer_printf(out, "%s%s %zu\n", inner, name, content.length);
		buffer_append(out, content.data, content.length);
	}
	buffer_clear(&content);
	free(path);
	return result;
}

static int append_modules(struct buffer *out, const char *folder, const char *inner, int depth,
			  struct error *error);

/* Appends a sub-package; a folder without __init__.py is skipped. */
static int append_folder(struct buffer *out, const char *folder, const char *inner,
			 const char *name, int depth, struct error *error)
{
	char *path = xasprintf("%s%s/", inner, name);
	char *init = xasprintf("%s/%s__init__.py", folder, path);
	int result = 0;

	if (depth > 0 && access(init, F_OK) == 0)
		result = append_modules(out, folder, path, depth - 1, error);
	free(init);
	free(path);
	return result;
}

static int append_modules(struct buffer *out, const char *folder, const char *inner, int depth,
			  struct error *error)
{
	char *path = xasprintf("%s/%s", folder, inner);
	DIR *entries = opendir(path);
	struct dirent *entry;
	int result = 0;

	free(path);
	if (!entries)
		return error_set_errno(error, errno, "the Python package at %s cannot be read",
				       folder);
	while (result == 0 && (entry = readdir(entries)) != NULL)
		if (staging_dir_is_module(entry->d_name))
			result = append_module(out, folder, inner, entry->d_name, error);
		else if (entry->d_name[0] != '.')
			result = append_folder(out, folder, inner, entry->d_name, depth, error);
	closedir(entries);
	return result;
}

/* START is one statement that contains the script, so that the process reads only one file. */

static void append_literal(struct buffer *out, const struct buffer *text)
{
	buffer_append_string(out, "b'");
	for (size_t i = 0; i < text->length; i++) {
		unsigned char byte = (unsigned char)text->data[i];
		if (byte < ' ' || byte > '~' || byte == '\'' || byte == '\\')
			buffer_printf(out, "\\x%02x", byte);
		else
			buffer_append(out, &text->data[i], 1);
	}
	buffer_append_string(out, "'");
}

static int make_start(const struct staging_dir *dir, const char *package, struct buffer *out,
		      struct error *error)
{
	struct buffer script = BUFFER_INIT;
	char *path = xasprintf("%s/" SCRIPT, package);
	int result;

	script.maximum = FILE_MAXIMUM;
	result = file_read(path, "the Python package", &script, error);
	buffer_append_string(out, "exec(compile(");
	append_literal(out, &script);
	buffer_printf(out,
		      ", '%s', 'exec'), {'__name__': '__probetui__', '__file__': '%s', 'PROCESS': "
		      "%d, 'SECONDS': %.3f})\n",
		      dir->start, dir->start, (int)task_inner(dir->pid), dir->seconds);
	buffer_clear(&script);
	free(path);
	return result;
}

/*
 * Making the folder
 */

static void staging_dir_make_name(struct staging_dir *dir, const char *place)
{
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), 0) < 0)
		number = (uint64_t)getpid();
	snprintf(dir->name, sizeof(dir->name), "probetui-%016llx", (unsigned long long)number);
	snprintf(dir->start, sizeof(dir->start), "%s/%s/" START, place, dir->name);
}

static int staging_dir_make_folder(int parent, const char *name)
{
	int folder;

	if (mkdirat(parent, name, 0700) < 0)
		return -1;
	folder = open_in(parent, name, O_RDONLY | O_DIRECTORY, 0);
	if (folder < 0)
		unlinkat(parent, name, AT_REMOVEDIR);
	return folder;
}

static int make_in(struct staging_dir *dir, const char *place)
{
	struct rights rights;
	int found = root_file_find(dir->pid, "root", place);

	if (found < 0)
		return -1;
	staging_dir_make_name(dir, place);
	take_rights(dir, &rights);
	dir->folder = staging_dir_make_folder(found, dir->name);
	give_back_rights(&rights);
	if (dir->folder < 0) {
		int number = errno;
		close(found);
		errno = number;
		return -1;
	}
	dir->place = found;
	return 0;
}

static int staging_dir_write_file(const struct staging_dir *dir, const char *name,
				  const struct buffer *content, struct error *error)
{
	struct rights rights;
	int result = -1;
	int fd;

	take_rights(dir, &rights);
	fd = open_in(dir->folder, name, O_WRONLY | O_CREAT | O_EXCL, 0600);
	give_back_rights(&rights);
	if (fd >= 0) {
		result = file_write(fd, content->data, content->length);
		close(fd);
	}
	if (result == 0)
		return 0;
	return error_set_errno(error, errno, "%s cannot be written where the process can read it",
			       name);
}

int staging_dir_write_script(struct staging_dir *dir, const char *package, struct error *error)
{
	struct buffer start = BUFFER_INIT;
	int result = make_start(dir, package, &start, error);

	if (result == 0)
		result = staging_dir_write_file(dir, START, &start, error);
	buffer_clear(&start);
	return result;
}

static int staging_dir_fill(struct staging_dir *dir, const char *package, struct error *error)
{
	struct buffer content = BUFFER_INIT;
	int result;

	content.maximum = PACKAGE_MAXIMUM;
	result = append_modules(&content, package, "", DEPTH_MAXIMUM, error);
	if (result == 0)
		result = staging_dir_write_file(dir, PACKAGE, &content, error);
	if (result == 0)
		result = staging_dir_write_script(dir, package, error);
	buffer_clear(&content);
	return result;
}

/* Reads the file system id: the last of the four ids in a line Uid or Gid of /proc/PID/status. */
static bool find_id(const char *status, const char *key, unsigned *id)
{
	const char *line = procfs_status_line(status, key);

	return line && sscanf(line, "%*u %*u %*u %u", id) == 1;
}

/*
 * Sets the user and group of the process from its status, not from the owner of /proc/PID, which is
 * root if the process is not dumpable.
 */
static int staging_dir_find_user(struct staging_dir *dir, struct error *error)
{
	struct buffer status = BUFFER_INIT;
	char path[32];
	unsigned user;
	unsigned group;
	int result;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)dir->pid);
	result = file_read(path, "the process's user", &status, error);
	if (result == 0 &&
	    (!find_id(status.data, "Uid", &user) || !find_id(status.data, "Gid", &group)))
		result = error_set(error, "pid %d: the user is unknown", (int)dir->pid);
	if (result == 0) {
		dir->user = user;
		dir->group = group;
	}
	buffer_clear(&status);
	return result;
}

static void staging_dir_refuse(const struct staging_dir *dir, struct error *error)
{
	if (geteuid() != 0 && dir->user != geteuid())
		error_set(error,
			  "process %d belongs to user %u, but probetui runs as user %u: run sudo "
			  "probetui inject %d",
			  (int)dir->pid, (unsigned)dir->user, (unsigned)geteuid(), (int)dir->pid);
	else
		error_set_errno(error, errno,
				"pid %d: no folder was found that its user can write to",
				(int)dir->pid);
}

struct staging_dir *staging_dir_new(pid_t pid, const char *package, double seconds,
				    struct error *error)
{
	struct staging_dir *dir = xcalloc(1, sizeof(*dir));
	int result;

	dir->pid = pid;
	dir->seconds = seconds;
	dir->place = -1;
	dir->folder = -1;
	result = staging_dir_find_user(dir, error);
	for (size_t i = 0; result == 0 && dir->folder < 0 && i < ARRAY_LENGTH(places); i++)
		make_in(dir, places[i]);
	if (result == 0 && dir->folder < 0)
		staging_dir_refuse(dir, error);
	else if (result == 0 && staging_dir_fill(dir, package, error) == 0)
		return dir;
	staging_dir_free(dir);
	return NULL;
}

const char *staging_dir_script(const struct staging_dir *dir)
{
	return dir->start;
}

int staging_dir_read(const struct staging_dir *dir, const char *name, struct buffer *out)
{
	char bytes[ANSWER_MAXIMUM];
	struct rights rights;
	struct stat status;
	ssize_t got = -1;
	int fd;

	take_rights(dir, &rights);
	fd = open_in(dir->folder, name, O_RDONLY | O_NONBLOCK, 0);
	give_back_rights(&rights);
	if (fd < 0)
		return -1;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		got = read(fd, bytes, sizeof(bytes));
	close(fd);
	if (got < 0)
		return -1;
	buffer_append(out, bytes, (size_t)got);
	return 0;
}

void staging_dir_remove(const struct staging_dir *dir, const char *name)
{
	struct rights rights;

	take_rights(dir, &rights);
	unlinkat(dir->folder, name, 0);
	give_back_rights(&rights);
}
