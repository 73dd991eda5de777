/*
 * Sets of ranks as people write them, on a session of eight ranks; and that
 * what is written of a set can be read again.
 */
#include <stdlib.h>
#include <string.h>

#include "banned.h"

#include "base/alloc.h"
#include "base/buffer.h"
#include "model/rankselect.h"
#include "model/session.h"
#include "protocol/message.h"
#include "protocol/rankset.h"
#include "tests/fuzz/fuzz.h"

#define RANKS 8

static void check_folded(const struct rankset *set)
{
	struct buffer text = BUFFER_INIT;
	struct rankset again = RANKSET_INIT;

	rankset_append(&text, set);
	if (set->range_count > 0 &&
	    (rankset_parse(&again, text.data, NULL) < 0 || !rankset_is_equal(set, &again)))
		abort();
	rankset_clear(&again);
	buffer_clear(&text);
}

static void add_ranks(struct session *session)
{
	static const char line[] = "{\"seq\": 1, \"type\": \"event\", \"event\": \"rankAdded\", "
				   "\"body\": {\"pid\": %d, \"rank\": %d, \"host\": \"node%02d\", "
				   "\"world_size\": 8, \"state\": \"live\"}}";

	session_add_node(session, "fuzz");
	for (int rank = 0; rank < RANKS; rank++) {
		char *text = xasprintf(line, 100 + rank, rank, rank / 4);
		struct message message;

		if (message_parse(&message, text, strlen(text), NULL) < 0 ||
		    session_apply(session, 0, &message, 0, NULL) < 0)
			abort();
		message_clear(&message);
		free(text);
	}
	session_judge(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size);
	struct rankset set = RANKSET_INIT;
	struct session session;

	if (rankset_parse(&set, text, NULL) == 0)
		check_folded(&set);
	session_init(&session);
	add_ranks(&session);
	if (rankselect_find(text, &session, &set, NULL) == 0)
		check_folded(&set);
	rankset_clear(&set);
	session_clear(&session);
	free(text);
	return 0;
}
