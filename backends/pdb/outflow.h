/*
 * outflow: text of a process on its way to the screen as `output` events of
 * one category: collected for a moment, and no more of it in a quarter of a
 * second than the other side can use. What is too much is left out, the oldest
 * first.
 */
#ifndef BACKENDS_PDB_OUTFLOW_H
#define BACKENDS_PDB_OUTFLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct node;
struct outflow;

/* category: a string that stays; maximum: bytes in a quarter of a second. */
struct outflow *outflow_new(struct node *node, pid_t pid, const char *category, size_t maximum);
/* What was collected is sent. */
void outflow_free(struct outflow *outflow);
void outflow_add(struct outflow *outflow, const char *bytes, size_t length);
/* Sends what there is, as far as it may, before something else is told. */
void outflow_flush(struct outflow *outflow);
/* Drops what was not sent; the next event says that it is the first. */
void outflow_restart(struct outflow *outflow);

#endif
