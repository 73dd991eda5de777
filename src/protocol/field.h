/*
 * field: a struct that travels, described by a table: which member is which
 * key of its JSON, and its bounds. The one table makes, copies, clears, writes
 * and reads the struct.
 *
 * A member that is unknown is left out of the JSON. A key that is missing or
 * null leaves the member unknown; one of a wrong type or out of bounds is an
 * error. Keys that are not in the table are ignored.
 */
#ifndef PROTOCOL_FIELD_H
#define PROTOCOL_FIELD_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct error;

enum field_type {
	FIELD_INT,    /* int, pid_t */
	FIELD_UINT32, /* uid_t */
	FIELD_INT64,
	FIELD_UINT64,
	FIELD_BOOL,
	FIELD_ENUM,   /* maximum names; any enum: unsigned int to gcc, clang */
	FIELD_REAL,   /* double */
	FIELD_HEX,    /* uint64_t, as "0x1f" */
	FIELD_TEXT,   /* char *, NULL is unknown; at most maximum bytes */
	FIELD_STRING, /* char *, "" is unknown; at most maximum bytes */
	FIELD_CHARS,  /* char[maximum + 1], "" is unknown */
};

struct field {
	const char *key;
	enum field_type type;
	size_t offset;
	int64_t unknown; /* numbers: the value that is not sent */
	int64_t minimum;
	int64_t maximum;
	const char *const *names; /* FIELD_ENUM */
};

struct field_table {
	const char *what; /* "process": begins the sentences of errors */
	const struct field *fields;
	size_t count;
};

/* Makes every member unknown. Strings are on the heap. */
void field_init(const struct field_table *table, void *object);
/* Frees the strings; every pointer is NULL then. */
void field_clear(const struct field_table *table, void *object);
/* Copies the members of the table into an object that holds nothing. */
void field_copy(const struct field_table *table, void *to, const void *from);
/*
 * Adds the keys to json. Text that is too long is cut, "…" at its end; bad
 * UTF-8 is repaired.
 */
void field_write(const struct field_table *table, const void *object, json_t *json);
/* Reads the keys into an object after field_init. */
int field_read(const struct field_table *table, void *object, const json_t *json,
	       struct error *error);

/*
 * A JSON string of text (null for NULL) of at most maximum bytes, cut and
 * repaired as above.
 */
json_t *field_text(const char *text, size_t maximum);

#endif
