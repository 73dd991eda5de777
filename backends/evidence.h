/*
 * evidence: facts about a rank besides its stacks, even after its exit: the version of torch,
 * resident memory, the control group, the error file (TORCHELASTIC_ERROR_FILE) that a rank of
 * torchrun writes when it raises, and the end of its standard error if that is a file.
 *
 * After the first request about a rank, a descriptor of the error file's folder is kept open: the
 * rank writes the file just before it exits, and /proc/PID/root is gone after the exit. No other
 * variable of the environment is read.
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
 * Returns the body of the answer to a request about the processes. has_output: includes the end of
 * the standard error, and the last printed line, of processes that are alive; has_kernel: includes
 * lines of the kernel's log.
 */
json_t *evidence_make(struct evidence *evidence, const struct pid_list *pids, bool has_output,
		      bool has_kernel);

#endif
