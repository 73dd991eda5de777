/*
 * process-info: what is known of a process that was found to be a rank or a child
 * of one, put into a struct process.
 */
#ifndef BACKENDS_DISCOVER_PROCESS_INFO_H
#define BACKENDS_DISCOVER_PROCESS_INFO_H

struct process;
struct process_scan;
struct process_scan_entry;

/*
 * Fills all of process (made by process_init) but its role; its number and
 * its job are those of rank, which is entry itself when that is a rank.
 */
void process_info_describe(struct process_scan *scan, struct process_scan_entry *entry,
			   struct process_scan_entry *rank, struct process *process);

#endif
