#include "backends/pdbsocket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "banned.h"
#include "backends/procfs.h"
#include "base/map.h"

/* __SO_ACCEPTCON in the flags of /proc/net/unix: it listens. */
#define LISTENS 0x10000u
#define WORD "pdb"
#define DESCRIPTORS_MAXIMUM 65536

/* NULL and errno: they cannot be seen. */
static DIR *open_descriptors(struct procfs *procfs, pid_t pid)
{
	char path[32];
	DIR *folder;
	int fd;

	snprintf(path, sizeof(path), "%d/fd", (int)pid);
	fd = openat(procfs->fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	folder = fdopendir(fd);
	if (!folder)
		close(fd);
	return folder;
}

/* The sockets among the descriptors, by inode; map_free() them. */
static struct map *read_sockets(DIR *folder)
{
	struct map *sockets = map_new(NULL);

	for (int i = 0; i < DESCRIPTORS_MAXIMUM; i++) {
		const struct dirent *entry = readdir(folder);
		char link[64];
		ssize_t length;
		uint64_t inode;

		if (!entry)
			break;
		length = readlinkat(dirfd(folder), entry->d_name, link,
				    sizeof(link) - 1);
		if (length < 0)
			continue;
		link[length] = '\0';
		if (sscanf(link, "socket:[%" SCNu64 "]", &inode) == 1)
			map_put(sockets, inode, sockets);
	}
	return sockets;
}

/* "Num: RefCount Protocol Flags Type St Inode Path" */
static bool parse(const char *line, uint64_t *inode, const char **path)
{
	unsigned flags;
	int length = 0;

	if (sscanf(line, "%*s %*x %*x %x %*x %*x %" SCNu64 " %n", &flags, inode,
		   &length) < 2 ||
	    !length || !(flags & LISTENS))
		return false;
	*path = line + length;
	return strstr(*path, WORD) != NULL;
}

/* Lends the path of the first line about one of the sockets, or NULL. */
static const char *find_line(char *lines, const struct map *sockets)
{
	char *line;

	while ((line = strsep(&lines, "\n")) != NULL) {
		const char *path;
		uint64_t inode;

		if (parse(line, &inode, &path) && map_find(sockets, inode))
			return path;
	}
	return NULL;
}

bool pdbsocket_find(struct procfs *procfs, pid_t pid, char *out, size_t size)
{
	DIR *folder = open_descriptors(procfs, pid);
	const char *path = NULL;
	struct map *sockets;
	int number = 0;
	char *bytes;

	if (!folder)
		return false;
	sockets = read_sockets(folder);
	closedir(folder);
	if (procfs_read(procfs, pid, "net/unix", &bytes, NULL) < 0)
		number = errno;
	else
		path = find_line(bytes, sockets);
	if (path)
		snprintf(out, size, "%s", path);
	map_free(sockets);
	errno = number;
	return path != NULL;
}
