/*
 * sampler: the request `sample`, once or periodically.
 *
 * A request for many processes becomes one inner request per process, with a seq
 * below zero; the last of their answers completes the request. For a process that
 * cannot be read, a sample of the thread that its debugger has stopped is sent, or
 * a sample with an error.
 */
#ifndef BACKENDS_SAMPLER_H
#define BACKENDS_SAMPLER_H

#include <stdint.h>
#include <sys/types.h>

struct message;
struct node;
struct sampler;

struct sampler *sampler_new(struct node *node);
void sampler_free(struct sampler *sampler);
/* Serves `sample`: takes samples now, and with a period sets or (0) stops the timer. */
void sampler_request(struct sampler *sampler, const struct message *request);
/* Samples one process now, without a request: its next event needs a fresh sample. */
void sampler_take(struct sampler *sampler, pid_t pid);
/* Called with a connection's answer to the inner request seq; error NULL: success. */
void sampler_answered(struct sampler *sampler, int64_t seq, const char *error);

#endif
