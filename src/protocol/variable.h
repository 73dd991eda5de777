/*
 * variable: a variable's name, type, value as Python would print it (of limited length), and the
 * address of its object, with which the object's parts can be requested.
 */
#ifndef PROTOCOL_VARIABLE_H
#define PROTOCOL_VARIABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

#define VARIABLE_PAGE 100	    /* maximum number of variables in one answer */
#define VARIABLE_VALUE_MAXIMUM 4096 /* maximum number of bytes of a value, cut with "…" */

enum variable_kind {
	VARIABLE_LOCAL,
	VARIABLE_CELL,
	VARIABLE_FREE,
	VARIABLE_GLOBAL,
	VARIABLE_ITEM, /* item of a list, dict, set, object … */
};

struct variable {
	char *name;
	enum variable_kind kind;
	char *type;	     /* "int", "train.Net" */
	char *value;	     /* repr(), "<train.Net at 0x7f…>", or "unbound" */
	uint64_t address;    /* address of the object; 0: none (unbound) */
	int64_t child_count; /* number of parts (items, attributes); -1: the object has no parts */
};

struct variable_list {
	struct variable *items;
	size_t count;
	size_t capacity;
	int64_t total; /* number of variables on all pages; -1: unknown */
};

void variable_clear(struct variable *variable);
/*
 * Reads json into an empty variable. Returns 0; -1 and *error. Call variable_clear() in both cases.
 */
int variable_from_json(struct variable *variable, const json_t *json, struct error *error);

void variable_list_clear(struct variable_list *list);
/*
 * Appends a variable with zeroed members (but child_count -1) and returns it, borrowed until the
 * next variable is added.
 */
struct variable *variable_list_add(struct variable_list *list);
/*
 * Replaces each value that looks like a secret, by its name or text (base/secret.h), by
 * SECRET_MASK.
 */
void variable_list_mask(struct variable_list *list);
/* Returns {"name", "kind", "type", "value", "address", "children"}, documented in CLI.md. */
json_t *variable_to_json(const struct variable *variable);
/* Returns {"variables": […], "total": int or null}. */
json_t *variable_list_to_json(const struct variable_list *list);
int variable_list_from_json(struct variable_list *list, const json_t *json, struct error *error);
/*
 * True if text shows all of a value: numbers, strings, None and the like, also in containers, with
 * nothing cut, no object shown only by its name or address, and no tensor. trusts_names: text like
 * a call ("Point(x=1)") shows all fields, because it was not made by a __repr__ of the program;
 * else this holds only for known classes of the standard library.
 */
bool variable_says_all(const char *text, bool trusts_names);

#endif
