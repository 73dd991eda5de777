/*
 * reason: two sentences: why something cannot be done, and what would help.
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
/* Sets both sentences as one error. Always returns -1. */
int reason_explain(const struct reason *reason, struct error *error);

#endif
