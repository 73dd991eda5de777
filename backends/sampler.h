/*
 * sampler: serves the request `sample`: takes samples once or periodically.
 *
 * A request for many processes becomes one request of the node itself per process
 * (node_expect()); the last of their answers completes the request. For a process that
 * cannot be read, a sample of the thread that its debugger has stopped is sent, or
 * a sample with an error.
 */
#ifndef BACKENDS_SAMPLER_H
#define BACKENDS_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct message;
struct node;
struct process_sample;
struct sampler;
struct stack_files;

struct sampler *sampler_new(struct node *node);
void sampler_free(struct sampler *sampler);
/* Takes samples now. If the request has a period, also starts the timer, or stops it if the period
 * is 0. */
void sampler_request(struct sampler *sampler, const struct message *request);
/* Samples one process now, without a request, because the process's next event needs a fresh
 * sample. */
void sampler_take(struct sampler *sampler, pid_t pid);

/*
 * stack_files: the paths of the source files in the stacks of one process. The request `source`
 * reads only these files, so that a client cannot read other files of the machine.
 */

struct stack_files *stack_files_new(void);
void stack_files_free(struct stack_files *files);
/* Adds the files of a sample; a stack that was added before is skipped. */
void stack_files_note(struct stack_files *files, const struct process_sample *sample);
/* Forgets all files and stacks; to be called when the table of stacks was replaced, since the ids
 * of stacks then begin again. */
void stack_files_reset(struct stack_files *files);
bool stack_files_has(const struct stack_files *files, const char *path);
size_t stack_files_count(const struct stack_files *files);
void stack_files_each(const struct stack_files *files, void (*each)(const char *path, void *data),
		      void *data);

#endif
