/*
 * callees: the functions of a process that are called in it.
 */
#ifndef BACKENDS_INJECT_CALLEES_H
#define BACKENDS_INJECT_CALLEES_H

#include <stdint.h>

struct cpython;
struct error;
struct memory;

struct callees {
	/* Of the interpreter. */
	uint64_t run;	       /* PyRun_SimpleString */
	uint64_t add_pending;  /* Py_AddPendingCall */
	uint64_t start_thread; /* PyThread_start_new_thread */
	uint64_t take_gil;     /* PyGILState_Ensure */
	uint64_t leave_gil;    /* PyGILState_Release */
	/* Of the C library. */
	uint64_t unmap;
	uint64_t send; /* raise */
};

/* -1 and a sentence: one of them is not exported. */
int callees_find(struct callees *callees, struct memory *memory, const struct cpython *python,
		 struct error *error);

#endif
