#include "backends/pdb/pdbtranscript.h"

#include <stdlib.h>

#include "banned.h"
#include "backends/pdb/output-stream.h"
#include "base/alloc.h"
#include "base/buffer.h"

#define KEPT_MAXIMUM (64u << 10)

struct pdbtranscript {
	struct buffer kept;
	struct output_stream *stream;
	bool is_open;
};

struct pdbtranscript *pdbtranscript_new(struct node *node, pid_t pid)
{
	struct pdbtranscript *transcript = xcalloc(1, sizeof(*transcript));

	buffer_init(&transcript->kept, 0);
	transcript->stream = output_stream_new(node, pid, "terminal", KEPT_MAXIMUM);
	return transcript;
}

void pdbtranscript_free(struct pdbtranscript *transcript)
{
	if (!transcript)
		return;
	output_stream_free(transcript->stream);
	buffer_clear(&transcript->kept);
	free(transcript);
}

void pdbtranscript_add(struct pdbtranscript *transcript, const char *bytes, size_t length)
{
	struct buffer *kept = &transcript->kept;

	buffer_append(kept, bytes, length);
	/* Cuts only at twice the maximum: each cut moves all kept bytes. */
	if (kept->length > 2 * KEPT_MAXIMUM)
		buffer_consume(kept, kept->length - KEPT_MAXIMUM);
	if (transcript->is_open)
		output_stream_add(transcript->stream, bytes, length);
}

void pdbtranscript_open(struct pdbtranscript *transcript, bool is_open)
{
	struct buffer *kept = &transcript->kept;

	transcript->is_open = is_open;
	output_stream_restart(transcript->stream);
	if (!is_open)
		return;
	if (kept->length > KEPT_MAXIMUM)
		buffer_consume(kept, kept->length - KEPT_MAXIMUM);
	output_stream_add(transcript->stream, kept->data, kept->length);
	output_stream_flush(transcript->stream);
}

void pdbtranscript_flush(struct pdbtranscript *transcript)
{
	output_stream_flush(transcript->stream);
}
