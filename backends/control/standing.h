/*
 * standing: a thread of another process that is traced and stands: its
 * registers, its mask, what is below its stack, and how it goes on and is
 * waited for. All of ptrace(2) that remote and backends/inject/remote-call need.
 */
#ifndef BACKENDS_CONTROL_STANDING_H
#define BACKENDS_CONTROL_STANDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct arch_dump;
struct arch_floats;

/*
 * The stop of standing_go_to_call(), as WSTOPSIG() has it. It is told from a
 * signal only after standing_tell_calls().
 */
#define STANDING_AT_CALL 0x85

/* Each returns 0, or -1 and errno. */
int standing_tell_calls(pid_t tid);
int standing_registers(pid_t tid, struct arch_dump *dump);
int standing_set_registers(pid_t tid, const struct arch_dump *dump);
int standing_floats(pid_t tid, struct arch_floats *floats);
int standing_set_floats(pid_t tid, const struct arch_floats *floats);
int standing_mask(pid_t tid, uint64_t *mask);
int standing_set_mask(pid_t tid, uint64_t mask);
/* What the process may read and write itself. read: how many bytes, or -1. */
ssize_t standing_read(pid_t tid, uint64_t address, void *bytes, size_t length);
int standing_write(pid_t tid, uint64_t address, const void *bytes, size_t length);

/* 0: with no signal. */
void standing_go(pid_t tid, int signal_number);
/* It stands again where it enters, or leaves, the kernel. */
void standing_go_to_call(pid_t tid, int signal_number);
/* It stops; also one that is resumed afterwards. */
void standing_interrupt(pid_t tid);
/* Which process sent, by tgkill(2), the signal that it stands for; 0: none. */
pid_t standing_sender(pid_t tid);
/* The next status, within that time. False: none. */
bool standing_wait(pid_t tid, uint64_t nanoseconds, int *status);

#endif
