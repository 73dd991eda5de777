/*
 * origin: what a process was started with and from: its command line, the variables of its
 * environment that change how torch and its libraries work, its limits, and the commit of its
 * script's folder. All values come from outside; secrets in them are masked (base/secret.h).
 */
#ifndef BACKENDS_DISCOVER_ORIGIN_H
#define BACKENDS_DISCOVER_ORIGIN_H

#include <jansson.h>

struct process;
struct procfs;

/*
 * Returns a new object, as in docs/protocol.md (`evidence`); what cannot be read is absent. Reads
 * the command line, environment and limits in /proc/PID, and files of git (gitrepository-layout(5))
 * as the process sees them.
 */
json_t *origin_read(struct procfs *procfs, const struct process *process);

#endif
