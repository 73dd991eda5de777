/*
 * stackkey: returns a number that is equal for equal stacks of the session's ranks, even
 * on different machines.
 */
#ifndef MODEL_STACKKEY_H
#define MODEL_STACKKEY_H

#include <stdint.h>

struct session;
struct stack;

uint64_t stackkey_of(const struct session *session, const struct stack *stack);

#endif
