/*
 * process-info: what is known of a process that was found to be a rank or a child
 * of one, put into a struct process.
 */
#ifndef BACKENDS_DISCOVER_PROCESS_INFO_H
#define BACKENDS_DISCOVER_PROCESS_INFO_H

struct process;
struct scan;
struct scan_entry;

/*
 * Fills all of process (made by process_init) but its role; its number and
 * its job are those of rank, which is entry itself when that is a rank.
 */
void describe(struct scan *scan, struct scan_entry *entry, struct scan_entry *rank,
	      struct process *process);

#endif
