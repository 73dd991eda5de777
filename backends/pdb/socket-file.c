#include "backends/pdb/socket-file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "protocol/rankset.h"

#define WORD "pdb"
#define PREFIX "pdb.sock."
#define FOLDER "pdb-"
#define SUFFIX ".sock"
/* A folder can change again within one tick of its file system's clock. */
#define SETTLED_SECONDS 1
#define ENTRIES_MAXIMUM 65536

static const char *socket_file_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Parses a text of digits, at most maximum; -1: anything else. */
static int socket_file_parse_number(const char *text, size_t length, long maximum)
{
	long number = 0;

	if (length == 0 || length > 10)
		return -1;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		number = number * 10 + (text[i] - '0');
	}
	return number <= maximum ? (int)number : -1;
}

/* True if the file's folder is named pdb-UID. */
static bool has_folder(const char *path)
{
	const char *end = socket_file_last_part(path);
	const char *at = end;
	size_t length;

	if (end == path)
		return false;
	for (at = --end; at > path && at[-1] != '/'; at--)
		;
	length = (size_t)(end - at);
	return length > strlen(FOLDER) && strncmp(at, FOLDER, strlen(FOLDER)) == 0 &&
	       socket_file_parse_number(at + strlen(FOLDER), length - strlen(FOLDER), INT_MAX) >= 0;
}

static bool has_suffix(const char *name)
{
	size_t length = strlen(name);

	return length > strlen(SUFFIX) && strcmp(name + length - strlen(SUFFIX), SUFFIX) == 0;
}

bool socket_file_is_debugger(const char *path)
{
	const char *name = socket_file_last_part(path);

	return strstr(name, WORD) || (has_suffix(name) && has_folder(path));
}

/* Parses a pid; 0: none. */
static pid_t socket_file_parse_pid(const char *text, size_t length)
{
	int pid = socket_file_parse_number(text, length, INT_MAX);

	return pid > 0 ? pid : 0;
}

/* Parses "RANK" or "RANK.PID", or py_debug's "PID-HEX.RANK". */
static void socket_file_read_numbers(struct socket_name *name, const char *text, size_t length)
{
	const char *dot = memchr(text, '.', length);
	const char *dash = memchr(text, '-', length);
	const char *rest = dot ? dot + 1 : text;
	size_t rest_length = length - (size_t)(rest - text);

	if (dot && (!dash || dash > dot)) {
		name->pid = socket_file_parse_pid(rest, rest_length);
		rest = text;
		rest_length = (size_t)(dot - text);
	} else if (dot) {
		name->pid = socket_file_parse_pid(text, (size_t)(dash - text));
		name->is_relay = name->pid > 0;
	}
	name->rank = socket_file_parse_number(rest, rest_length, RANKSET_MAXIMUM);
}

void socket_file_read_name(struct socket_name *name, const char *path)
{
	const char *last = socket_file_last_part(path);
	size_t length = strlen(last);

	*name = (struct socket_name){
		.rank = -1,
		.has_folder = has_folder(path),
	};
	if (strncmp(last, PREFIX, strlen(PREFIX)) == 0)
		socket_file_read_numbers(name, last + strlen(PREFIX), length - strlen(PREFIX));
	else if (name->has_folder && has_suffix(last))
		socket_file_read_numbers(name, last, length - strlen(SUFFIX));
}

/* Root is always allowed. */
static bool may_be_of(uid_t owner, uid_t uid)
{
	return owner == uid || owner == 0;
}

char *socket_file_distrust_folder(const char *path, const char *shown, uid_t uid)
{
	char folder[PATH_MAX];
	struct stat about;

	snprintf(folder, sizeof(folder), "%.*s", (int)(socket_file_last_part(path) - path - 1),
		 path);
	if (lstat(folder, &about) < 0)
		return xasprintf("The folder of %s cannot be looked at: %s.", shown,
				 strerror(errno));
	if (!S_ISDIR(about.st_mode))
		return xasprintf("The folder of %s is a symbolic link, which anybody may have put "
				 "there: it is left alone.",
				 shown);
	if (!may_be_of(about.st_uid, uid))
		return xasprintf("The folder of %s is user %u's, not user %u's, whose process it "
				 "is: it is left alone.",
				 shown, about.st_uid, uid);
	if (about.st_mode & (S_IRWXG | S_IRWXO))
		return xasprintf("The folder of %s is open to others (mode %04o): it is left "
				 "alone. chmod 0700 makes it safe.",
				 shown, about.st_mode & 07777);
	return NULL;
}

static char *socket_file_explain_missing(const char *shown, int number)
{
	if (number == ENOENT)
		return xasprintf("The file of its socket, %s, was taken away: no client can "
				 "connect to it any more.",
				 shown);
	return xasprintf("%s cannot be looked at: %s.", shown, strerror(number));
}

char *socket_file_distrust(const char *path, const char *shown, uid_t uid)
{
	struct stat about;

	if (lstat(path, &about) < 0)
		return socket_file_explain_missing(shown, errno);
	if (S_ISLNK(about.st_mode))
		return xasprintf("%s is a symbolic link, which anybody may have put there: it is "
				 "left alone.",
				 shown);
	if (!S_ISSOCK(about.st_mode))
		return xasprintf("%s is no socket: it is left alone.", shown);
	if (!may_be_of(about.st_uid, uid))
		return xasprintf("%s was put there by user %u, but the process is user %u's: it is "
				 "left alone.",
				 shown, about.st_uid, uid);
	return has_folder(path) ? socket_file_distrust_folder(path, shown, uid) : NULL;
}

static void drop_files(struct socket_folder *folder)
{
	for (size_t i = 0; i < folder->count; i++)
		free(folder->files[i].name);
	folder->count = 0;
}

static void socket_file_take_entry(struct socket_folder *folder, const char *name)
{
	struct socket_file *file;
	struct socket_name numbers;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder->seen, name);
	socket_file_read_name(&numbers, path);
	if (numbers.rank < 0 && numbers.pid == 0)
		return;
	ARRAY_GROW(folder->files, folder->count, folder->capacity);
	file = &folder->files[folder->count++];
	file->name = xstrdup(name);
	file->numbers = numbers;
}

static void list_files(struct socket_folder *folder)
{
	DIR *entries = opendir(folder->path);

	if (!entries)
		return;
	for (int i = 0; i < ENTRIES_MAXIMUM; i++) {
		const struct dirent *entry = readdir(entries);

		if (!entry || folder->count == SOCKET_FILES_MAXIMUM)
			break;
		if (entry->d_type == DT_SOCK || entry->d_type == DT_LNK ||
		    entry->d_type == DT_UNKNOWN)
			socket_file_take_entry(folder, entry->d_name);
	}
	closedir(entries);
}

static bool is_as_read(const struct socket_folder *folder, const struct stat *about)
{
	return folder->inode == about->st_ino && folder->device == about->st_dev &&
	       folder->changed.tv_sec == about->st_mtim.tv_sec &&
	       folder->changed.tv_nsec == about->st_mtim.tv_nsec &&
	       folder->read.tv_sec > folder->changed.tv_sec + SETTLED_SECONDS;
}

void socket_folder_read(struct socket_folder *folder)
{
	struct stat about;

	if (stat(folder->path, &about) < 0) {
		drop_files(folder);
		folder->inode = 0;
		return;
	}
	if (is_as_read(folder, &about))
		return;
	drop_files(folder);
	folder->device = about.st_dev;
	folder->inode = about.st_ino;
	folder->changed = about.st_mtim;
	clock_gettime(CLOCK_REALTIME, &folder->read);
	list_files(folder);
}

void socket_folder_clear(struct socket_folder *folder)
{
	drop_files(folder);
	free(folder->files);
	free(folder->path);
	free(folder->seen);
	*folder = (struct socket_folder){ .path = NULL };
}
