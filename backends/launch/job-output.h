/*
 * job-output: what the job's terminal got, on its way to the screen as `output`
 * events of category `job`, no more at a time than that takes.
 */
#ifndef BACKENDS_LAUNCH_JOB_OUTPUT_H
#define BACKENDS_LAUNCH_JOB_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job_output;
struct node;

/* has_room() is called now and then while it is not full, at least when it was. */
struct job_output *job_output_new(struct node *node, void (*has_room)(void *data), void *data);
void job_output_free(struct job_output *output);
void job_output_add(struct job_output *output, const char *bytes, size_t length);
/* So many bytes are missing here; file: they are there; NULL: nowhere. */
void job_output_leave_out(struct job_output *output, uint64_t count, const char *file);
/* Nothing should be added now. */
bool job_output_is_full(const struct job_output *output);
/* Sends what there is, before something else is told. */
void job_output_flush(struct job_output *output);

#endif
