/*
 * inject-attach: stops the main thread of a process, and makes the thread map the page of the
 * trampoline and call one function with that page as its argument (inject.h).
 *
 * If the thread waits in a system call that no memory allocator waits in, the function is
 * PyThread_start_new_thread(), which allocates. Elsewhere the function is Py_AddPendingCall(),
 * which takes one lock and allocates nothing. In the dynamic linker, no function is called.
 */
#ifndef BACKENDS_INJECT_INJECT_ATTACH_H
#define BACKENDS_INJECT_INJECT_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/inject/inject.h"
#include "backends/inject/remote-call.h"
#include "backends/linux/maps.h"
#include "backends/tracer/freezer.h"

struct cpython;
struct error;
struct freezer;
struct memory;

enum inject_attach_result {
	INJECT_ATTACH_DONE,
	INJECT_ATTACH_LATER, /* not possible at this instruction or system call */
	INJECT_ATTACH_FAILED,
};

struct inject_attach {
	struct memory *memory; /* borrowed, like python and text */
	const struct cpython *python;
	const char *text; /* Python code to run */
	bool is_for_main; /* run the code in the main thread only, even if the main thread waits
			   * for long */
	struct callees callees;
	struct remote_call_places places;
	struct remote_call remote;
	struct remote_call_watch watch;
	int file; /* descriptor of /proc/PID/mem; -1: not opened */
	struct maps maps;
	uint64_t interpreter; /* PyInterpreterState of the main interpreter */
	uint64_t state;	      /* PyThreadState of the main thread; 0: none */
	struct freeze hold;   /* the ptrace-stop of the main thread */
	uint64_t page;	      /* address of the trampoline; 0: none */
	struct inject_cost cost;
};

/* Returns 0, or -1 and sets error. inject_attach_clear() must be called in both cases. */
int inject_attach_init(struct inject_attach *attach, struct memory *memory,
		       const struct cpython *python, const char *text, struct error *error);
/* If a stop of the thread is still pending, `holds` takes the thread over. */
void inject_attach_clear(struct inject_attach *attach, struct freezer *holds);
/*
 * Stops the thread once, normally for less than a millisecond, and tries to inject. After
 * INJECT_ATTACH_FAILED, the process is as before.
 */
enum inject_attach_result inject_attach_try(struct inject_attach *attach, struct error *error);
/* Whether the page is still mapped; false: the script has run and the page has unmapped itself. */
bool inject_attach_is_pending(const struct inject_attach *attach);
/* Empties the text of a script that has not begun, so that nothing runs. Returns false if the
 * script has run already. */
bool inject_attach_withdraw(struct inject_attach *attach);

#endif
