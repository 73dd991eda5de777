/*
 * launching: the job that a node has started, as the session knows it: how it
 * is, and what its terminal got.
 */
#ifndef MODEL_LAUNCHING_H
#define MODEL_LAUNCHING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "model/transcript.h"
#include "protocol/launched.h"

struct buffer;
struct error;
struct session;

struct launching {
	struct launched job; /* state LAUNCHED_NONE: none was started */
	size_t node;
	struct transcript transcript;
};

void launching_init(struct launching *launching);
void launching_clear(struct launching *launching);

/* A process of it is still there, as far as is known. */
bool launching_is_alive(const struct session *session);
/* Appends "train.sh has ended with exit code 3", nothing where none was. */
void launching_append(struct buffer *out, const struct session *session);

/* For session_apply: the event `job`. */
int session_apply_job(struct session *session, size_t node, const json_t *body,
		      struct error *error);
/* An event `output` of category `job`. */
void session_apply_job_output(struct session *session, const json_t *body);

#endif
