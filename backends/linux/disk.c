#include "backends/linux/disk.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "backends/linux/procfs.h"
#include "backends/linux/root-file.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/json.h"
#include "base/map.h"

#define MOUNTS_MAXIMUM 16 /* in one answer */
#define SHARED "/dev/shm"

/*
 * Types of file systems that are on the machine itself. overlay is not among them, whose layers may
 * be anywhere.
 */
static const char *const local_types[] = { "bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs",
					   "ramfs",    "tmpfs", "vfat", "xfs",	"zfs" };

/* A line of mountinfo: "36 35 98:0 /root /mount/point rw,noatime master:1 - ext4 /dev/sda rw". */
struct mount {
	int id;
	char *point;
	char *type;
};

static void mount_clear(struct mount *mount)
{
	free(mount->point);
	free(mount->type);
	*mount = (struct mount){ .id = -1 };
}

static bool is_local(const char *type)
{
	for (size_t i = 0; i < ARRAY_LENGTH(local_types); i++) {
		if (strcmp(type, local_types[i]) == 0)
			return true;
	}
	return false;
}

static bool is_octal(const char *digits)
{
	return strspn(digits, "01234567") >= 3;
}

/* The n-th word of a line, from 0, with "\040" decoded, for free(); NULL: there is none. */
static char *take_word(const char *line, size_t n)
{
	struct buffer word = BUFFER_INIT;

	while (n-- > 0) {
		line += strcspn(line, " \n");
		if (*line != ' ')
			return NULL;
		line++;
	}
	for (; *line != '\0' && *line != ' ' && *line != '\n'; line++) {
		char byte = *line;

		if (byte == '\\' && is_octal(line + 1)) {
			byte = (char)((line[1] - '0') * 64 + (line[2] - '0') * 8 + line[3] - '0');
			line += 3;
		}
		buffer_append_char(&word, byte);
	}
	return buffer_take(&word);
}

/* Reads the line that begins there; false: it is malformed. */
static bool read_mount(struct mount *mount, const char *line)
{
	const char *end = line + strcspn(line, "\n");
	const char *dash = strstr(line, " - ");

	if (!dash || dash > end)
		return false;
	mount->id = (int)strtol(line, NULL, 10);
	mount->point = take_word(line, 4);
	mount->type = take_word(dash + 3, 0);
	return mount->point && mount->type;
}

/*
 * Finds the mount with the id, or, if id is -1, the last one at point, which hides others there.
 * false: there is none.
 */
static bool find_mount(struct mount *mount, const char *text, int id, const char *point)
{
	bool is_found = false;

	while (text && *text != '\0') {
		struct mount one = { .id = -1 };

		if (read_mount(&one, text) &&
		    (id >= 0 ? one.id == id : strcmp(one.point, point) == 0)) {
			mount_clear(mount);
			*mount = one;
			is_found = true;
		} else {
			mount_clear(&one);
		}
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return is_found;
}

/* The id of the mount that an open descriptor is on, without a question to the file system. */
static int mount_id(struct procfs *procfs, int fd)
{
	static const char key[] = "mnt_id:";
	char name[40];
	const char *at;
	char *text;

	snprintf(name, sizeof(name), "fdinfo/%d", fd);
	if (procfs_read(procfs, getpid(), name, &text, NULL) <= 0)
		return -1;
	at = strstr(text, key);
	return at ? (int)strtol(at + strlen(key), NULL, 10) : -1;
}

static void add_mount(json_t *disks, const struct mount *mount, int folder)
{
	json_t *disk = json_object();
	struct statvfs space;

	json_set_text(disk, "path", mount->point);
	json_set_text(disk, "type", mount->type);
	if (is_local(mount->type) && fstatvfs(folder, &space) == 0) {
		uint64_t unit = space.f_frsize;

		json_object_set_new(disk, "free",
				    json_integer((json_int_t)(space.f_bavail * unit)));
		json_object_set_new(disk, "size",
				    json_integer((json_int_t)(space.f_blocks * unit)));
	}
	json_array_append_new(disks, disk);
}

/* Adds the mount that the folder, which is open (O_PATH), is on. */
static void add_folder(json_t *disks, struct map *seen, struct procfs *procfs, pid_t pid,
		       int folder)
{
	struct mount mount = { .id = -1 };
	int id = mount_id(procfs, folder);
	char *text;

	if (id < 0 || map_find(seen, (uint64_t)id) || json_array_size(disks) >= MOUNTS_MAXIMUM ||
	    procfs_read(procfs, pid, "mountinfo", &text, NULL) <= 0 ||
	    !find_mount(&mount, text, id, NULL))
		return;
	map_put(seen, (uint64_t)id, disks);
	add_mount(disks, &mount, folder);
	mount_clear(&mount);
}

/* Opens /dev/shm of the process, if that is a tmpfs of its own. Returns -1 if it is not. */
static int open_shared(struct procfs *procfs, pid_t pid)
{
	struct mount mount = { .id = -1 };
	bool is_there = false;
	char *text;

	if (procfs_read(procfs, pid, "mountinfo", &text, NULL) > 0)
		is_there = find_mount(&mount, text, -1, SHARED) && strcmp(mount.type, "tmpfs") == 0;
	mount_clear(&mount);
	return is_there ? root_file_find(pid, "root", SHARED) : -1;
}

void disk_add(json_t *disks, struct map *seen, struct procfs *procfs, pid_t pid)
{
	char name[40];
	int folder;

	/* What "cwd" links to is opened without a walk along its path. */
	snprintf(name, sizeof(name), "/proc/%d/cwd", (int)pid);
	folder = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0) {
		add_folder(disks, seen, procfs, pid, folder);
		close(folder);
	}
	folder = open_shared(procfs, pid);
	if (folder >= 0) {
		add_folder(disks, seen, procfs, pid, folder);
		close(folder);
	}
}
