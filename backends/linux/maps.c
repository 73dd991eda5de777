#include "backends/linux/maps.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "banned.h"

#include "backends/linux/root-file.h"
#include "base/alloc.h"
#include "base/array.h"

#define LINE_BYTES 4400 /* a path of PATH_MAX, and the fields before it */
#define MAPPINGS_MAXIMUM 65536

void maps_clear(struct maps *maps)
{
	for (size_t i = 0; i < maps->count; i++)
		free(maps->mappings[i].path);
	free(maps->mappings);
	*maps = (struct maps){ .mappings = NULL };
}

/* Parses a line "START-END PERMISSIONS OFFSET MAJOR:MINOR INODE PATH". */
static int maps_parse_line(struct mapping *mapping, char *permissions, const char *line)
{
	unsigned major_number;
	unsigned minor_number;
	int path = 0;

	*mapping = (struct mapping){ .path = NULL };
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &mapping->start, &mapping->end, permissions, &mapping->offset, &major_number,
		   &minor_number, &mapping->inode, &path) < 7 ||
	    path == 0)
		return -1;
	mapping->device = makedev(major_number, minor_number);
	mapping->is_vdso = strncmp(line + path, "[vdso]", 6) == 0;
	mapping->path = xstrndup(line + path, strcspn(line + path, "\n"));
	return 0;
}

static void maps_take_line(struct maps *maps, const char *line, uint64_t address)
{
	struct mapping mapping;
	char permissions[8] = "";

	if (maps_parse_line(&mapping, permissions, line) < 0)
		return;
	if (address >= mapping.start && address < mapping.end) {
		maps->device = mapping.device;
		maps->inode = mapping.inode;
	}
	if (permissions[2] != 'x' || maps->count == MAPPINGS_MAXIMUM) {
		free(mapping.path);
		return;
	}
	ARRAY_GROW(maps->mappings, maps->count, maps->capacity);
	maps->mappings[maps->count++] = mapping;
}

int maps_read(struct maps *maps, pid_t pid, uint64_t address)
{
	char line[LINE_BYTES];
	FILE *file;

	maps_clear(maps);
	snprintf(line, sizeof(line), "/proc/%d/maps", (int)pid);
	file = fopen(line, "re");
	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file)) {
		maps_take_line(maps, line, address);
		/* Skips the rest of a line that is too long. */
		while (!strchr(line, '\n') && fgets(line, sizeof(line), file))
			;
	}
	fclose(file);
	return 0;
}

struct mapping *maps_find(const struct maps *maps, uint64_t address)
{
	size_t low = 0;
	size_t high = maps->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		struct mapping *mapping = &maps->mappings[middle];
		if (address < mapping->start)
			high = middle;
		else if (address >= mapping->end)
			low = middle + 1;
		else
			return mapping;
	}
	return NULL;
}

/*
 * Opens /proc/PID/map_files/…, if permitted: it is the mapped file even if that was renamed or
 * deleted.
 */
static int find_mapped(const struct mapping *mapping, pid_t pid)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
		 mapping->start, mapping->end);
	return open(path, O_PATH | O_CLOEXEC);
}

/* Opens the path below the root of the process, which may be the root of a container. */
static int find_in_root(const struct mapping *mapping, pid_t pid)
{
	return root_file_find(pid, "root", mapping->path);
}

/*
 * Opens the path itself: paths in maps begin at the root of this program, even if the process is in
 * a plain chroot.
 */
static int maps_find_here(const struct mapping *mapping, pid_t pid)
{
	(void)pid;
	return open(mapping->path, O_PATH | O_CLOEXEC);
}

/*
 * Ways to open a mapped file, in this order. needs_device: the device must match, too, not only the
 * inode. It need not match below the root of the process, where the process may read all files, and
 * where Btrfs and overlayfs show another device in stat(2) than in maps.
 */
static const struct {
	int (*find)(const struct mapping *mapping, pid_t pid);
	bool needs_device;
} ways[] = {
	{ find_mapped, false },
	{ find_in_root, false },
	{ maps_find_here, true },
};

static bool is_the_file(const struct mapping *mapping, int fd, bool needs_device)
{
	struct stat about;

	return fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && about.st_ino == mapping->inode &&
	       (!needs_device || about.st_dev == mapping->device);
}

int mapping_open(const struct mapping *mapping, pid_t pid)
{
	int fd = -1;

	if (mapping->inode == 0 || mapping->path[0] != '/')
		return -1;
	for (size_t i = 0; i < ARRAY_LENGTH(ways) && fd < 0; i++) {
		int found = ways[i].find(mapping, pid);
		if (found < 0)
			continue;
		if (is_the_file(mapping, found, ways[i].needs_device))
			fd = root_file_open(found);
		close(found);
	}
	return fd;
}
