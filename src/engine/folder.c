#include "engine/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"

#define NAMES_MAXIMUM 1000
#define WORD_MAXIMUM 64

static int check_about(const char *path, const struct stat *about, struct error *error)
{
	if (S_ISLNK(about->st_mode))
		return error_set(error, "%s is a symbolic link; name the folder that it leads to",
				 path);
	if (!S_ISDIR(about->st_mode))
		return error_set(error, "%s is no folder; name another one", path);
	if (about->st_uid != geteuid() && about->st_uid != 0)
		return error_set(
			error, "the folder %s belongs to another user; name one of your own", path);
	/* In a folder with the sticky bit, as /tmp, others cannot replace our files. */
	if (about->st_mode & S_IWOTH && !(about->st_mode & S_ISVTX))
		return error_set(
			error, "anybody may write into the folder %s; name one of your own", path);
	if (faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) < 0)
		return error_set_errno(error, errno, "cannot write into the folder %s", path);
	return 0;
}

int folder_check(const char *path, struct error *error)
{
	struct buffer plain = BUFFER_INIT;
	struct stat about;
	int result;

	buffer_append_string(&plain, path);
	/* lstat() of a path that ends with a slash would follow a symbolic link. */
	while (plain.length > 1 && plain.data[plain.length - 1] == '/')
		buffer_truncate(&plain, plain.length - 1);
	if (mkdir(plain.data, 0700) < 0 && errno != EEXIST)
		result = error_set_errno(error, errno, "cannot make the folder %s", path);
	else if (lstat(plain.data, &about) < 0)
		result = error_set_errno(error, errno, "cannot look at the folder %s", path);
	else
		result = check_about(plain.data, &about, error);
	buffer_clear(&plain);
	return result;
}

/* Appends word with every character that is not safe in file names and shells replaced by "_". */
static void folder_append_word(struct buffer *out, const char *word)
{
	size_t length = strnlen(word, WORD_MAXIMUM);

	for (size_t i = 0; i < length; i++) {
		char character = word[i];
		bool is_plain = (character >= '0' && character <= '9') ||
				(character >= 'A' && character <= 'Z') ||
				(character >= 'a' && character <= 'z') || character == '.' ||
				character == '-';

		buffer_append_char(out, is_plain ? character : '_');
	}
}

static bool folder_is_free(const char *base, const char *const *suffixes)
{
	bool is_taken = false;

	for (; *suffixes && !is_taken; suffixes++) {
		char *path = xasprintf("%s%s", base, *suffixes);
		struct stat about;

		is_taken = lstat(path, &about) == 0;
		free(path);
	}
	return !is_taken;
}

char *folder_name(const char *path, const char *job, const char *host, double when,
		  const char *const *suffixes)
{
	struct buffer name = BUFFER_INIT;
	time_t seconds = (time_t)when;
	struct tm parts;
	char stamp[32] = "";
	size_t length;

	gmtime_r(&seconds, &parts);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &parts);
	buffer_printf(&name, "%s/probetui-", path);
	folder_append_word(&name, job[0] != '\0' ? job : "job");
	buffer_append_char(&name, '-');
	folder_append_word(&name, host[0] != '\0' ? host : "host");
	buffer_printf(&name, "-%s", stamp);
	length = name.length;
	for (int i = 2; i < NAMES_MAXIMUM && !folder_is_free(name.data, suffixes); i++) {
		buffer_truncate(&name, length);
		buffer_printf(&name, "-%d", i);
	}
	return buffer_take(&name);
}

int folder_write(const char *path, const char *bytes, size_t length, struct error *error)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int result;
	int number;

	if (fd < 0)
		return error_set_errno(error, errno, "cannot make %s", path);
	result = file_write(fd, bytes, length);
	number = errno;
	if (close(fd) < 0 && result == 0) {
		number = errno;
		result = -1;
	}
	if (result < 0)
		error_set_errno(error, number, "cannot write %s", path);
	return result;
}
