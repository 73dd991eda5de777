/*
 * names: how an expression of the frame that is looked at can go on: its
 * variables, and the attributes of what is known of them. What is not known
 * yet is named, to be asked for.
 */
#ifndef UI_NAMES_H
#define UI_NAMES_H

#include <stdint.h>

struct session;

struct names_query {
	uint64_t address; /* its children are not known; 0: nothing lacks */
};

/*
 * Gives each text that an expression which ends in word can end in instead, and
 * what lacks to know more.
 */
struct names_query names_find(const struct session *session, const char *word,
			      void (*give)(void *data, const char *text), void *data);

#endif
