/*
 * variable: a name, its type, its value as Python would print it (bounded),
 * and where the object is, so that it can be opened one level.
 */
#ifndef PROTOCOL_VARIABLE_H
#define PROTOCOL_VARIABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

#define VARIABLE_PAGE 100	    /* children in one answer */
#define VARIABLE_VALUE_MAXIMUM 4096 /* bytes of a value, "…" at the end */

enum variable_kind {
	VARIABLE_LOCAL,
	VARIABLE_CELL,
	VARIABLE_FREE,
	VARIABLE_GLOBAL,
	VARIABLE_ITEM, /* of a list, dict, set, object … */
};

struct variable {
	char *name;
	enum variable_kind kind;
	char *type;	     /* "int", "train.Net" */
	char *value;	     /* repr; "<train.Net at 0x7f…>"; "unbound" */
	uint64_t address;    /* of the object; 0: none (unbound) */
	int64_t child_count; /* -1: cannot be opened */
};

struct variable_list {
	struct variable *items;
	size_t count;
	size_t capacity;
	int64_t total; /* of all pages; -1: unknown */
};

void variable_clear(struct variable *variable);
/* Into one that holds nothing; -1 and a sentence, and it is to be cleared. */
int variable_from_json(struct variable *variable, const json_t *json, struct error *error);

void variable_list_clear(struct variable_list *list);
/* Lends a new zeroed one at the end (child_count -1). */
struct variable *variable_list_add(struct variable_list *list);
/* Values of names that tell of a secret, or that tell of one themselves
 * (base/secret.h), become SECRET_MASK. */
void variable_list_mask(struct variable_list *list);
/* {"name", "kind", "type", "value", "address", "children"} as in CLI.md. */
json_t *variable_to_json(const struct variable *variable);
/* {"variables": […], "total": int or null}. */
json_t *variable_list_to_json(const struct variable_list *list);
int variable_list_from_json(struct variable_list *list, const json_t *json, struct error *error);
/*
 * Whether the text of a value says all of it: numbers, strings, None and the
 * like, in containers or not, nothing cut, no object by its name or address,
 * no tensor. trusts_names: what stands like a call ("Point(x=1)") lists all
 * fields of an object, as no __repr__ of a program was run for it; else only
 * those of the standard library are known to.
 */
bool variable_says_all(const char *text, bool trusts_names);

#endif
