/*
 * c10d: reads, without running code in it, what torch.distributed in a process has called: its
 * process groups, and the last entries of its Flight Recorder. The process is not stopped, and may
 * hold its GIL for ever.
 */
#ifndef BACKENDS_C10D_C10D_H
#define BACKENDS_C10D_C10D_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct c10d;
struct collectives;
struct cpython;
struct error;
struct loaded_elf_cache;
struct pyreader;

/* What one process's reads share: code objects, the places found in its libraries. Both pointers
 * are borrowed until c10d_free(). */
struct c10d *c10d_new(pid_t pid, const struct cpython *python, struct loaded_elf_cache *cache);
void c10d_free(struct c10d *c10d);
/*
 * Replaces *collectives by the process groups and the last `count` entries; where more calls are
 * open than these show, also by the open ones of the last 1,024. interpreter: address of the main
 * interpreter. What cannot be read is named by collectives->missing; a process that has not
 * imported torch.distributed has no groups. Returns 0, or -1 and *error if nothing can be read.
 */
int c10d_read(struct c10d *c10d, uint64_t interpreter, size_t count,
	      struct collectives *collectives, struct error *error);
/*
 * Gets the process's rank in the default process group, and the group's size. interpreter: address
 * of the main interpreter. Returns -1 if there is no such group, or torch is too old. Costs a few
 * reads: no library is searched. The object is trusted if the size is that of the group's table of
 * ranks.
 */
int c10d_default_group(struct pyreader *reader, uint64_t interpreter, int *rank, int *size);
/* Returns the number of system calls made so far. */
uint64_t c10d_calls(const struct c10d *c10d);

#endif
