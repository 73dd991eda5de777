#include "protocol/breakpoint.h"

#include <limits.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/error.h"
#include "protocol/field.h"

#define TEXT_MAXIMUM 4096

#define AT(member) offsetof(struct breakpoint, member)

/* clang-format off */
static const struct field breakpoint_fields[] = {
	{ "id", FIELD_INT, AT(id), 0, 1, INT_MAX, NULL },
	{ "path", FIELD_TEXT, AT(path), 0, 0, TEXT_MAXIMUM, NULL },
	{ "line", FIELD_INT, AT(line), 0, 1, INT_MAX, NULL },
	{ "function", FIELD_TEXT, AT(function), 0, 0, TEXT_MAXIMUM, NULL },
	{ "watch", FIELD_TEXT, AT(watch), 0, 0, TEXT_MAXIMUM, NULL },
	{ "depth", FIELD_INT, AT(depth), 0, 0, INT_MAX, NULL },
	{ "nan", FIELD_BOOL, AT(is_nan), 0, 0, 0, NULL },
	{ "condition", FIELD_TEXT, AT(condition), 0, 0, TEXT_MAXIMUM, NULL },
	{ "log", FIELD_TEXT, AT(log), 0, 0, TEXT_MAXIMUM, NULL },
	{ "ignore", FIELD_INT, AT(ignore), 0, 0, INT_MAX, NULL },
	{ "disabled", FIELD_BOOL, AT(is_disabled), 0, 0, 0, NULL },
	{ "temporary", FIELD_BOOL, AT(is_temporary), 0, 0, 0, NULL },
};
/* clang-format on */

static const struct field_table breakpoint_table = {
	.what = "breakpoint",
	.fields = breakpoint_fields,
	.count = ARRAY_LENGTH(breakpoint_fields),
};

void breakpoint_clear(struct breakpoint *breakpoint)
{
	field_clear(&breakpoint_table, breakpoint);
	*breakpoint = (struct breakpoint){ .id = 0 };
}

void breakpoint_copy(struct breakpoint *to, const struct breakpoint *from)
{
	if (to == from)
		return;
	breakpoint_clear(to);
	field_copy(&breakpoint_table, to, from);
}

json_t *breakpoint_to_json(const struct breakpoint *breakpoint)
{
	json_t *json = json_object();

	field_write(&breakpoint_table, breakpoint, json);
	return json;
}

int breakpoint_from_json(struct breakpoint *breakpoint, const json_t *json, struct error *error)
{
	if (field_read(&breakpoint_table, breakpoint, json, error) < 0)
		return -1;
	if (breakpoint->id == 0)
		return error_set(error, "breakpoint: \"id\" is missing");
	if ((breakpoint->function != NULL) + (breakpoint->watch != NULL) +
		    (breakpoint->path && breakpoint->line) !=
	    1)
		return error_set(
			error,
			"breakpoint %d: it takes a path and a line, a function, or what to watch",
			breakpoint->id);
	return 0;
}

int breakpoints_check(const json_t *list, struct error *error)
{
	struct breakpoint breakpoint = { .id = 0 };
	size_t count = json_array_size(list);
	int result = 0;

	if (!json_is_array(list) || count > BREAKPOINTS_MAXIMUM)
		return error_set(error, "\"breakpoints\" is not a list of at most %d",
				 BREAKPOINTS_MAXIMUM);
	for (size_t i = 0; i < count && result == 0; i++) {
		result = breakpoint_from_json(&breakpoint, json_array_get(list, i), error);
		breakpoint_clear(&breakpoint);
	}
	return result;
}
