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

#endif
