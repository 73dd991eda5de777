/*
 * rankname: sets of ranks that the user named. The session owns them; a name stands for
 * the rank numbers it was given, even if those ranks end.
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

/* True for 1 to RANKNAME_LENGTH letters, digits, "_", "-" and ".". */
bool rankname_is_valid(const char *name);
/* Names a copy of a set, and replaces an older set of that name. -1 and *error. */
int rankname_set(struct session *session, const char *name, const struct rankset *ranks,
		 struct error *error);
/* Returns the borrowed set; NULL: no such name. */
const struct rankset *rankname_find(const struct session *session, const char *name);
void rankname_clear_all(struct session *session);

#endif
