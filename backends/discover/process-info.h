/*
 * process-info: fills a struct process for a process that was found to be a rank or
 * a rank's child.
 */
#ifndef BACKENDS_DISCOVER_PROCESS_INFO_H
#define BACKENDS_DISCOVER_PROCESS_INFO_H

#include <stdbool.h>
#include <stddef.h>

struct process;
struct process_scan;
struct process_scan_entry;
struct stack;

/*
 * Fills every field of *process except role with the facts about entry. The rank number and the job
 * are those of `rank`: entry itself, or the rank whose child entry is.
 */
void process_info_describe(struct process_scan *scan, struct process_scan_entry *entry,
			   struct process_scan_entry *rank, struct process *process);

/*
 * command_line: the script and the launcher in the command line of a Python process.
 */

struct command_line {
	char script[256];     /* "train.py", "-m package", "-c"; "": unknown */
	const char *path;     /* the script as typed, within words; NULL: none */
	const char *program;  /* script, module or code as typed, within words; NULL: none */
	const char *launcher; /* "torchrun" …; static; NULL: no known launcher */
};

/* words: argv of a Python process; words[0] is skipped. words must outlive *line, which points into
 * words. */
void command_line_parse(struct command_line *line, const char *const *words, size_t count);

/*
 * child_kind: the role of a rank's child process, derived from the source files of its frames.
 */

/* Returns "dataloader", "compile" or "checkpoint"; NULL: unknown. */
const char *child_kind_of_stack(const struct stack *stack);

#endif
