/*
 * memory: another process's memory, read with process_vm_readv(2) and never
 * written.
 *
 * A snapshot is a set of blocks of some hundred bytes (reading memory that is in no cache costs
 * more than a system call). memory_begin() starts a snapshot: it fetches two copies of all blocks
 * that the last snapshot needed, in as few system calls as the kernel allows, so that data
 * structures can be walked in each copy and the results compared. A missing block is fetched at its
 * first read, into the copy in use. memory_read() reads through the snapshot. memory_fetch()
 * bypasses the snapshot, for data that is cached elsewhere (code objects, names).
 *
 * The process runs meanwhile, so all data has to be checked. Linked lists may seem endless, so a
 * snapshot has a budget of work; when the budget is spent, memory_read() fails until the next
 * memory_begin().
 */
#ifndef BACKENDS_LINUX_MEMORY_H
#define BACKENDS_LINUX_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct memory;

/* One of several memory ranges that are read in one call. */
struct memory_part {
	uint64_t address;
	void *out;
	size_t length;
	size_t done; /* bytes that could be read */
};

struct memory *memory_new(pid_t pid);
void memory_free(struct memory *memory);
pid_t memory_pid(const struct memory *memory);

/* Starts a snapshot. prefetch false: the snapshot is empty at first and has one copy. */
void memory_begin(struct memory *memory, bool prefetch);
/*
 * Starts a snapshot while the process is stopped: one call fetches the blocks that the last
 * snapshot needed; the budget for further blocks is small.
 */
void memory_begin_short(struct memory *memory);
/*
 * Starts a snapshot for which a thread is frozen: one call fetches the blocks that the last
 * snapshot needed. is_bounded: the budget for further blocks is small, because the thread waits;
 * memory_was_cut() returns whether a read has failed because the budget was spent.
 */
void memory_begin_held(struct memory *memory, bool is_bounded);
bool memory_was_cut(const struct memory *memory);
/*
 * Starts a snapshot (a "stand") while a thread is stopped at a trap. There may be thousands of
 * traps a second, so the first memory_fetch_parts() also fetches the blocks that the last stands
 * needed, in the same call. memory_end_stand() must be called before the thread is resumed;
 * starting another snapshot ends the stand, too.
 */
void memory_begin_stand(struct memory *memory);
void memory_end_stand(struct memory *memory);
bool memory_is_standing(const struct memory *memory);
/* To be called within a stand: gives the snapshot a new budget. */
void memory_renew(struct memory *memory);
/*
 * After memory_group(), blocks that are read belong to a new group. memory_again() refetches the
 * blocks of the newest group into both copies, in one call if possible.
 */
void memory_group(struct memory *memory);
void memory_again(struct memory *memory);
/* Chooses the copy, 0 or 1, from which memory_read() reads. */
void memory_use(struct memory *memory, int copy);
/*
 * memory_read() reads through the snapshot, memory_fetch() bypasses it. Return 0, or -1 with errno
 * (EFAULT: not mapped, or budget spent; ESRCH: process gone; EPERM).
 */
int memory_read(struct memory *memory, uint64_t address, void *out, size_t length);
int memory_fetch(struct memory *memory, uint64_t address, void *out, size_t length);
/* Calls memory_read() within a stand, else memory_fetch(). */
int memory_look(struct memory *memory, uint64_t address, void *out, size_t length);
/* Reads all parts, bypassing the snapshot, in as few calls as possible; sets `done` of each
 * part. */
void memory_fetch_parts(struct memory *memory, struct memory_part *parts, size_t count);
/*
 * Reads in one call, bypassing the snapshot, up to the first page that is not mapped, 1 MB at most.
 * Returns the number of bytes read.
 */
size_t memory_fetch_run(struct memory *memory, uint64_t address, void *out, size_t length);
/*
 * Returns the errno of the first read that has failed, other than with EFAULT, since the last call
 * of this function; 0: none. Failed prefetches do not count, because a block that was not
 * prefetched is read when it is needed.
 */
int memory_take_failure(struct memory *memory);
/* Notes, for memory_take_failure(), that a file of the process could not be read. */
void memory_note_failure(struct memory *memory, int number);
/* Read one number by memory_read(). Return 0, or -1 with errno. */
int memory_read_u64(struct memory *memory, uint64_t address, uint64_t *out);
int memory_read_u32(struct memory *memory, uint64_t address, uint32_t *out);
int memory_read_u8(struct memory *memory, uint64_t address, uint8_t *out);
/* Returns the number of system calls made so far. */
uint64_t memory_calls(const struct memory *memory);

#endif
