/* The lines of a recording, as the session and the panes' models take them. */
#include <string.h>

#include "banned.h"

#include "base/buffer.h"
#include "base/error.h"
#include "model/session.h"
#include "model/stacktree.h"
#include "protocol/message.h"
#include "tests/fuzz/fuzz.h"

static void apply(struct session *session, const char *line, size_t length,
		  double *time)
{
	struct message message;
	struct error error = ERROR_INIT;

	if (message_parse(&message, line, length, &error) < 0)
		return;
	*time += 0.25;
	session_apply(session, 0, &message, *time, &error);
	message_clear(&message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct session session;
	double time = 0;

	session_init(&session);
	session_add_node(&session, "fuzz");
	for (size_t at = 0; at < size;) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t length = end ? (size_t)(end - text) - at : size - at;

		apply(&session, text + at, length, &time);
		session_judge(&session);
		at += length + 1;
	}
	session_clear(&session);
	return 0;
}
