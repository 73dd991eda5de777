#include "backends/pdbsocket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/procfs.h"
#include "banned.h"

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

/* Whether one of the descriptors is the socket with that inode. */
static bool has_socket(DIR *folder, uint64_t inode)
{
	char wanted[48], link[64];

	snprintf(wanted, sizeof(wanted), "socket:[%" PRIu64 "]", inode);
	rewinddir(folder);
	for (int i = 0; i < DESCRIPTORS_MAXIMUM; i++) {
		const struct dirent *entry = readdir(folder);
		ssize_t length;

		if (!entry)
			break;
		length = readlinkat(dirfd(folder), entry->d_name, link,
				    sizeof(link) - 1);
		if (length < 0)
			continue;
		link[length] = '\0';
		if (strcmp(link, wanted) == 0)
			return true;
	}
	return false;
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

bool pdbsocket_find(struct procfs *procfs, pid_t pid, char *out, size_t size)
{
	DIR *folder = open_descriptors(procfs, pid);
	bool is_found = false;
	char *bytes, *rest, *line;

	if (!folder)
		return false;
	if (procfs_read(procfs, pid, "net/unix", &bytes, NULL) < 0) {
		int number = errno;

		closedir(folder);
		errno = number;
		return false;
	}
	rest = bytes;
	while (!is_found && (line = strsep(&rest, "\n")) != NULL) {
		const char *path;
		uint64_t inode;

		if (!parse(line, &inode, &path) || !has_socket(folder, inode))
			continue;
		snprintf(out, size, "%s", path);
		is_found = true;
	}
	closedir(folder);
	errno = 0;
	return is_found;
}
