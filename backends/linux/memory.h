/*
 * memory: another process's memory, read with process_vm_readv(2) and never
 * written.
 *
 * A snapshot is a set of blocks of some hundred bytes (memory that lies in no
 * cache costs more than a system call). memory_begin() starts one: it fetches
 * the blocks that the last snapshot needed, all of them twice, in as few
 * system calls as the kernel allows, so that one walk can be done over each
 * copy and compared. A block that is missing is fetched when it is asked for
 * (into the copy in use). memory_read() goes through the snapshot;
 * memory_fetch() goes past it and is for what is cached elsewhere (code
 * objects, names).
 *
 * Nothing that comes back is to be believed: the target runs on. What it
 * links together may be endless, so a snapshot has a budget of work; when that
 * is spent, memory_read() finds nothing more until the next memory_begin().
 */
#ifndef BACKENDS_LINUX_MEMORY_H
#define BACKENDS_LINUX_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct memory;

/* One of many places that are read in one call. */
struct memory_part {
	uint64_t address;
	void *out;
	size_t length;
	size_t done; /* bytes that could be read */
};

struct memory *memory_new(pid_t pid);
void memory_free(struct memory *memory);
pid_t memory_pid(const struct memory *memory);

/* Starts a snapshot; with prefetch false it starts empty (one copy). */
void memory_begin(struct memory *memory, bool prefetch);
/*
 * Starts one while the process stands: what the last one needed comes in one
 * call, and hardly more can be read besides.
 */
void memory_begin_short(struct memory *memory);
/*
 * Starts one while a thread stands for it: what the last one needed comes in
 * one call. Where is_bounded, of what it lacks only as much is read as the
 * thread can be kept waiting for; memory_was_cut() then says whether that was
 * too little.
 */
void memory_begin_held(struct memory *memory, bool is_bounded);
bool memory_was_cut(const struct memory *memory);
/*
 * Starts one while a thread stands at a trap, of which there may be thousands a
 * second: what the last ones needed comes along with the first
 * memory_fetch_parts(), in one call. memory_end_stand() when the thread is about
 * to be resumed; any other memory_begin() ends it, too.
 */
void memory_begin_stand(struct memory *memory);
void memory_end_stand(struct memory *memory);
bool memory_is_standing(const struct memory *memory);
/* The budget of a snapshot anew, within a stand. */
void memory_renew(struct memory *memory);
/*
 * From here on blocks that are read belong to a new group; memory_again()
 * fetches those of the newest group afresh, twice, in one call if it can.
 */
void memory_group(struct memory *memory);
void memory_again(struct memory *memory);
/* Chooses copy 0 or 1 for memory_read. */
void memory_use(struct memory *memory, int copy);
/* 0, or -1 with errno (EFAULT unmapped, ESRCH gone, EPERM). */
int memory_read(struct memory *memory, uint64_t address, void *out, size_t length);
int memory_fetch(struct memory *memory, uint64_t address, void *out, size_t length);
/* In a stand memory_read(), else memory_fetch(). */
int memory_look(struct memory *memory, uint64_t address, void *out, size_t length);
/* Past the snapshot, all parts in as few calls as possible. */
void memory_fetch_parts(struct memory *memory, struct memory_part *parts, size_t count);
/*
 * Past the snapshot in one call, up to the first page that is not there, 1 MB
 * at most. How many bytes it read.
 */
size_t memory_fetch_run(struct memory *memory, uint64_t address, void *out, size_t length);
/*
 * The errno of the first reading since the last call that failed for another
 * reason than the address (EFAULT), 0: none. What was read ahead and is read
 * again when it is asked for does not count.
 */
int memory_take_failure(struct memory *memory);
/* The same of a file of the process that is read besides its memory. */
void memory_note_failure(struct memory *memory, int number);
/* Little helpers: through the snapshot, 0 on success. */
int memory_read_u64(struct memory *memory, uint64_t address, uint64_t *out);
int memory_read_u32(struct memory *memory, uint64_t address, uint32_t *out);
int memory_read_u8(struct memory *memory, uint64_t address, uint8_t *out);
/* System calls made so far. */
uint64_t memory_calls(const struct memory *memory);

#endif
