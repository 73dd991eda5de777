/*
 * kernellog: what the kernel's log says of processes it killed because there
 * was no memory. Read without waiting, as far as it is kept; only lines about
 * the processes or the control groups that are asked for. The format is that
 * of Documentation/ABI/testing/dev-kmsg.
 */
#ifndef BACKENDS_KERNELLOG_H
#define BACKENDS_KERNELLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct error;

struct kernellog_calls {
	/* Whether a line about this process, or that names this text, counts.*/
	bool (*is_ours)(pid_t pid, const char *text, void *data);
	/* ago: seconds. */
	void (*found)(double ago, const char *text, void *data);
	void *data;
};

/* -1 and a sentence when the log cannot be read. */
int kernellog_read(const struct kernellog_calls *calls, struct error *error);
/* For tests: one record. */
void kernellog_take(const struct kernellog_calls *calls, const char *record,
		    double now);

#endif
