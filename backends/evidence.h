/*
 * evidence: facts about a rank besides its stacks, even after its exit: what it was started with
 * (origin.h), the version of torch, resident memory, the control group, the error file
 * (TORCHELASTIC_ERROR_FILE) that a rank of torchrun writes when it raises, and the end of what it
 * has printed to files; and, while it is alive, the free space where it writes.
 *
 * After the first request about a rank, a descriptor of the error file's folder is kept open: the
 * rank writes the file just before it exits, and /proc/PID/root is gone after the exit.
 */
#ifndef BACKENDS_EVIDENCE_H
#define BACKENDS_EVIDENCE_H

#include <jansson.h>
#include <stdbool.h>

struct evidence;
struct node;
struct pid_list;

struct evidence *evidence_new(struct node *node);
void evidence_free(struct evidence *evidence);
/*
 * Returns the body of the answer to a request about the processes. has_output: includes, of
 * processes that are alive, the end of the standard error, the last printed line, and the file
 * systems; has_kernel: includes lines of the kernel's log.
 */
json_t *evidence_make(struct evidence *evidence, const struct pid_list *pids, bool has_output,
		      bool has_kernel);

#endif
