/*
 * evidence: what is known of a rank besides its stacks, also after it has
 * ended: the version of torch, memory, its control group, and the error file
 * that torchrun has told it to write when it raises.
 *
 * What was asked once is remembered, with a descriptor of the error file's
 * folder: the file is written last of all, and when the process is gone there
 * is no way to its root any more. Nothing else of its environment is read.
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
/* The body of the answer about those processes; with the kernel's log. */
json_t *evidence_make(struct evidence *evidence, const struct pid_list *pids, bool has_kernel);

#endif
