/*
 * field: a table that describes the members of a struct on the pipe: JSON key, type and bounds. The
 * same table initialises, copies, clears, writes and reads the struct.
 *
 * An unknown member is left out of the JSON. A missing or null key leaves its member unknown; a
 * value of the wrong type or out of bounds is an error. Keys outside the table are ignored.
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
	FIELD_ENUM,   /* an enum, stored as unsigned int (gcc, clang); maximum: the last
		       * enumerator */
	FIELD_REAL,   /* double */
	FIELD_HEX,    /* uint64_t, as "0x1f" */
	FIELD_TEXT,   /* char *, NULL: unknown; at most maximum bytes */
	FIELD_STRING, /* char *, "": unknown; at most maximum bytes */
	FIELD_CHARS,  /* char[maximum + 1], "": unknown */
};

struct field {
	const char *key;
	enum field_type type;
	size_t offset;
	int64_t unknown; /* value that means unknown, for numbers; not sent */
	int64_t minimum;
	int64_t maximum;
	const char *const *names; /* FIELD_ENUM */
};

struct field_table {
	const char *what; /* name of the struct, the first word of errors: "process" */
	const struct field *fields;
	size_t count;
};

/* Sets every member to unknown. Strings are on the heap. */
void field_init(const struct field_table *table, void *object);
/* Frees the strings and sets their pointers to NULL. */
void field_clear(const struct field_table *table, void *object);
/* Copies the table's members to an object that owns no strings. */
void field_copy(const struct field_table *table, void *to, const void *from);
/*
 * Adds the known members to json. Text beyond the maximum is cut and ends in "…"; invalid UTF-8 is
 * repaired.
 */
void field_write(const struct field_table *table, const void *object, json_t *json);
/* Reads json into an object after field_init(). Returns 0; -1: *error names the key. */
int field_read(const struct field_table *table, void *object, const json_t *json,
	       struct error *error);

/*
 * Returns text as a new JSON string of at most maximum bytes, cut and repaired like text in
 * field_write(); JSON null if text is NULL.
 */
json_t *field_text(const char *text, size_t maximum);

#endif
