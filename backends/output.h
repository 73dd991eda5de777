/*
 * output: the request `output`: what processes print, where that goes to
 * regular files, from their last bytes on and, while it is followed, as it
 * comes. Events `output` carry it as it stands in the file, cut only between
 * characters; of a process that prints faster than anybody reads, and of a
 * reader that is slow, bytes are left out, which an event of the category
 * `important` says.
 */
#ifndef BACKENDS_OUTPUT_H
#define BACKENDS_OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>

struct message;
struct node;
struct outputs;
struct process;

struct outputs *outputs_new(struct node *node);
void outputs_free(struct outputs *outputs);
/* What it prints to can be read when it has ended. */
void outputs_remember(struct outputs *outputs, const struct process *process);
/* Answers the request about a process that has ended; false: unknown. */
bool outputs_request_ended(struct outputs *outputs, pid_t pid, const struct message *request);
/* Answers the request about process. */
void outputs_request(struct outputs *outputs, const struct process *process,
		     const struct message *request);

#endif
