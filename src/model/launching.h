/*
 * launching: the job that a node started: its state, and the output of its terminal.
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
	struct launched job; /* state LAUNCHED_NONE: no job was started */
	size_t node;
	struct transcript transcript;
};

void launching_init(struct launching *launching);
void launching_clear(struct launching *launching);

/* True if a process of the job is alive, as far as known. */
bool launching_is_alive(const struct session *session);
/* Appends "train.sh has ended with exit code 3"; nothing if no job was started. */
void launching_append(struct buffer *out, const struct session *session);

/* Handles the event `job` for session_apply. */
int session_apply_job(struct session *session, size_t node, const json_t *body,
		      struct error *error);
/* Handles an event `output` of category `job`. */
void session_apply_job_output(struct session *session, const json_t *body);

#endif
