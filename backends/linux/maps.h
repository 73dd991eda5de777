/*
 * maps: the executable mappings of a process, from /proc/PID/maps, and their files.
 */
#ifndef BACKENDS_LINUX_MAPS_H
#define BACKENDS_LINUX_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct image;

struct mapping {
	uint64_t start, end;
	uint64_t offset;	/* of start in the file */
	uint64_t device, inode; /* 0: no file */
	char *path;		/* as in /proc/PID/maps; "": none */
	bool is_vdso;
	struct image *image; /* for images.c: its file; borrowed */
	bool is_looked_up;   /* for images.c: image was looked up */
};

struct maps {
	struct mapping *mappings; /* executable ones, by address */
	size_t count;
	size_t capacity;
	/* Of the file that is mapped at the address given to maps_read(); 0: none. */
	uint64_t device, inode;
};

void maps_clear(struct maps *maps);
/* Replaces the maps. address: for maps->device and maps->inode. -1 with errno. */
int maps_read(struct maps *maps, pid_t pid, uint64_t address);
/* The executable mapping with this address; NULL: none. */
struct mapping *maps_find(const struct maps *maps, uint64_t address);
/*
 * Opens the file of a mapping for reading, if it is a regular file and the one that
 * is mapped. -1: it cannot be opened.
 */
int mapping_open(const struct mapping *mapping, pid_t pid);

#endif
