/*
 * process-info: fills a struct process for a process that was found to be a rank or
 * a rank's child.
 */
#ifndef BACKENDS_DISCOVER_PROCESS_INFO_H
#define BACKENDS_DISCOVER_PROCESS_INFO_H

struct process;
struct process_scan;
struct process_scan_entry;

/*
 * Fills every field of process except role. The number and job are taken from rank (rank == entry
 * for a rank itself).
 */
void process_info_describe(struct process_scan *scan, struct process_scan_entry *entry,
			   struct process_scan_entry *rank, struct process *process);

#endif
