/*
 * reason: why something cannot be done, and what would help, as two sentences.
 */
#ifndef BASE_REASON_H
#define BASE_REASON_H

#include <stdbool.h>

struct error;

struct reason {
	char why[256];
	char fix[256]; /* "": nothing would help */
};

/* Always returns false. */
bool reason_set(struct reason *reason, const char *why, const char *fix);
/* Both sentences as one error. Always returns -1. */
int reason_explain(const struct reason *reason, struct error *error);

#endif
