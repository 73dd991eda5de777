#include "backends/backend.h"

#include "banned.h"
#include "base/error.h"

int reason_explain(const struct reason *reason, struct error *error)
{
	return error_set(error, "%s%s%s", reason->why, reason->fix[0] ? " " : "", reason->fix);
}
