#include "base/reason.h"

#include <stdio.h>

#include "banned.h"
#include "base/error.h"

bool reason_set(struct reason *reason, const char *why, const char *fix)
{
	snprintf(reason->why, sizeof(reason->why), "%s", why);
	snprintf(reason->fix, sizeof(reason->fix), "%s", fix);
	return false;
}

int reason_explain(const struct reason *reason, struct error *error)
{
	return error_set(error, "%s%s%s", reason->why, reason->fix[0] ? " " : "", reason->fix);
}
