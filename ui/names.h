/*
 * names: completions of an expression in the selected frame: its variables, and the attributes of
 * objects whose variables are known. An object that is not known yet is returned, so that the
 * caller can request its variables.
 */
#ifndef UI_NAMES_H
#define UI_NAMES_H

#include <stdint.h>

struct session;

struct names_query {
	uint64_t address; /* of an object whose variables are missing; 0: none is missing */
};

/*
 * Calls give() with each text that can replace word, and returns the object whose variables are
 * missing.
 */
struct names_query names_find(const struct session *session, const char *word,
			      void (*give)(void *data, const char *text), void *data);

#endif
