#include "backends/linux/disk.h"

#include <fcntl.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/json.h"
#include "protocol/process.h"

#define PLACES_MAXIMUM 3

/* Types of file systems that are on the machine itself. */
static const char *const local[] = { "bcachefs", "btrfs", "ext2",  "ext3", "ext4", "f2fs",
				     "overlay",	 "ramfs", "tmpfs", "vfat", "xfs",  "zfs" };

struct disks {
	json_t *found;
	dev_t devices[PLACES_MAXIMUM];
	size_t count;
};

static bool is_local(const char *type)
{
	for (size_t i = 0; i < ARRAY_LENGTH(local); i++) {
		if (strcmp(type, local[i]) == 0)
			return true;
	}
	return false;
}

/* True if the path is the folder, or lies below it. */
static bool is_below(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	if (strcmp(folder, "/") == 0)
		return path[0] == '/';
	return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* The type of the file system that path is on, for free(); NULL: not known. */
static char *type_of(const struct process *process, const char *path)
{
	char *name = xasprintf("/proc/%d/mounts", (int)process->pid);
	FILE *mounts = setmntent(name, "re");
	const struct mntent *mount;
	char *type = NULL;
	size_t longest = 0;

	free(name);
	/* Of several mounts at one place the last hides the others. */
	while (mounts && (mount = getmntent(mounts))) {
		if (!is_below(path, mount->mnt_dir) || strlen(mount->mnt_dir) < longest)
			continue;
		longest = strlen(mount->mnt_dir);
		free(type);
		type = xstrdup(mount->mnt_type);
	}
	if (mounts)
		endmntent(mounts);
	return type;
}

static bool is_known(const struct disks *disks, dev_t device)
{
	for (size_t i = 0; i < disks->count; i++) {
		if (disks->devices[i] == device)
			return true;
	}
	return false;
}

static void add_disk(struct disks *disks, const char *path, const char *type,
		     const struct statvfs *space)
{
	json_t *disk = json_object();

	json_set_text(disk, "path", path);
	json_set_text(disk, "type", type);
	if (space) {
		uint64_t unit = space->f_frsize;

		json_object_set_new(disk, "free",
				    json_integer((json_int_t)(space->f_bavail * unit)));
		json_object_set_new(disk, "size",
				    json_integer((json_int_t)(space->f_blocks * unit)));
	}
	json_array_append_new(disks->found, disk);
}

static void add_space(struct disks *disks, int folder, const char *path, const char *type)
{
	struct statvfs space;
	struct stat info;

	if (fstat(folder, &info) < 0 || is_known(disks, info.st_dev) ||
	    fstatvfs(folder, &space) < 0 || space.f_blocks == 0)
		return;
	disks->devices[disks->count++] = info.st_dev;
	add_disk(disks, path, type, &space);
}

/* link: of /proc/PID; path: what the process calls it. */
static void add_place(struct disks *disks, const struct process *process, const char *link,
		      const char *path, int flags)
{
	char *name = xasprintf("/proc/%d/%s", (int)process->pid, link);
	char *type = type_of(process, path);
	int folder = -1;

	if (type && is_local(type))
		folder = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC | flags);
	else if (type)
		add_disk(disks, path, type, NULL);
	if (folder >= 0) {
		add_space(disks, folder, path, type);
		close(folder);
	}
	free(type);
	free(name);
}

json_t *disk_read(const struct process *process)
{
	struct disks disks = { .found = json_array() };

	if (process->cwd)
		add_place(&disks, process, "cwd", process->cwd, 0);
	add_place(&disks, process, "root/tmp", "/tmp", O_NOFOLLOW);
	add_place(&disks, process, "root/dev/shm", "/dev/shm", O_NOFOLLOW);
	return disks.found;
}
