/*
 * visit: the main thread of a process is stopped, is looked at, and is made to
 * map the stub's page and to call one function with it (inject.h).
 *
 * That function may be Py_AddPendingCall() wherever the thread is but in the
 * dynamic linker: it takes one lock of its own and asks for no memory. It may
 * be PyThread_start_new_thread(), which asks for memory, where the thread
 * waits in the kernel for what no allocator waits for.
 */
#ifndef BACKENDS_INJECT_VISIT_H
#define BACKENDS_INJECT_VISIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "backends/inject/remote-call.h"
#include "backends/inject/inject.h"
#include "backends/inject/callees.h"
#include "backends/ptrace/hold.h"
#include "backends/ptrace/maps.h"

struct cpython;
struct error;
struct holds;
struct memory;

enum visit_result {
	VISIT_DONE,
	VISIT_LATER, /* it is at no good place just now */
	VISIT_FAILED,
};

struct visit {
	struct memory *memory; /* borrowed, and so is */
	const struct cpython *python;
	const char *text; /* what is to be run */
	bool is_for_main; /* in no new thread, however long it waits */
	struct callees callees;
	struct remote_call_places places;
	struct remote_call remote;
	struct remote_call_watch watch;
	int file; /* its memory, to be written; -1: not opened */
	struct maps maps;
	uint64_t interpreter;
	uint64_t state; /* of the main thread; 0: it has none */
	struct hold hold;
	uint64_t page; /* the stub's; 0: there is none */
	struct inject_cost cost;
};

/* -1 and a sentence. It has to be cleared in any case. */
int visit_init(struct visit *visit, struct memory *memory, const struct cpython *python,
	       const char *text, struct error *error);
/* A thread that still does not stand is left to the holds. */
void visit_clear(struct visit *visit, struct holds *holds);
/*
 * Stops it once, for a millisecond at most as a rule. VISIT_FAILED: nothing is
 * left behind, and a sentence.
 */
enum visit_result visit_try(struct visit *visit, struct error *error);
/* False: the page is gone, as the script has run. */
bool visit_is_pending(const struct visit *visit);
/* What has not begun never runs. False: it is gone meanwhile. */
bool visit_withdraw(struct visit *visit);

#endif
