/*
 * pytstate: the thread states of all interpreters of a process, from CPython's lists, read through
 * memory's snapshot. A list with a thread state that does not point back to its interpreter is
 * rejected.
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
	int number;	/* id of the interpreter; 0: main interpreter */
	uint64_t ident; /* pthread_t; threading calls it ident */
	pid_t tid;	/* in the process's own pid namespace */
};

struct pytstate_list {
	struct pytstate *items;
	size_t count;
	size_t capacity;
	uint64_t main_interpreter;
};

void pytstate_list_clear(struct pytstate_list *list);
/* Replaces the contents of list. -1 and *error: the lists are malformed or unreadable, or empty. */
int pytstate_list_read(struct pytstate_list *list, struct memory *memory,
		       const struct cpython *python, struct error *error);
/* True if the thread state still exists at its address in memory's snapshot. */
bool pytstate_is_there(const struct pytstate *state, struct memory *memory,
		       const struct cpython *python);

#endif
