#include "protocol/launched.h"

#include <limits.h>
#include <stddef.h>

#include "banned.h"
#include "base/array.h"
#include "protocol/field.h"

#define TEXT_MAXIMUM 4096
#define SIZE_MAXIMUM 65535

static const char *const state_names[] = {
	[LAUNCHED_NONE] = "none",
	[LAUNCHED_RUNNING] = "running",
	[LAUNCHED_ENDED] = "ended",
	[LAUNCHED_LOST] = "lost",
};

#define AT(member) offsetof(struct launched, member)

/* clang-format off */
static const struct field fields[] = {
	{ "state", FIELD_ENUM, AT(state), -1, 0, LAUNCHED_LOST, state_names },
	{ "pid", FIELD_INT, AT(pid), 0, 0, INT_MAX, NULL },
	{ "program", FIELD_TEXT, AT(program), 0, 0, TEXT_MAXIMUM, NULL },
	{ "terminal", FIELD_TEXT, AT(terminal), 0, 0, TEXT_MAXIMUM, NULL },
	{ "log", FIELD_TEXT, AT(log), 0, 0, TEXT_MAXIMUM, NULL },
	{ "error", FIELD_TEXT, AT(error), 0, 0, TEXT_MAXIMUM, NULL },
	{ "exit_code", FIELD_INT, AT(exit_code), -1, 0, 255, NULL },
	{ "exit_signal", FIELD_INT, AT(exit_signal), 0, 0, 127, NULL },
	{ "has_others", FIELD_BOOL, AT(has_others), 0, 0, 0, NULL },
	{ "rows", FIELD_INT, AT(rows), 0, 0, SIZE_MAXIMUM, NULL },
	{ "columns", FIELD_INT, AT(columns), 0, 0, SIZE_MAXIMUM, NULL },
};
/* clang-format on */

static const struct field_table table = {
	.what = "job",
	.fields = fields,
	.count = ARRAY_LENGTH(fields),
};

void launched_init(struct launched *launched)
{
	*launched = (struct launched){ .exit_code = -1 };
}

void launched_clear(struct launched *launched)
{
	field_clear(&table, launched);
	launched_init(launched);
}

json_t *launched_to_json(const struct launched *launched)
{
	json_t *json = json_object();

	field_write(&table, launched, json);
	return json;
}

int launched_from_json(struct launched *launched, const json_t *json, struct error *error)
{
	launched_clear(launched);
	return field_read(&table, launched, json, error);
}
