#include "model/rankname.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "model/session.h"

bool rankname_is_valid(const char *name)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
	size_t length = strlen(name);

	return length > 0 && length <= RANKNAME_LENGTH && strspn(name, letters) == length;
}

static struct rankname *find(const struct session *session, const char *name)
{
	for (size_t i = 0; i < session->choice.name_count; i++) {
		if (strcmp(session->choice.names[i].name, name) == 0)
			return &session->choice.names[i];
	}
	return NULL;
}

int rankname_set(struct session *session, const char *name, const struct rankset *ranks,
		 struct error *error)
{
	struct rankname *named = find(session, name);

	if (!rankname_is_valid(name))
		return error_set(error,
				 "'%.40s' is no name for a set; it has up to %d letters, digits, "
				 "'_', '-' or '.'",
				 name, RANKNAME_LENGTH);
	if (!named && session->choice.name_count >= RANKNAMES_MAXIMUM)
		return error_set(error, "%d sets have names; give one of them anew",
				 RANKNAMES_MAXIMUM);
	if (!named) {
		session->choice.names =
			xrealloc(session->choice.names,
				 (session->choice.name_count + 1) * sizeof(struct rankname));
		named = &session->choice.names[session->choice.name_count++];
		*named = (struct rankname){ .name = xstrdup(name) };
	}
	rankset_copy(&named->ranks, ranks);
	return 0;
}

const struct rankset *rankname_find(const struct session *session, const char *name)
{
	const struct rankname *named = find(session, name);

	return named ? &named->ranks : NULL;
}

void rankname_clear_all(struct session *session)
{
	for (size_t i = 0; i < session->choice.name_count; i++) {
		free(session->choice.names[i].name);
		rankset_clear(&session->choice.names[i].ranks);
	}
	free(session->choice.names);
	session->choice.names = NULL;
	session->choice.name_count = 0;
}
