#include "base/pack.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"

#define LEVEL 5		  /* compression level, 1 (fast) to 9 (small) */
#define GZIP_WINDOW 31	  /* window of 32 KB, with gzip's header and trailer */
#define MEMORY_LEVEL 8	  /* zlib's default */
#define CHUNK 16384	  /* bytes of output per call of zlib */
#define FLAG_EXTRA 4	  /* gzip header flag FEXTRA: an extra field follows */
#define EXTRA_OFFSET 12	  /* offset of the extra field's content in a member */
#define SUBFIELD_LENGTH 4 /* two letters and a 16-bit length, before the note */

struct pack {
	z_stream stream;
	gz_header header; /* the stream keeps a pointer to this header */
	unsigned char extra[SUBFIELD_LENGTH + PACK_NOTE_MAXIMUM];
};

struct unpack {
	z_stream stream;
};

/* zlib's allocations abort when memory is exhausted, as xmalloc() does. */
static void *allocate(void *data, unsigned int count, unsigned int size)
{
	(void)data;
	return xcalloc(count, size);
}

static void pack_release(void *data, void *memory)
{
	(void)data;
	free(memory);
}

struct pack *pack_new(const void *note, size_t note_length)
{
	struct pack *pack = xcalloc(1, sizeof(*pack));
	int status;

	assert(note_length <= PACK_NOTE_MAXIMUM);
	pack->extra[0] = 'p';
	pack->extra[1] = 't';
	pack->extra[2] = (unsigned char)(note_length & 0xff);
	pack->extra[3] = (unsigned char)(note_length >> 8);
	if (note_length > 0)
		memcpy(pack->extra + SUBFIELD_LENGTH, note, note_length);
	pack->header.extra = pack->extra;
	pack->header.extra_len = (unsigned int)(SUBFIELD_LENGTH + note_length);
	pack->header.os = 255; /* operating system: unknown */
	pack->stream.zalloc = allocate;
	pack->stream.zfree = pack_release;
	status = deflateInit2(&pack->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
			      Z_DEFAULT_STRATEGY);
	assert(status == Z_OK);
	status = deflateSetHeader(&pack->stream, &pack->header);
	assert(status == Z_OK);
	(void)status;
	return pack;
}

void pack_free(struct pack *pack)
{
	if (!pack)
		return;
	deflateEnd(&pack->stream);
	free(pack);
}

static void pack_run(struct pack *pack, struct buffer *out, int flush)
{
	unsigned char bytes[CHUNK];

	do {
		pack->stream.next_out = bytes;
		pack->stream.avail_out = sizeof(bytes);
		deflate(&pack->stream, flush);
		buffer_append(out, bytes, sizeof(bytes) - pack->stream.avail_out);
	} while (pack->stream.avail_out == 0);
}

void pack_add(struct pack *pack, struct buffer *out, const void *bytes, size_t length)
{
	const unsigned char *next = bytes;

	while (length > 0) {
		size_t part = length < INT_MAX ? length : INT_MAX;

		pack->stream.next_in = (unsigned char *)next;
		pack->stream.avail_in = (unsigned int)part;
		pack_run(pack, out, Z_NO_FLUSH);
		next += part;
		length -= part;
	}
}

void pack_flush(struct pack *pack, struct buffer *out)
{
	pack_run(pack, out, Z_SYNC_FLUSH);
}

void pack_finish(struct pack *pack, struct buffer *out)
{
	pack_run(pack, out, Z_FINISH);
}

bool pack_is_packed(const void *bytes, size_t length)
{
	static const unsigned char magic[] = { 0x1f, 0x8b, 8 };

	return length >= sizeof(magic) && memcmp(bytes, magic, sizeof(magic)) == 0;
}

const unsigned char *pack_find_note(const void *bytes, size_t length, size_t note_length)
{
	const unsigned char *header = bytes;

	if (length < PACK_NOTE_OFFSET + note_length || !pack_is_packed(bytes, length) ||
	    !(header[3] & FLAG_EXTRA) || header[EXTRA_OFFSET] != 'p' ||
	    header[EXTRA_OFFSET + 1] != 't' || header[EXTRA_OFFSET + 2] != (note_length & 0xff) ||
	    header[EXTRA_OFFSET + 3] != note_length >> 8)
		return NULL;
	return header + PACK_NOTE_OFFSET;
}

struct unpack *unpack_new(void)
{
	struct unpack *unpack = xcalloc(1, sizeof(*unpack));
	int status;

	unpack->stream.zalloc = allocate;
	unpack->stream.zfree = pack_release;
	status = inflateInit2(&unpack->stream, GZIP_WINDOW);
	assert(status == Z_OK);
	(void)status;
	return unpack;
}

void unpack_free(struct unpack *unpack)
{
	if (!unpack)
		return;
	inflateEnd(&unpack->stream);
	free(unpack);
}

/* Decompresses at most one chunk of output; returns zlib's status, or -1 and sets *error. */
static int unpack_chunk(z_stream *stream, struct buffer *out, struct error *error)
{
	unsigned char bytes[CHUNK];
	size_t count;
	int status;

	stream->next_out = bytes;
	stream->avail_out = sizeof(bytes);
	status = inflate(stream, Z_NO_FLUSH);
	count = sizeof(bytes) - stream->avail_out;
	if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
		error_set(error, "the compressed data is damaged (%s)",
			  stream->msg ? stream->msg : "not gzip data");
		return -1;
	}
	if (count > 0 && buffer_append(out, bytes, count) < 0) {
		error_set(error, "the decompressed data exceeds %zu MB", out->maximum >> 20);
		return -1;
	}
	return status;
}

int unpack_add(struct unpack *unpack, const void *bytes, size_t length, size_t *used,
	       struct buffer *out, struct error *error)
{
	z_stream *stream = &unpack->stream;
	size_t part = length < INT_MAX ? length : INT_MAX;
	int status;

	stream->next_in = (unsigned char *)bytes;
	stream->avail_in = (unsigned int)part;
	do {
		status = unpack_chunk(stream, out, error);
		if (status < 0)
			return -1;
	} while (status == Z_OK && (stream->avail_in > 0 || stream->avail_out == 0));
	*used = part - stream->avail_in;
	return status == Z_STREAM_END ? UNPACK_END : UNPACK_MORE;
}

uint32_t crc_add(uint32_t crc, const void *bytes, size_t length)
{
	return (uint32_t)crc32_z(crc, bytes, length);
}

uint32_t crc_combine(uint32_t first, uint32_t second, int64_t length)
{
	return (uint32_t)crc32_combine(first, second, length);
}
