/*
 * maps: what of a process's memory is code, by /proc/PID/maps, and the files
 * it comes from.
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
	char *path;		/* as the kernel has it; "" none */
	bool is_vdso;
	struct image *image; /* for images.c: its file; borrowed */
	bool is_looked_up;   /* for images.c */
};

struct maps {
	struct mapping *mappings; /* executable ones, by address */
	size_t count;
	size_t capacity;
	/* Of the file that the address given at the reading lies in. */
	uint64_t device, inode;
};

void maps_clear(struct maps *maps);
/* Replaces what the maps held. address: see there. -1 with errno. */
int maps_read(struct maps *maps, pid_t pid, uint64_t address);
/* Lends; NULL: there is no code. */
struct mapping *maps_find(const struct maps *maps, uint64_t address);
/*
 * The file of a mapping for reading, if it is a regular one and the very file
 * that is mapped. -1: it cannot be had.
 */
int mapping_open(const struct mapping *mapping, pid_t pid);

#endif
