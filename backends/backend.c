#include "backends/backend.h"

#include <jansson.h>
#include <stdint.h>

#include "banned.h"
#include "protocol/message.h"

/* capabilities[request kind][backend kind]: what the backend needs to serve the request. */
static const uint8_t capabilities[REQUEST_KIND_COUNT][BACKEND_KIND_COUNT] = {
#define REQUEST(kind, name, effect, reader, tracer, agent, pdb, ...)                               \
	[REQUEST_##kind] = { CAPABILITY_##reader, CAPABILITY_##tracer, CAPABILITY_##agent,         \
			     CAPABILITY_##pdb },
#include "protocol/requests.def"
};

static const struct reason refusals[] = {
#define REFUSAL(name, why, fix) [CAPABILITY_NO_##name] = { why, fix },
#include "protocol/requests.def"
};

enum capability backend_capability(enum backend_kind backend, enum request_kind kind)
{
	return (enum capability)capabilities[kind][backend];
}

bool connection_can(const struct connection *connection, enum request_kind kind,
		    const struct message *request, struct reason *reason)
{
	struct reason unused;

	if (!reason)
		reason = &unused;
	*reason = (struct reason){ .fix = "" };
	return connection->backend->can(connection, kind, request, reason);
}

bool request_opens(enum backend_kind backend, enum request_kind kind, const struct message *request)
{
	const json_t *list = json_object_get(request->body, "breakpoints");
	enum capability capability = backend_capability(backend, kind);

	return capability >= CAPABILITY_OPENED && capability <= CAPABILITY_FOLLOWED &&
	       (kind != REQUEST_SET_BREAKPOINTS || json_array_size(list) > 0);
}

bool request_clears_breakpoints(const struct message *request)
{
	const json_t *list = json_object_get(request->body, "breakpoints");

	return json_is_array(list) && json_array_size(list) == 0;
}

bool reason_refuse(struct reason *reason, enum capability capability)
{
	if (capability < CAPABILITY_NO_FIRST)
		return false;
	*reason = refusals[capability];
	return true;
}

bool reason_is_running(struct reason *reason)
{
	return reason_set(reason, "the process is running",
			  "pause the process (p), or wait for a breakpoint");
}
