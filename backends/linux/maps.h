/* maps: the executable mappings of a process, from /proc/PID/maps, and the mapped files. */
#ifndef BACKENDS_LINUX_MAPS_H
#define BACKENDS_LINUX_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct image;

struct mapping {
	uint64_t start, end;
	uint64_t offset;	/* offset of start in the file */
	uint64_t device, inode; /* of the file; 0: no file */
	char *path;		/* path as in /proc/PID/maps; "": none */
	bool is_vdso;
	struct image *image; /* set by images.c: the mapped file; borrowed */
	bool is_looked_up;   /* set by images.c: image was looked up */
};

struct maps {
	struct mapping *mappings; /* executable mappings, sorted by address */
	size_t count;
	size_t capacity;
	/* The file that is mapped at the address given to maps_read(); 0: no file. */
	uint64_t device, inode;
};

void maps_clear(struct maps *maps);
/* Replaces the contents of *maps. address: determines maps->device and maps->inode. Returns 0, or
 * -1 with errno. */
int maps_read(struct maps *maps, pid_t pid, uint64_t address);
/* Returns the executable mapping that contains the address; NULL: none. */
struct mapping *maps_find(const struct maps *maps, uint64_t address);
/*
 * Opens the file of a mapping for reading. Returns -1 if the file cannot be opened, is not a
 * regular file, or is not the file that is mapped (the path may lead to a newer file).
 */
int mapping_open(const struct mapping *mapping, pid_t pid);

#endif
