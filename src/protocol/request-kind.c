#include "protocol/request-kind.h"

#include <string.h>

#include "banned.h"

enum request_effect { READS, CHANGES };

struct row {
	const char *name;
	enum request_effect effect;
	bool is_inner; /* not on the pipe */
};

static const struct row rows[] = {
#define REQUEST(kind, name, effect, ...) [REQUEST_##kind] = { name, effect, false },
#define INNER_REQUEST(kind, name, effect, ...) [REQUEST_##kind] = { name, effect, true },
#define NODE_REQUEST(kind, name, effect, ...) [REQUEST_##kind] = { name, effect, false },
#include "protocol/requests.def"
};

const char *request_kind_name(enum request_kind kind)
{
	return rows[kind].name;
}

enum request_kind request_kind_find(const char *name)
{
	int kind = 0;

	while (kind < REQUEST_KIND_COUNT &&
	       (rows[kind].is_inner || strcmp(rows[kind].name, name) != 0))
		kind++;
	return (enum request_kind)kind;
}

bool request_kind_changes(enum request_kind kind)
{
	return rows[kind].effect == CHANGES;
}
