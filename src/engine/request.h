/*
 * request: one question to a node and, once it came, the answer. The engine
 * owns them (engine_ask, engine_take_answer).
 */
#ifndef ENGINE_REQUEST_H
#define ENGINE_REQUEST_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct engine;

struct request {
	int64_t seq;
	bool is_answered;
	bool is_success;
	char *error;  /* why it failed */
	json_t *body; /* NULL: not answered */
};

bool request_is_answered(const struct engine *engine, int64_t seq);
void requests_clear(struct engine *engine);
/* How long a node may take over it, where we wait so many seconds. */
double request_limit(double seconds);
/* The same as its argument `timeout`; who looks at a screen may wait on. */
void request_set_timeout(json_t *arguments, const struct engine *engine, double seconds);

#endif
