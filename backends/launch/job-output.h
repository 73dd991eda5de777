/*
 * job-output: what the job's terminal got, on its way to the screen as `output`
 * events of category `job`, no more at a time than that takes.
 */
#ifndef BACKENDS_LAUNCH_JOB_OUTPUT_H
#define BACKENDS_LAUNCH_JOB_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jobout;
struct node;

/* has_room() is called now and then while it is not full, at least when it was. */
struct jobout *jobout_new(struct node *node, void (*has_room)(void *data), void *data);
void jobout_free(struct jobout *jobout);
void jobout_add(struct jobout *jobout, const char *bytes, size_t length);
/* So many bytes are missing here; file: they are there; NULL: nowhere. */
void jobout_leave_out(struct jobout *jobout, uint64_t count, const char *file);
/* Nothing should be added now. */
bool jobout_is_full(const struct jobout *jobout);
/* Sends what there is, before something else is told. */
void jobout_flush(struct jobout *jobout);

#endif
