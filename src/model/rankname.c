#include "model/rankname.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "model/session.h"

bool rankname_is_valid(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-.";
	size_t length = strlen(name);

	return length > 0 && length <= RANKNAME_LENGTH &&
	       strspn(name, letters) == length;
}

static struct rankname *find(const struct session *session, const char *name)
{
	for (size_t i = 0; i < session->name_count; i++) {
		if (strcmp(session->names[i].name, name) == 0)
			return &session->names[i];
	}
	return NULL;
}

int rankname_set(struct session *session, const char *name,
		 const struct rankset *ranks, struct error *error)
{
	struct rankname *named = find(session, name);

	if (!rankname_is_valid(name))
		return error_set(error,
				 "'%.40s' is no name for a set; it has up to "
				 "%d letters, digits, '_', '-' or '.'",
				 name, RANKNAME_LENGTH);
	if (!named && session->name_count >= RANKNAMES_MAXIMUM)
		return error_set(error,
				 "%d sets have names; give one of them "
				 "anew",
				 RANKNAMES_MAXIMUM);
	if (!named) {
		session->names = xrealloc(session->names,
					  (session->name_count + 1) *
						  sizeof(struct rankname));
		named = &session->names[session->name_count++];
		*named = (struct rankname){ .name = xstrdup(name) };
	}
	rankset_copy(&named->ranks, ranks);
	return 0;
}

const struct rankset *rankname_find(const struct session *session,
				    const char *name)
{
	const struct rankname *named = find(session, name);

	return named ? &named->ranks : NULL;
}

void rankname_clear_all(struct session *session)
{
	for (size_t i = 0; i < session->name_count; i++) {
		free(session->names[i].name);
		rankset_clear(&session->names[i].ranks);
	}
	free(session->names);
	session->names = NULL;
	session->name_count = 0;
}
