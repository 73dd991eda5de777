#include "protocol/debugger.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/field.h"

#define TEXT_MAXIMUM 4096

static const char *const state_names[] = {
	[DEBUGGER_NONE] = "none",
	[DEBUGGER_WAITING] = "waiting",
	[DEBUGGER_STALE] = "stale",
	[DEBUGGER_REFUSED] = "refused",
	[DEBUGGER_CONNECTING] = "connecting",
	[DEBUGGER_RUNNING] = "running",
	[DEBUGGER_STOPPED] = "stopped",
	[DEBUGGER_NESTED] = "nested",
	[DEBUGGER_FOREIGN] = "foreign",
	[DEBUGGER_LOST] = "lost",
};

static const char *const reason_names[] = {
	[STOP_ENTRY] = "entry",		  [STOP_STEP] = "step",
	[STOP_BREAKPOINT] = "breakpoint", [STOP_DATA_BREAKPOINT] = "data breakpoint",
	[STOP_PAUSE] = "pause",		  [STOP_EXCEPTION] = "exception",
};

static const char *const resume_names[] = {
	[RESUME_REQUEST] = "request",
	[RESUME_SIGNAL] = "signal",
	[RESUME_TIME_LIMIT] = "time limit",
};

static const char *const event_names[] = {
	[STOP_AT_UNKNOWN] = "unknown", [STOP_AT_LINE] = "line",		  [STOP_AT_CALL] = "call",
	[STOP_AT_RETURN] = "return",   [STOP_AT_EXCEPTION] = "exception",
};

#define AT(member) offsetof(struct debugger, member)

/* clang-format off */
static const struct field debugger_fields[] = {
	{ "state", FIELD_ENUM, AT(state), -1, 0, DEBUGGER_LOST, state_names },
	{ "backend", FIELD_TEXT, AT(backend), 0, 0, TEXT_MAXIMUM, NULL },
	{ "target", FIELD_TEXT, AT(target), 0, 0, TEXT_MAXIMUM, NULL },
	{ "dialect", FIELD_TEXT, AT(dialect), 0, 0, TEXT_MAXIMUM, NULL },
	{ "why", FIELD_TEXT, AT(why), 0, 0, TEXT_MAXIMUM, NULL },
	{ "leaving", FIELD_TEXT, AT(leaving), 0, 0, TEXT_MAXIMUM, NULL },
	{ "taken", FIELD_BOOL, AT(is_taken), 0, 0, 0, NULL },
	{ "post_mortem", FIELD_BOOL, AT(is_post_mortem), 0, 0, 0, NULL },
	{ "slots", FIELD_INT, AT(slots), 0, 0, 1000, NULL },
	{ "slots_free", FIELD_INT, AT(slots_free), 0, 0, 1000, NULL },
	{ "lease", FIELD_REAL, AT(lease), -1, 0, 0, NULL },
	{ "limited", FIELD_BOOL, AT(is_limited), 0, 0, 0, NULL },
	{ "watchdog", FIELD_REAL, AT(watchdog), -1, 0, 0, NULL },
	{ "stops", FIELD_UINT64, AT(stops), 0, 0, INT64_MAX, NULL },
	{ "at", FIELD_ENUM, AT(at), -1, 0, STOP_AT_EXCEPTION, event_names },
	{ "tid", FIELD_INT, AT(tid), 0, 0, INT_MAX, NULL },
	{ "held", FIELD_REAL, AT(held), -1, 0, 0, NULL },
	{ "stopped_at", FIELD_REAL, AT(stopped_at), -1, 0, 0, NULL },
	{ "value", FIELD_TEXT, AT(value), 0, 0, TEXT_MAXIMUM, NULL },
	{ "exception", FIELD_TEXT, AT(exception), 0, 0, TEXT_MAXIMUM, NULL },
	{ "description", FIELD_TEXT, AT(description), 0, 0, TEXT_MAXIMUM, NULL },
};
/*
 * The key "reason" is DAP's stop reason in a "stopped" event, but the reason why the process was
 * resumed in a "continued" event.
 */
static const struct field stop_fields[] = {
	{ "reason", FIELD_ENUM, AT(reason), -1, 0, STOP_EXCEPTION, reason_names },
};
static const struct field resume_fields[] = {
	{ "reason", FIELD_ENUM, AT(resumed_for), -1, 0, RESUME_TIME_LIMIT, resume_names },
};
#undef AT
#define AT(member) offsetof(struct breakpoint_binding, member)
static const struct field binding_fields[] = {
	{ "id", FIELD_INT, AT(id), 0, 0, INT_MAX, NULL },
	{ "number", FIELD_INT, AT(number), 0, 0, INT_MAX, NULL },
	{ "path", FIELD_TEXT, AT(path), 0, 0, TEXT_MAXIMUM, NULL },
	{ "line", FIELD_INT, AT(line), 0, 0, INT_MAX, NULL },
	{ "hits", FIELD_INT, AT(hits), 0, 0, INT_MAX, NULL },
	{ "disabled", FIELD_BOOL, AT(is_disabled), 0, 0, 0, NULL },
	{ "temporary", FIELD_BOOL, AT(is_temporary), 0, 0, 0, NULL },
	{ "refused", FIELD_BOOL, AT(is_refused), 0, 0, 0, NULL },
	{ "watch", FIELD_TEXT, AT(watch), 0, 0, TEXT_MAXIMUM, NULL },
	{ "condition", FIELD_TEXT, AT(condition), 0, 0, TEXT_MAXIMUM, NULL },
	{ "message", FIELD_TEXT, AT(message), 0, 0, TEXT_MAXIMUM, NULL },
};
/* clang-format on */

static const struct field_table debugger_table = {
	.what = "debugger",
	.fields = debugger_fields,
	.count = ARRAY_LENGTH(debugger_fields),
};

static const struct field_table stop_table = {
	.what = "debugger",
	.fields = stop_fields,
	.count = ARRAY_LENGTH(stop_fields),
};

static const struct field_table resume_table = {
	.what = "debugger",
	.fields = resume_fields,
	.count = ARRAY_LENGTH(resume_fields),
};

static const struct field_table binding_table = {
	.what = "breakpoint of a debugger",
	.fields = binding_fields,
	.count = ARRAY_LENGTH(binding_fields),
};

void debugger_init(struct debugger *debugger)
{
	*debugger = (struct debugger){
		.lease = -1,
		.held = -1,
		.stopped_at = -1,
		.watchdog = -1,
	};
}

void debugger_clear_bindings(struct debugger *debugger)
{
	for (size_t i = 0; i < debugger->binding_count; i++)
		field_clear(&binding_table, &debugger->bindings[i]);
	free(debugger->bindings);
	debugger->bindings = NULL;
	debugger->binding_count = 0;
}

void debugger_clear(struct debugger *debugger)
{
	debugger_clear_bindings(debugger);
	field_clear(&debugger_table, debugger);
	debugger_init(debugger);
}

struct breakpoint_binding *debugger_add_binding(struct debugger *debugger)
{
	struct breakpoint_binding *binding;

	debugger->bindings = xrealloc(debugger->bindings, (debugger->binding_count +
							   1) * sizeof(struct breakpoint_binding));
	binding = &debugger->bindings[debugger->binding_count++];
	*binding = (struct breakpoint_binding){ .id = 0 };
	return binding;
}

static struct breakpoint_binding *find_binding(struct debugger *debugger, int id)
{
	for (size_t i = 0; i < debugger->binding_count; i++) {
		if (debugger->bindings[i].id == id)
			return &debugger->bindings[i];
	}
	return NULL;
}

void debugger_remove_binding(struct debugger *debugger, int id)
{
	struct breakpoint_binding *found = find_binding(debugger, id);
	size_t behind;

	if (!found)
		return;
	field_clear(&binding_table, found);
	debugger->binding_count--;
	behind = (size_t)(debugger->bindings + debugger->binding_count - found);
	memmove(found, found + 1, behind * sizeof(*found));
}

/*
 * True if a binding of an answer replaces the known binding. A binding that is still pending in the
 * answer is older than an event that reported a refusal or a location: the event's binding stays.
 */
static bool debugger_is_newer(const struct breakpoint_binding *answer,
			      const struct breakpoint_binding *known)
{
	return known->number == 0 &&
	       (!known->is_refused || answer->is_refused || answer->number != 0);
}

static void add_answer(struct debugger *debugger, const json_t *json)
{
	struct breakpoint_binding answer = { .id = 0 };
	struct breakpoint_binding *known;

	if (field_read(&binding_table, &answer, json, NULL) < 0 || answer.id == 0) {
		field_clear(&binding_table, &answer);
		return;
	}
	known = find_binding(debugger, answer.id);
	if (!known && debugger->binding_count < BREAKPOINT_BINDINGS_MAXIMUM)
		known = debugger_add_binding(debugger);
	if (known && debugger_is_newer(&answer, known)) {
		field_clear(&binding_table, known);
		*known = answer;
	} else {
		field_clear(&binding_table, &answer);
	}
}

void debugger_add_answer(struct debugger *debugger, const json_t *bindings)
{
	const json_t *binding;
	size_t i;

	json_array_foreach(bindings, i, binding) add_answer(debugger, binding);
}

const char *debugger_state_name(enum debugger_state state)
{
	return state_names[state];
}

const char *stop_reason_name(enum stop_reason reason)
{
	return reason_names[reason];
}

const char *resume_reason_name(enum resume_reason reason)
{
	return resume_names[reason];
}

const char *stop_event_name(enum stop_event event)
{
	return event == STOP_AT_UNKNOWN ? NULL : event_names[event];
}

enum stop_event stop_event_parse(const char *name)
{
	for (int i = STOP_AT_LINE; i <= STOP_AT_EXCEPTION; i++)
		if (strcmp(event_names[i], name) == 0)
			return (enum stop_event)i;
	return STOP_AT_UNKNOWN;
}

void debugger_append_exception(struct buffer *out, const char *relation, const char *type,
			       const char *message)
{
	if (relation)
		buffer_append_string(out, strcmp(relation, "cause") == 0 ? "\nfrom "
									 : "\nwhile handling ");
	buffer_printf(out, "%s%s%s", type, message[0] ? ": " : "", message);
}

enum event_kind debugger_event(const struct debugger *debugger)
{
	if (debugger->state == DEBUGGER_STOPPED)
		return EVENT_STOPPED;
	return debugger->state == DEBUGGER_RUNNING ? EVENT_CONTINUED : EVENT_DEBUGGER;
}

bool debugger_is_of(const struct debugger *debugger, const char *backend)
{
	return debugger->backend && strcmp(debugger->backend, backend) == 0;
}

bool debugger_is_ours(const struct debugger *debugger)
{
	return debugger->state >= DEBUGGER_CONNECTING && debugger->state < DEBUGGER_LOST;
}

json_t *debugger_to_json(const struct debugger *debugger)
{
	json_t *json = json_object();
	json_t *hits = json_array();
	json_t *bindings = json_array();

	field_write(&debugger_table, debugger, json);
	field_write(debugger->state == DEBUGGER_RUNNING ? &resume_table : &stop_table, debugger,
		    json);
	for (size_t i = 0; i < debugger->hit_count; i++)
		json_array_append_new(hits, json_integer(debugger->hits[i]));
	json_object_set_new(json, "hit", hits);
	for (size_t i = 0; i < debugger->binding_count; i++) {
		json_t *binding = json_object();

		field_write(&binding_table, &debugger->bindings[i], binding);
		json_array_append_new(bindings, binding);
	}
	json_object_set_new(json, "breakpoints", bindings);
	return json;
}

static int debugger_read_hits(struct debugger *debugger, const json_t *hits, struct error *error)
{
	size_t count = json_array_size(hits);

	if (count > STOP_HITS_MAXIMUM)
		count = STOP_HITS_MAXIMUM;
	for (size_t i = 0; i < count; i++) {
		json_int_t id = json_integer_value(json_array_get(hits, i));

		if (id < 1 || id > INT_MAX)
			return error_set(error,
					 "debugger: \"hit\" has an invalid breakpoint number");
		debugger->hits[debugger->hit_count++] = (int)id;
	}
	return 0;
}

/*
 * Reads "reason". Recordings of older versions have the last stop's reason in `continued`: that
 * reason is ignored.
 */
static int read_reason(struct debugger *debugger, const json_t *json, struct error *error)
{
	const char *name = json_get_string(json, "reason", "");

	if (debugger->state != DEBUGGER_RUNNING)
		return field_read(&stop_table, debugger, json, error);
	for (int i = RESUME_REQUEST; i <= RESUME_TIME_LIMIT; i++)
		if (strcmp(resume_names[i], name) == 0)
			debugger->resumed_for = (enum resume_reason)i;
	return 0;
}

int debugger_from_json(struct debugger *debugger, const json_t *json, struct error *error)
{
	const json_t *bindings = json_object_get(json, "breakpoints");
	size_t count = json_array_size(bindings);

	debugger_clear(debugger);
	if (count > BREAKPOINT_BINDINGS_MAXIMUM)
		return error_set(error, "debugger: more than %d breakpoints",
				 BREAKPOINT_BINDINGS_MAXIMUM);
	if (field_read(&debugger_table, debugger, json, error) < 0 ||
	    read_reason(debugger, json, error) < 0 ||
	    debugger_read_hits(debugger, json_object_get(json, "hit"), error) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (field_read(&binding_table, debugger_add_binding(debugger),
			       json_array_get(bindings, i), error) < 0)
			return -1;
	}
	if (debugger->state != DEBUGGER_NONE && !debugger->backend)
		return error_set(error, "debugger: \"backend\" is missing");
	return 0;
}

#undef AT
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
		return error_set(error,
				 "breakpoint %d: needs a path and a line, a function or a watched "
				 "expression",
				 breakpoint->id);
	return 0;
}

int breakpoints_check(const json_t *list, struct error *error)
{
	struct breakpoint breakpoint = { .id = 0 };
	size_t count = json_array_size(list);
	int result = 0;

	if (!json_is_array(list) || count > BREAKPOINTS_MAXIMUM)
		return error_set(error, "\"breakpoints\" is not a list of at most %d breakpoints",
				 BREAKPOINTS_MAXIMUM);
	for (size_t i = 0; i < count && result == 0; i++) {
		result = breakpoint_from_json(&breakpoint, json_array_get(list, i), error);
		breakpoint_clear(&breakpoint);
	}
	return result;
}
