/*
 * callees: addresses of the functions that are called in a process.
 */
#ifndef BACKENDS_INJECT_CALLEES_H
#define BACKENDS_INJECT_CALLEES_H

#include <stdint.h>

struct cpython;
struct error;
struct memory;

struct callees {
	/* In the interpreter: */
	uint64_t run;	       /* PyRun_SimpleString */
	uint64_t add_pending;  /* Py_AddPendingCall */
	uint64_t start_thread; /* PyThread_start_new_thread */
	uint64_t take_gil;     /* PyGILState_Ensure */
	uint64_t leave_gil;    /* PyGILState_Release */
	/* In the C library: */
	uint64_t unmap; /* munmap */
	uint64_t send;	/* raise */
};

/* Finds all of them. -1: one is not exported, error is set. */
int callees_find(struct callees *callees, struct memory *memory, const struct cpython *python,
		 struct error *error);

#endif
