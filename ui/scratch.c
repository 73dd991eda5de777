#include "ui/scratch.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "model/place.h"
#include "model/source.h"

#define NAME_MAXIMUM 100

/* Makes a folder and returns its path, to be freed; NULL and errno: no folder was made. */
static char *scratch_make_folder(void)
{
	const char *parent = getenv("TMPDIR");
	char *path;

	if (parent == NULL || parent[0] != '/')
		parent = "/tmp";
	path = xasprintf("%s/probetui-XXXXXX", parent);
	if (mkdtemp(path) != NULL)
		return path;
	free(path);
	return NULL;
}

/* Returns the name with all but letters, digits, _ and . replaced; a leading dot is replaced, too,
 * since editors may read dot files as settings. */
static char *harmless_name(const char *name)
{
	char *copy = xstrndup(place_file_name(name), NAME_MAXIMUM);

	for (char *at = copy; *at != '\0'; at++)
		if (!isalnum((unsigned char)*at) && *at != '_' && (*at != '.' || at == copy))
			*at = '_';
	return copy;
}

static int write_lines(int fd, const struct source *source)
{
	struct buffer text = BUFFER_INIT;
	int result;

	for (size_t i = 0; i < source->line_count; i++)
		buffer_printf(&text, "%s\n", source->lines[i]);
	result = file_write(fd, text.data, text.length);
	buffer_clear(&text);
	return result;
}

static int scratch_write_file(const char *path, const struct source *source)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int result = -1;

	if (fd < 0)
		return -1;
	if (write_lines(fd, source) == 0 && fchmod(fd, 0400) == 0)
		result = 0;
	close(fd);
	return result;
}

char *scratch_write(const char *name, const struct source *source, struct error *error)
{
	char *folder;
	char *file;
	char *path;

	if (source == NULL || source->content == NULL) {
		error_set(error, "the source of %.200s was not recorded.", place_file_name(name));
		return NULL;
	}
	folder = scratch_make_folder();
	if (folder == NULL) {
		error_set_errno(error, errno, "cannot make a folder for the recorded source");
		return NULL;
	}
	file = harmless_name(name);
	path = xasprintf("%s/%s", folder, file);
	if (scratch_write_file(path, source) < 0) {
		error_set_errno(error, errno, "cannot write %s", path);
		scratch_remove(path);
		free(path);
		path = NULL;
	}
	free(file);
	free(folder);
	return path;
}

void scratch_remove(const char *path)
{
	char *folder = xstrndup(path, (size_t)(strrchr(path, '/') - path));
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	while (directory != NULL && (entry = readdir(directory)) != NULL)
		unlinkat(fd, entry->d_name, 0);
	if (directory != NULL)
		closedir(directory);
	rmdir(folder);
	free(folder);
}
