/*
 * job-output: sends the output of the job's terminal as `output` events of category
 * `job`, not faster than the pipe takes them.
 */
#ifndef BACKENDS_LAUNCH_JOB_OUTPUT_H
#define BACKENDS_LAUNCH_JOB_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct job_output;
struct node;

/* has_room() is called after events were sent, if the output is not full (any more). */
struct job_output *job_output_new(struct node *node, void (*has_room)(void *data), void *data);
void job_output_free(struct job_output *output);
/* Adds output of the terminal; NULs are dropped. */
void job_output_add(struct job_output *output, const char *bytes, size_t length);
/* Adds a note that count bytes are missing here; file: the file that has them; NULL: none. */
void job_output_leave_out(struct job_output *output, uint64_t count, const char *file);
/* True: add nothing until has_room() is called. */
bool job_output_is_full(const struct job_output *output);
/* Sends all text now; call it before an event that must come after the output. */
void job_output_flush(struct job_output *output);

#endif
