/*
 * c-call: what a thread waits for in a C function, by the function's name as in a sample:
 * "torch._C._distributed_c10d.Work.wait", "_thread.lock.acquire".
 */
#ifndef MODEL_C_CALL_H
#define MODEL_C_CALL_H

#include <stdbool.h>

#include "model/activity.h"

struct c_call {
	enum activity_kind kind; /* ACTIVITY_UNKNOWN: the table has no such function */
	/* the function waits for other ranks, whatever the frames around the call do */
	bool is_collective;
	bool is_polling; /* as of struct activity */
	char name[64];	 /* as said to a person: "Work.wait", "Lock.acquire", "open" */
};

/* Describes a call of a sample. */
struct c_call c_call_find(const char *call);

#endif
