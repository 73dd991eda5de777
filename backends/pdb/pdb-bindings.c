#include "backends/pdb/pdb-bindings.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/debugger.h"

/* Reads a list of bindings with debugger_from_json(). */
static void read_bindings(struct debugger *into, const json_t *breakpoints)
{
	struct error error = ERROR_INIT;
	json_t *json = json_object();

	debugger_init(into);
	json_set_text(json, "state", debugger_state_name(DEBUGGER_NONE));
	json_object_set(json, "breakpoints", (json_t *)breakpoints);
	if (debugger_from_json(into, json, &error) < 0)
		debugger_clear(into);
	json_decref(json);
}

static struct breakpoint_binding *pdb_bindings_find_number(struct debugger *debugger, int number)
{
	for (size_t i = 0; number > 0 && i < debugger->binding_count; i++)
		if (debugger->bindings[i].number == number)
			return &debugger->bindings[i];
	return NULL;
}

/* Moves a binding to another debugger and leaves it empty in the old one. */
static void pdb_bindings_move(struct debugger *to, struct breakpoint_binding *binding)
{
	if (to->binding_count >= BREAKPOINT_BINDINGS_MAXIMUM)
		return;
	*debugger_add_binding(to) = *binding;
	*binding = (struct breakpoint_binding){ .id = 0 };
}

static void swap_bindings(struct debugger *a, struct debugger *b)
{
	struct breakpoint_binding *bindings = a->bindings;
	size_t count = a->binding_count;

	a->bindings = b->bindings;
	a->binding_count = b->binding_count;
	b->bindings = bindings;
	b->binding_count = count;
}

/*
 * Keeps the hit counts of pdb_bindings_count_stop(), which counts stops: bdb counts evaluations of
 * the condition instead.
 */
static void keep_hits(struct debugger *now, struct debugger *before)
{
	for (size_t i = 0; i < now->binding_count; i++) {
		struct breakpoint_binding *new = &now->bindings[i];
		const struct breakpoint_binding *old =
			pdb_bindings_find_number(before, new->number);

		if (new->id > 0)
			new->hits = old && old->id == new->id ? old->hits : 0;
	}
}

void pdb_bindings_set(struct debugger *debugger, const json_t *answer)
{
	struct debugger ours;

	read_bindings(&ours, json_object_get(answer, "breakpoints"));
	keep_hits(&ours, debugger);
	for (size_t i = 0; i < debugger->binding_count; i++) {
		struct breakpoint_binding *old = &debugger->bindings[i];

		if (old->id == 0 && !pdb_bindings_find_number(&ours, old->number))
			pdb_bindings_move(&ours, old);
	}
	swap_bindings(debugger, &ours);
	debugger_clear(&ours);
}

static void pdb_bindings_read_hits(struct debugger *debugger, const json_t *numbers)
{
	size_t count = json_array_size(numbers);

	debugger->hit_count = 0;
	for (size_t i = 0; i < count; i++) {
		json_int_t number = json_integer_value(json_array_get(numbers, i));
		const struct breakpoint_binding *binding =
			number > 0 && number < 1000000
				? pdb_bindings_find_number(debugger, (int)number)
				: NULL;

		if (binding && binding->id > 0 && debugger->hit_count < STOP_HITS_MAXIMUM)
			debugger->hits[debugger->hit_count++] = binding->id;
	}
}

/*
 * Translates the keys "enabled" and "file" of the debugger to "disabled" and "path" of a binding.
 */
static json_t *translate(const json_t *breakpoints)
{
	json_t *result = json_array();
	size_t count = json_array_size(breakpoints);

	if (count > BREAKPOINT_BINDINGS_MAXIMUM)
		count = BREAKPOINT_BINDINGS_MAXIMUM;
	for (size_t i = 0; i < count; i++) {
		json_t *json = json_copy(json_array_get(breakpoints, i));

		json_object_set(json, "path", json_object_get(json, "file"));
		json_object_set_new(json, "disabled",
				    json_boolean(!json_get_boolean(json, "enabled", true)));
		json_object_del(json, "id");
		json_array_append_new(result, json);
	}
	return result;
}

void pdb_bindings_refresh(struct debugger *debugger, const json_t *answer)
{
	json_t *translated = translate(json_object_get(answer, "breakpoints"));
	struct debugger now;

	pdb_bindings_read_hits(debugger, json_object_get(answer, "hit"));
	read_bindings(&now, translated);
	json_decref(translated);
	for (size_t i = 0; i < debugger->binding_count; i++) {
		struct breakpoint_binding *old = &debugger->bindings[i];
		struct breakpoint_binding *new = pdb_bindings_find_number(&now, old->number);

		if (new)
			new->id = old->id;
		else if (old->id > 0 && old->number == 0)
			pdb_bindings_move(&now, old);
	}
	keep_hits(&now, debugger);
	swap_bindings(debugger, &now);
	debugger_clear(&now);
}

void pdb_bindings_count_stop(struct debugger *debugger)
{
	for (size_t i = 0; i < debugger->binding_count; i++) {
		struct breakpoint_binding *binding = &debugger->bindings[i];

		for (size_t j = 0; j < debugger->hit_count; j++)
			if (binding->id == debugger->hits[j] && binding->hits < INT_MAX)
				binding->hits++;
	}
}

size_t pdb_bindings_count(const struct debugger *debugger)
{
	size_t count = 0;

	for (size_t i = 0; i < debugger->binding_count; i++)
		count += debugger->bindings[i].id > 0 && debugger->bindings[i].number > 0;
	return count;
}

json_t *pdb_bindings_to_json(const struct debugger *debugger)
{
	json_t *all = debugger_to_json(debugger);
	json_t *breakpoints = json_object_get(all, "breakpoints");
	json_t *body = json_object();
	json_t *ours = json_array();

	for (size_t i = 0; i < json_array_size(breakpoints); i++) {
		json_t *json = json_array_get(breakpoints, i);

		if (json_get_integer(json, "id", 0) > 0)
			json_array_append(ours, json);
	}
	json_object_set_new(body, "breakpoints", ours);
	json_decref(all);
	return body;
}

json_t *pdb_bindings_wanted(const json_t *breakpoints, const char *message)
{
	json_t *body = json_object();
	json_t *bindings = json_array();

	for (size_t i = 0; i < json_array_size(breakpoints); i++) {
		json_t *json = json_copy(json_array_get(breakpoints, i));

		json_object_set_new(json, "number", json_integer(0));
		json_set_text(json, "message", message);
		json_object_set_new(json, "pending", json_true());
		json_array_append_new(bindings, json);
	}
	json_object_set_new(body, "breakpoints", bindings);
	return body;
}
