/*
 * evidence: facts about a rank besides its stacks, also after its exit: version
 * of torch, resident memory, control group, and the error file that torchrun has
 * the rank write when it raises (TORCHELASTIC_ERROR_FILE).
 *
 * A rank that was asked about once is remembered, with a descriptor of the error
 * file's folder: the rank writes the file just before it exits, and /proc/PID/root
 * is gone after the exit. No other variable of the environment is read.
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
/* Returns the answer's body about the processes; has_kernel: with lines of the kernel's log. */
json_t *evidence_make(struct evidence *evidence, const struct pid_list *pids, bool has_kernel);

#endif
