/*
 * pytstate: the thread states of all interpreters of a process, as they stand
 * in CPython's lists.
 *
 * Read through the memory's snapshot. Every state points back to its
 * interpreter and has a thread of /proc/PID/task, or it is left out.
 */
#ifndef BACKENDS_CPYTHON_PYTSTATE_H
#define BACKENDS_CPYTHON_PYTSTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cpython;
struct error;
struct memory;

struct pytstate {
	uint64_t address;
	uint64_t interpreter;
	int number;	/* the id of the interpreter, 0: the main one */
	uint64_t ident; /* pthread_t, what threading calls ident */
	pid_t tid;	/* as the process itself has it */
};

struct pytstate_list {
	struct pytstate *items;
	size_t count;
	size_t capacity;
	uint64_t main_interpreter;
};

void pytstate_list_clear(struct pytstate_list *list);
/* Replaces what the list held. -1 and a sentence: the lists make no sense. */
int pytstate_list_read(struct pytstate_list *list, struct memory *memory,
		       const struct cpython *python, struct error *error);
/* Whether what is at its address is that state still, by the snapshot. */
bool pytstate_is_there(const struct pytstate *state, struct memory *memory,
		       const struct cpython *python);

#endif
