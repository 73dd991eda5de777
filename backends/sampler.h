/*
 * sampler: the request `sample`, once or again and again.
 *
 * A request for many processes becomes one request for each connection, with
 * a number below zero; the last answer to them answers the request. What
 * cannot be read is a sample of the thread that its debugger has stopped, or
 * one with an error.
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
void sampler_request(struct sampler *sampler, const struct message *request);
/* Samples one process now, unasked, for what is reported of it next. */
void sampler_take(struct sampler *sampler, pid_t pid);
/* A connection's answer to the part with this number; error NULL: done. */
void sampler_answered(struct sampler *sampler, int64_t seq, const char *error);

#endif
