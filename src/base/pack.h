/*
 * pack: gzip (RFC 1952), over zlib, which only pack.c includes.
 *
 * A packed text is a sequence of gzip members, each packed alone, so that reading can begin at any
 * member. A member that pack_new() wrote has a note: uncompressed bytes in the extra field of the
 * member's header. The note is at a fixed offset, so that it can be overwritten when the member's
 * end is known. Other programs (zcat) skip the note.
 *
 * Flushed bytes can be unpacked even if the member was never finished.
 */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;
struct error;
struct pack;

/* Offset of a member's note from the member's first byte. */
#define PACK_NOTE_OFFSET 16
#define PACK_NOTE_MAXIMUM 256

/* Begins a member with a note. */
struct pack *pack_new(const void *note, size_t note_length);
void pack_free(struct pack *pack);
/* Compresses bytes; appends to out the output that is ready. */
void pack_add(struct pack *pack, struct buffer *out, const void *bytes, size_t length);
/* Appends the output that is needed to unpack all bytes added so far. */
void pack_flush(struct pack *pack, struct buffer *out);
/* Appends the rest of the member and its trailer; add nothing afterwards. */
void pack_finish(struct pack *pack, struct buffer *out);

/* True if bytes begin with gzip's magic number. */
bool pack_is_packed(const void *bytes, size_t length);
/*
 * Returns the note of the member that begins at bytes, borrowed; NULL: the member has no note of
 * note_length bytes.
 */
const unsigned char *pack_find_note(const void *bytes, size_t length, size_t note_length);

enum unpack_result {
	UNPACK_MORE, /* all bytes were used; the member continues */
	UNPACK_END,  /* the member ended */
};
struct unpack;

/* Starts to unpack at the first byte of a member. */
struct unpack *unpack_new(void);
void unpack_free(struct unpack *unpack);
/*
 * Appends the next bytes of the member, unpacked, to out; *used: number of these bytes that belong
 * to the member. Returns enum unpack_result; -1 and *error: damaged, or out's maximum is reached.
 */
int unpack_add(struct unpack *unpack, const void *bytes, size_t length, size_t *used,
	       struct buffer *out, struct error *error);

/*
 * The CRC-32 of zlib, gzip and Python's zlib.crc32(), over zlib. The sums of
 * separate parts can be combined.
 */

/* Returns the CRC-32 of the bytes behind those of crc; crc is 0 at first. Thread-safe. */
uint32_t crc_add(uint32_t crc, const void *bytes, size_t length);
/* Combines the sums of two adjacent parts; length is the second part's, in bytes. */
uint32_t crc_combine(uint32_t first, uint32_t second, int64_t length);

#endif
