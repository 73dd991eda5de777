/*
 * perf-breakpoint: hardware watches on a thread of another process, set through
 * perf_event_open(2) with sigtrap (Linux 5.13), which last as long as this process.
 */
#ifndef BACKENDS_TRACER_PERF_BREAKPOINT_H
#define BACKENDS_TRACER_PERF_BREAKPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_event_attr;
struct reason;

/*
 * Fills in the attributes of a watch of length bytes (1, 2, 4 or 8) at address;
 * type is HW_BREAKPOINT_… of linux/hw_breakpoint.h. The watch is of one thread,
 * and ends at an exec.
 */
void perf_breakpoint_fill(struct perf_event_attr *attributes, uint64_t address, int length,
			  uint32_t type);
/* The watch's descriptor, or -1 with errno. */
int perf_breakpoint_open(pid_t tid, const struct perf_event_attr *attributes);

/*
 * Whether watches can be set: one is made, disabled, on the main thread of the
 * process and closed at once, so nothing ever stops there. False: the reason.
 */
bool perf_breakpoint_probe(pid_t pid, struct reason *reason);

#endif
