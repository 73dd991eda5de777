/*
 * pytstate: the thread states of all interpreters of a process, from CPython's lists, read through
 * memory's snapshot. If a thread state does not point back to its interpreter, the list is
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
struct pyreader;

struct pytstate {
	uint64_t address;
	uint64_t interpreter;
	int number;	/* id of the interpreter; 0: main interpreter */
	uint64_t ident; /* pthread_t; threading calls it ident */
	pid_t tid;	/* tid in the process's own pid namespace */
};

struct pytstate_list {
	struct pytstate *items;
	size_t count;
	size_t capacity;
	uint64_t main_interpreter;
};

void pytstate_list_clear(struct pytstate_list *list);
/* Replaces the contents of list. Returns -1 and sets error if CPython's lists are malformed,
 * unreadable or empty. */
int pytstate_list_read(struct pytstate_list *list, struct memory *memory,
		       const struct cpython *python, struct error *error);
/* Returns true if the thread state still exists at its address in memory's snapshot. */
bool pytstate_is_there(const struct pytstate *state, struct memory *memory,
		       const struct cpython *python);

/*
 * pygil: the thread state that holds an interpreter's GIL, and the lock's address, by which a
 * thread that waits for the GIL is recognised.
 */

struct pygil {
	uint64_t interpreter;
	uint64_t address; /* address of the lock, which several interpreters may share */
	uint64_t holder;  /* thread state that holds the GIL; 0: none */
	bool is_known;
	bool is_collecting; /* the garbage collector runs */
	int failure;	    /* errno of a read that failed; 0: none */
};

/* Reads the present state of the GIL (bypassing memory's snapshot). */
void pygil_read(struct pygil *gil, struct memory *memory, const struct cpython *python,
		uint64_t interpreter);
/* Returns true if the futex word at address is part of the lock. */
bool pygil_contains(const struct pygil *gil, const struct cpython *python, uint64_t address);

/*
 * pythread: the names of threads in the module threading (threading._active and Thread._name,
 * Lib/threading.py).
 */

/*
 * Calls each() for every named thread. ident: the thread's pthread_t, which is the thread state's
 * thread_id; name: UTF-8, valid during the call. Returns the number of named threads; -1: the
 * module threading is not imported, or its table is unreadable.
 */
int pythread_names(struct pyreader *reader, uint64_t interpreter,
		   void (*each)(uint64_t ident, const char *name, void *data), void *data);

#endif
