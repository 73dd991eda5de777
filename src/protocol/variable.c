#include "protocol/variable.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "base/secret.h"
#include "protocol/field.h"

#define NAME_MAXIMUM 1024
/* Maximum number of a frame's locals, which come in one answer; real code has fewer. */
#define VARIABLES_MAXIMUM 100000

static const char *const kind_names[] = {
	[VARIABLE_LOCAL] = "local",   [VARIABLE_CELL] = "cell", [VARIABLE_FREE] = "free",
	[VARIABLE_GLOBAL] = "global", [VARIABLE_ITEM] = "item",
};

#define AT(member) offsetof(struct variable, member)

/* clang-format off */
static const struct field variable_fields[] = {
	{ "name", FIELD_TEXT, AT(name), 0, 0, NAME_MAXIMUM, NULL },
	{ "kind", FIELD_ENUM, AT(kind), -1, 0, VARIABLE_ITEM, kind_names },
	{ "type", FIELD_TEXT, AT(type), 0, 0, NAME_MAXIMUM, NULL },
	{ "value", FIELD_TEXT, AT(value), 0, 0, VARIABLE_VALUE_MAXIMUM, NULL },
	{ "address", FIELD_HEX, AT(address), 0, 0, 0, NULL },
	{ "children", FIELD_INT64, AT(child_count), -1, 0, INT64_MAX, NULL },
};
/* clang-format on */

static const struct field_table variable_table = {
	.what = "variable",
	.fields = variable_fields,
	.count = ARRAY_LENGTH(variable_fields),
};

void variable_clear(struct variable *variable)
{
	field_clear(&variable_table, variable);
	*variable = (struct variable){ .child_count = -1 };
}

int variable_from_json(struct variable *variable, const json_t *json, struct error *error)
{
	*variable = (struct variable){ .child_count = -1 };
	if (field_read(&variable_table, variable, json, error) < 0)
		return -1;
	if (!variable->name || !variable->value)
		return error_set(error, "variable: name or value is missing");
	return 0;
}

void variable_list_clear(struct variable_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		variable_clear(&list->items[i]);
	free(list->items);
	*list = (struct variable_list){ .total = -1 };
}

struct variable *variable_list_add(struct variable_list *list)
{
	struct variable *variable;

	ARRAY_GROW(list->items, list->count, list->capacity);
	variable = &list->items[list->count++];
	*variable = (struct variable){ .child_count = -1 };
	return variable;
}

void variable_list_mask(struct variable_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct variable *variable = &list->items[i];

		if (!secret_is_in(variable->name) && !secret_is_in(variable->value))
			continue;
		free(variable->value);
		variable->value = xstrdup(SECRET_MASK);
	}
}

json_t *variable_to_json(const struct variable *variable)
{
	json_t *json = json_object();

	field_write(&variable_table, variable, json);
	/* The documented JSON has every key: unknown members are null. */
	for (size_t i = 0; i < variable_table.count; i++)
		if (!json_object_get(json, variable_fields[i].key))
			json_object_set_new(json, variable_fields[i].key, json_null());
	return json;
}

json_t *variable_list_to_json(const struct variable_list *list)
{
	json_t *json = json_object();
	json_t *items = json_array();

	for (size_t i = 0; i < list->count; i++)
		json_array_append_new(items, variable_to_json(&list->items[i]));
	json_object_set_new(json, "variables", items);
	json_object_set_new(json, "total",
			    list->total < 0 ? json_null() : json_integer(list->total));
	return json;
}

int variable_list_from_json(struct variable_list *list, const json_t *json, struct error *error)
{
	const json_t *items = json_object_get(json, "variables");
	size_t count = json_array_size(items);

	variable_list_clear(list);
	if (!json_is_array(items) || count > VARIABLES_MAXIMUM)
		return error_set(error, "variables: not an array of at most %d variables",
				 VARIABLES_MAXIMUM);
	for (size_t i = 0; i < count; i++)
		if (variable_from_json(variable_list_add(list), json_array_get(items, i), error) <
		    0)
			return -1;
	list->total = json_get_integer(json, "total", -1);
	if (list->total < 0)
		list->total = -1;
	return 0;
}

/* The rest of the file finds whether a text, like that of Python's repr(), shows all of a value. */

static bool variable_is_among(const char *const *names, size_t count, const char *name,
			      size_t length)
{
	for (size_t i = 0; i < count; i++)
		if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0)
			return true;
	return false;
}

/* True for names of constants in a repr(). */
static bool is_constant(const char *name, size_t length)
{
	static const char *const names[] = {
		"None", "True", "False", "Ellipsis", "NotImplemented", "nan", "inf", "nanj", "infj",
	};
	static const char torch[] = "torch.";

	if (variable_is_among(names, ARRAY_LENGTH(names), name, length))
		return true;
	/* torch's dtypes and layouts */
	return length >= sizeof(torch) && strncmp(name, torch, sizeof(torch) - 1) == 0;
}

/* Classes whose repr() shows all contents, or marks what is left out. */
static bool is_known_class(const char *name, size_t length)
{
	static const char *const names[] = {
		"set",
		"frozenset",
		"OrderedDict",
		"defaultdict",
		"deque",
		"Counter",
		"range",
		"slice",
		"bytearray",
		"Decimal",
		"Fraction",
		"PosixPath",
		"UUID",
		"array",
		"device",
		"torch.Size",
		"datetime.datetime",
		"datetime.date",
		"datetime.time",
		"datetime.timedelta",
		"np.float64",
		"np.float32",
		"np.float16",
		"np.int64",
		"np.int32",
		"np.int16",
		"np.int8",
		"np.uint64",
		"np.uint32",
		"np.uint16",
		"np.uint8",
		"np.bool",
	};

	return variable_is_among(names, ARRAY_LENGTH(names), name, length);
}

/* True for characters of a name, including bytes of non-ASCII letters. */
static bool variable_is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || (unsigned char)c >= 0x80;
}

/* Returns the position after the closing quote; NULL: the string does not end. */
static const char *variable_skip_string(const char *at)
{
	char quote = *at++;

	for (; *at && *at != quote; at++)
		if (*at == '\\' && at[1])
			at++;
	return *at ? at + 1 : NULL;
}

/* Skips a number like "1e-05", "0x1f" or "2j"; NULL: an ellipsis ("..") follows the digits. */
static const char *skip_number(const char *at)
{
	for (; isalnum((unsigned char)*at) || *at == '.'; at++) {
		if (*at == '.' && at[1] == '.')
			return NULL;
		if (*at == 'e' && (at[1] == '-' || at[1] == '+'))
			at++;
	}
	return at;
}

/*
 * Skips the name of a keyword argument and its =, a constant, a class name before its parenthesis,
 * or the b of bytes. NULL: the text behind the name may not show all of the value.
 */
static const char *variable_skip_name(const char *at, bool trusts_names)
{
	const char *cut = strstr(at, "\xe2\x80\xa6");
	const char *end = at;
	size_t length;

	while (variable_is_name(*end))
		end++;
	length = (size_t)(end - at);
	if (cut && cut < end)
		return NULL;
	if (*end == '=' || strncmp(end, " = ", 3) == 0)
		return end + strspn(end, " =");
	if (*end == '(')
		return trusts_names || is_known_class(at, length) ? end : NULL;
	if (length == 1 && *at == 'b' && (*end == '\'' || *end == '"'))
		return end;
	return is_constant(at, length) ? end : NULL;
}

/*
 * Skips "<class 'int'>" (a builtin, the same everywhere) or an enum like "<Color.RED: 1>". NULL:
 * anything else.
 */
static const char *skip_angle(const char *at)
{
	static const char class[] = "<class '";
	const char *end;

	if (strncmp(at, class, sizeof(class) - 1) == 0) {
		end = at + sizeof(class) - 1;
		while (isalnum((unsigned char)*end) || *end == '_')
			end++;
		return strncmp(end, "'>", 2) == 0 ? end + 2 : NULL;
	}
	for (end = at + 1; variable_is_name(*end) || *end == '|'; end++)
		;
	if (!memchr(at, '.', (size_t)(end - at)) || strncmp(end, ": ", 2) != 0)
		return NULL;
	end += 2;
	end = *end == '\'' || *end == '"' ? variable_skip_string(end) : skip_number(end);
	return end && *end == '>' ? end + 1 : NULL;
}

bool variable_says_all(const char *text, bool trusts_names)
{
	const char *at = text;

	while (at && *at) {
		if (strchr("()[]{},:+- ", *at))
			at++;
		else if (*at == '\'' || *at == '"')
			at = variable_skip_string(at);
		else if (isdigit((unsigned char)*at))
			at = skip_number(at);
		else if (*at == '<')
			at = skip_angle(at);
		else if (variable_is_name(*at) && *at != '.')
			at = variable_skip_name(at, trusts_names);
		else
			at = NULL;
	}
	return at && at > text;
}
