#include "protocol/field.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"

#define ELLIPSIS "\xe2\x80\xa6"
#define ELLIPSIS_LENGTH 3

static bool is_heap_text(const struct field *field)
{
	return field->type == FIELD_TEXT || field->type == FIELD_STRING;
}

static void *member(const struct field *field, void *object)
{
	return (char *)object + field->offset;
}

static const void *const_member(const struct field *field, const void *object)
{
	return (const char *)object + field->offset;
}

static void store_integer(const struct field *field, void *at, int64_t value)
{
	switch (field->type) {
	case FIELD_INT:
		*(int *)at = (int)value;
		break;
	case FIELD_UINT32:
		*(uint32_t *)at = (uint32_t)value;
		break;
	case FIELD_ENUM:
		*(unsigned *)at = (unsigned)value;
		break;
	case FIELD_BOOL:
		*(bool *)at = value != 0;
		break;
	case FIELD_INT64:
		*(int64_t *)at = value;
		break;
	case FIELD_UINT64:
	case FIELD_HEX:
		*(uint64_t *)at = (uint64_t)value;
		break;
	case FIELD_REAL:
		*(double *)at = (double)value;
		break;
	case FIELD_TEXT:
	case FIELD_STRING:
	case FIELD_CHARS:
		break;
	}
}

void field_init(const struct field_table *table, void *object)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct field *field = &table->fields[i];
		void *at = member(field, object);

		if (field->type == FIELD_TEXT)
			*(char **)at = NULL;
		else if (field->type == FIELD_STRING)
			*(char **)at = xstrdup("");
		else if (field->type == FIELD_CHARS)
			memset(at, 0, (size_t)field->maximum + 1);
		else
			store_integer(field, at, field->unknown);
	}
}

void field_clear(const struct field_table *table, void *object)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct field *field = &table->fields[i];
		char **text = member(field, object);

		if (!is_heap_text(field))
			continue;
		free(*text);
		*text = NULL;
	}
}

static size_t member_size(const struct field *field)
{
	switch (field->type) {
	case FIELD_INT:
	case FIELD_UINT32:
	case FIELD_ENUM:
		return sizeof(int);
	case FIELD_BOOL:
		return sizeof(bool);
	case FIELD_INT64:
	case FIELD_UINT64:
	case FIELD_HEX:
	case FIELD_REAL:
		return sizeof(uint64_t);
	case FIELD_CHARS:
		return (size_t)field->maximum + 1;
	case FIELD_TEXT:
	case FIELD_STRING:
		break;
	}
	return sizeof(char *);
}

void field_copy(const struct field_table *table, void *to, const void *from)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct field *field = &table->fields[i];
		const void *source = const_member(field, from);

		if (is_heap_text(field))
			*(char **)member(field, to) = xstrdup_or_null(*(char *const *)source);
		else
			memcpy(member(field, to), source, member_size(field));
	}
}

/* The greatest length up to maximum that does not end within a UTF-8 character. */
static size_t cut_length(const char *text, size_t maximum)
{
	while (maximum > 0 && ((unsigned char)text[maximum] & 0xc0) == 0x80)
		maximum--;
	return maximum;
}

json_t *field_text(const char *text, size_t maximum)
{
	json_t *value = json_text(text);
	const char *whole;
	size_t kept;
	char *cut;

	if (!text || json_string_length(value) <= maximum)
		return value;
	whole = json_string_value(value);
	kept = maximum >= ELLIPSIS_LENGTH ? maximum - ELLIPSIS_LENGTH : 0;
	cut = xasprintf("%.*s%s", (int)cut_length(whole, kept), whole,
			maximum >= ELLIPSIS_LENGTH ? ELLIPSIS : "");
	json_decref(value);
	value = json_string(cut);
	free(cut);
	return value;
}

static json_t *write_integer(const struct field *field, int64_t value)
{
	return value == field->unknown ? NULL : json_integer(value);
}

static json_t *write_unsigned(const struct field *field, uint64_t value)
{
	return write_integer(field, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

static json_t *field_write_name(const struct field *field, unsigned value)
{
	if ((int64_t)value == field->unknown || value > field->maximum)
		return NULL;
	return json_string(field->names[value]);
}

static json_t *write_hex(uint64_t value)
{
	char digits[24];

	if (value == 0)
		return NULL;
	snprintf(digits, sizeof(digits), "0x%" PRIx64, value);
	return json_string(digits);
}

static json_t *write_text(const struct field *field, const char *text)
{
	if (!text || (field->type != FIELD_TEXT && text[0] == '\0'))
		return NULL;
	return field_text(text, (size_t)field->maximum);
}

/* Returns a new JSON value; NULL: the member's value is unknown, so the member is not sent. */
static json_t *write_member(const struct field *field, const void *at)
{
	switch (field->type) {
	case FIELD_INT:
		return write_integer(field, *(const int *)at);
	case FIELD_UINT32:
		return write_integer(field, *(const uint32_t *)at);
	case FIELD_INT64:
		return write_integer(field, *(const int64_t *)at);
	case FIELD_UINT64:
		return write_unsigned(field, *(const uint64_t *)at);
	case FIELD_BOOL:
		return *(const bool *)at ? json_true() : NULL;
	case FIELD_ENUM:
		return field_write_name(field, *(const unsigned *)at);
	case FIELD_REAL:
		/* json_real() returns NULL for NaN and infinities, which JSON does not have. */
		return *(const double *)at == (double)field->unknown
			       ? NULL
			       : json_real(*(const double *)at);
	case FIELD_HEX:
		return write_hex(*(const uint64_t *)at);
	case FIELD_TEXT:
	case FIELD_STRING:
		return write_text(field, *(char *const *)at);
	case FIELD_CHARS:
		return write_text(field, at);
	}
	return NULL;
}

void field_write(const struct field_table *table, const void *object, json_t *json)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct field *field = &table->fields[i];
		json_t *value = write_member(field, const_member(field, object));

		if (value)
			json_object_set_new_nocheck(json, field->key, value);
	}
}

static int field_refuse(const struct field_table *table, const struct field *field,
			struct error *error, const char *wanted)
{
	return error_set(error, "%s: \"%s\" is not %s", table->what, field->key, wanted);
}

static int read_integer(const struct field_table *table, const struct field *field, void *at,
			const json_t *value, struct error *error)
{
	json_int_t number = json_integer_value(value);
	char wanted[80];

	if (json_is_integer(value) && number >= field->minimum && number <= field->maximum) {
		store_integer(field, at, number);
		return 0;
	}
	snprintf(wanted, sizeof(wanted), "an integer from %" PRId64 " to %" PRId64, field->minimum,
		 field->maximum);
	return field_refuse(table, field, error, wanted);
}

static int field_read_name(const struct field_table *table, const struct field *field, void *at,
			   const json_t *value, struct error *error)
{
	const char *name = json_string_value(value);

	for (int64_t i = 0; name && i <= field->maximum; i++) {
		if (strcmp(name, field->names[i]) == 0) {
			store_integer(field, at, i);
			return 0;
		}
	}
	return field_refuse(table, field, error, "one of the allowed words");
}

static int field_read_text(const struct field_table *table, const struct field *field, void *at,
			   const json_t *value, struct error *error)
{
	const char *text = json_string_value(value);
	char wanted[80];

	if (!text || json_string_length(value) > (size_t)field->maximum) {
		snprintf(wanted, sizeof(wanted), "a string of at most %" PRId64 " bytes",
			 field->maximum);
		return field_refuse(table, field, error, wanted);
	}
	if (field->type == FIELD_CHARS) {
		memcpy(at, text, strlen(text) + 1);
		return 0;
	}
	free(*(char **)at);
	*(char **)at = xstrdup(text);
	return 0;
}

static int read_member(const struct field_table *table, const struct field *field, void *at,
		       const json_t *json, struct error *error)
{
	const json_t *value = json_object_get(json, field->key);

	if (!value || json_is_null(value))
		return 0;
	switch (field->type) {
	case FIELD_INT:
	case FIELD_UINT32:
	case FIELD_INT64:
	case FIELD_UINT64:
		return read_integer(table, field, at, value, error);
	case FIELD_BOOL:
		if (!json_is_boolean(value))
			return field_refuse(table, field, error, "true or false");
		*(bool *)at = json_is_true(value);
		return 0;
	case FIELD_ENUM:
		return field_read_name(table, field, at, value, error);
	case FIELD_REAL:
		if (!json_is_number(value))
			return field_refuse(table, field, error, "a number");
		*(double *)at = json_number_value(value);
		return 0;
	case FIELD_HEX:
		*(uint64_t *)at = json_get_hex(json, field->key);
		/* An unknown address is not sent, so 0 is refused. */
		if (*(uint64_t *)at == 0)
			return field_refuse(table, field, error, "an address");
		return 0;
	case FIELD_TEXT:
	case FIELD_STRING:
	case FIELD_CHARS:
		return field_read_text(table, field, at, value, error);
	}
	return 0;
}

int field_read(const struct field_table *table, void *object, const json_t *json,
	       struct error *error)
{
	if (!json_is_object(json))
		return error_set(error, "%s: not a JSON object", table->what);
	for (size_t i = 0; i < table->count; i++) {
		const struct field *field = &table->fields[i];

		if (read_member(table, field, member(field, object), json, error) < 0)
			return -1;
	}
	return 0;
}
