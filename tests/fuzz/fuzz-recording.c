/*
 * A recording, packed or plain, as the session takes it; then from the middle,
 * and by its changes.
 */
#include <stdio.h>

#include "banned.h"

#include "engine/replay.h"
#include "model/session.h"
#include "tests/fuzz/fuzz.h"

/* Judging each line of a long one is what takes the time. */
#define LINES_MAXIMUM 500

static void apply_all(struct replay *replay)
{
	struct replay_line line;
	struct session session;

	session_init(&session);
	session_add_node(&session, "fuzz");
	for (int i = 0; i < LINES_MAXIMUM; i++) {
		double until = replay_end_time(replay);

		if (replay_next(replay, until, &line, NULL) != 1)
			break;
		session_apply(&session, line.node, &line.message, line.time, NULL);
		message_clear(&line.message);
		session_judge(&session);
	}
	session_clear(&session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct replay *replay = replay_new_bytes("fuzz", data, size, NULL);
	double middle;

	if (!replay)
		return 0;
	middle = (replay_first_time(replay) + replay_end_time(replay)) / 2;
	apply_all(replay);
	replay_seek(replay, middle);
	apply_all(replay);
	replay_find_change(replay, middle, true);
	replay_find_change(replay, middle, false);
	replay_free(replay);
	return 0;
}
