#include "backends/pdb/socket-notice.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"
#include "backends/pdb/socket-file.h"
#include "base/alloc.h"

#define TEXT_MAXIMUM 4096
/* Maximum of folders that are read: jobs of one user that wait at the same time. */
#define FOLDERS_MAXIMUM 64

static bool socket_notice_ends_in(const char *text, const char *end)
{
	size_t length = strlen(text);
	size_t end_length = strlen(end);

	return length > end_length && strcmp(text + length - end_length, end) == 0;
}

/* Reads a small file owned by uid; false: none. */
static bool socket_notice_read_text(int folder, const char *file, uid_t uid, char *text,
				    size_t size)
{
	int fd = openat(folder, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat status;
	ssize_t length = -1;

	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == uid)
		length = read(fd, text, size - 1);
	close(fd);
	if (length < 0)
		return false;
	text[length] = '\0';
	return true;
}

/* Requires both " raised " and the socket's name: else the notice is another job's. */
static char *socket_notice_cut(char *text, const char *name)
{
	static const char before[] = " raised ";
	char *behind = xasprintf(" and waits in pdb at %s\n", name);
	char *start = strstr(text, before);
	char *found = NULL;
	char *end;

	if (start) {
		start += strlen(before);
		end = strstr(start, behind);
		if (end) {
			*end = '\0';
			found = xstrdup(start);
		}
	}
	free(behind);
	return found;
}

static char *read_of_job(int folder, const char *job, int rank, const char *name, uid_t uid)
{
	char file[NAME_MAX + 32];
	char text[TEXT_MAXIMUM];

	snprintf(file, sizeof(file), "%s/%d", job, rank);
	if (!socket_notice_read_text(folder, file, uid, text, sizeof(text)))
		return NULL;
	return socket_notice_cut(text, name);
}

static char *socket_notice_search(DIR *folder, int rank, const char *name, uid_t uid)
{
	size_t looked_at = 0;
	struct dirent *entry;
	char *found = NULL;

	while (!found && looked_at < FOLDERS_MAXIMUM && (entry = readdir(folder))) {
		if (!socket_notice_ends_in(entry->d_name, ".holding"))
			continue;
		looked_at++;
		found = read_of_job(dirfd(folder), entry->d_name, rank, name, uid);
	}
	return found;
}

/* Returns the pid that has locked the file; 0: not locked, or no file. */
static pid_t find_supervisor(int folder, const char *file, uid_t uid)
{
	int fd = openat(folder, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct stat status;
	pid_t pid = 0;

	if (fd < 0)
		return 0;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == uid &&
	    fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
		pid = lock.l_pid;
	close(fd);
	return pid;
}

bool socket_notice_is_kept(const char *folder, const char *kind, int rank, pid_t pid, uid_t uid)
{
	DIR *jobs = opendir(folder);
	size_t looked_at = 0;
	struct dirent *entry;
	bool is_kept = false;

	while (jobs && !is_kept && looked_at < FOLDERS_MAXIMUM && (entry = readdir(jobs))) {
		char file[NAME_MAX + 32];

		if (!socket_notice_ends_in(entry->d_name, kind))
			continue;
		looked_at++;
		snprintf(file, sizeof(file), "%s/%d", entry->d_name, rank);
		is_kept = find_supervisor(dirfd(jobs), file, uid) == pid;
	}
	if (jobs)
		closedir(jobs);
	return is_kept;
}

char *socket_notice_read(const char *path, const char *name, uid_t uid)
{
	const char *slash = strrchr(path, '/');
	struct socket_name numbers;
	char *parent;
	char *found;
	DIR *folder;

	socket_file_read_name(&numbers, name);
	if (!slash || !numbers.has_folder || numbers.rank < 0)
		return NULL;
	parent = xasprintf("%.*s", (int)(slash - path), path);
	folder = opendir(parent);
	free(parent);
	if (!folder)
		return NULL;
	found = socket_notice_search(folder, numbers.rank, name, uid);
	closedir(folder);
	return found;
}
