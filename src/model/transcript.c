#include "model/transcript.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "model/session.h"

#define TRANSCRIPTS_MAXIMUM 16

void transcript_free(struct transcript *transcript)
{
	if (!transcript)
		return;
	buffer_clear(&transcript->bytes);
	free(transcript);
}

uint64_t transcript_end(const struct transcript *transcript)
{
	return transcript->start + transcript->bytes.length;
}

static struct transcript *transcript_find(const struct session *session, size_t node, pid_t pid)
{
	for (size_t i = 0; i < session->transcript_count; i++)
		if (session->transcripts[i]->node == node && session->transcripts[i]->pid == pid)
			return session->transcripts[i];
	return NULL;
}

const struct transcript *session_find_transcript(const struct session *session, size_t node,
						 pid_t pid)
{
	return transcript_find(session, node, pid);
}

/* If there are too many transcripts, the oldest is freed. */
static struct transcript *transcript_find_or_add(struct session *session, size_t node, pid_t pid)
{
	struct transcript *transcript = transcript_find(session, node, pid);

	if (transcript)
		return transcript;
	if (session->transcript_count == TRANSCRIPTS_MAXIMUM) {
		transcript_free(session->transcripts[0]);
		memmove(session->transcripts, session->transcripts + 1,
			--session->transcript_count * sizeof(*session->transcripts));
	}
	session->transcripts =
		xrealloc(session->transcripts, TRANSCRIPTS_MAXIMUM * sizeof(*session->transcripts));
	transcript = xcalloc(1, sizeof(*transcript));
	transcript->node = node;
	transcript->pid = pid;
	buffer_init(&transcript->bytes, 0);
	session->transcripts[session->transcript_count++] = transcript;
	return transcript;
}

void session_clear_transcripts(struct session *session)
{
	for (size_t i = 0; i < session->transcript_count; i++)
		transcript_free(session->transcripts[i]);
	free(session->transcripts);
	session->transcripts = NULL;
	session->transcript_count = 0;
}

/* Drops half of the bytes at once, so that bytes are not moved for each addition. */
static void transcript_forget_oldest(struct transcript *transcript)
{
	size_t excess;

	if (transcript->bytes.length <= TRANSCRIPT_BYTES)
		return;
	excess = transcript->bytes.length - TRANSCRIPT_BYTES / 2;
	buffer_consume(&transcript->bytes, excess);
	transcript->start += excess;
}

void transcript_add(struct transcript *transcript, const char *text, bool is_first)
{
	if (is_first) {
		buffer_reset(&transcript->bytes);
		transcript->start = 0;
		transcript->times++;
	}
	buffer_append_string(&transcript->bytes, text);
	if (is_first)
		transcript->told = transcript_end(transcript);
	transcript_forget_oldest(transcript);
}

int session_apply_transcript(struct session *session, size_t node, const json_t *body,
			     struct error *error)
{
	const char *text = json_get_string(body, "output", "");
	int64_t pid = json_get_integer(body, "pid", 0);

	if (pid <= 0 || pid > INT_MAX)
		return error_set(error, "a debugger's session names no process");
	transcript_add(transcript_find_or_add(session, node, (pid_t)pid), text,
		       json_get_boolean(body, "isFirst", false));
	return 0;
}
