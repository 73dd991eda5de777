/*
 * rankname: sets of ranks that a person gave a name. The session owns them; a
 * name stands for the ranks that it was given, whatever these do later.
 */
#ifndef MODEL_RANKNAME_H
#define MODEL_RANKNAME_H

#include <stdbool.h>

#include "protocol/rankset.h"

#define RANKNAME_LENGTH 32
#define RANKNAMES_MAXIMUM 256

struct error;
struct session;

struct rankname {
	char *name;
	struct rankset ranks;
};

/* Letters, digits, "_", "-" and "."; RANKNAME_LENGTH of them at most. */
bool rankname_is_valid(const char *name);
/* Gives a set a name, in the place of what had it. */
int rankname_set(struct session *session, const char *name, const struct rankset *ranks,
		 struct error *error);
/* Lends; NULL: nothing is called so. */
const struct rankset *rankname_find(const struct session *session, const char *name);
void rankname_clear_all(struct session *session);

#endif
