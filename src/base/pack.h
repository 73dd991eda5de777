/*
 * pack: gzip (RFC 1952), over zlib, which besides only crc.c includes.
 *
 * A packed text is a row of members, each packed alone, so that reading may
 * begin at any of them. A member of ours carries a note in its header: bytes
 * that are not packed, at a fixed place, so that they can be written over
 * when the member's end is known. Other programs (zcat) skip it.
 *
 * What was flushed can be unpacked whether or not the member was ever ended.
 */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;
struct error;
struct pack;

/* Where a member's note lies, from its first byte. */
#define PACK_NOTE_OFFSET 16
#define PACK_NOTE_MAXIMUM 256

/* Begins a member with a note. */
struct pack *pack_new(const void *note, size_t note_length);
void pack_free(struct pack *pack);
/* Appends to out what of the member is ready. */
void pack_add(struct pack *pack, struct buffer *out, const void *bytes, size_t length);
/* The same until all that was added can be unpacked. */
void pack_flush(struct pack *pack, struct buffer *out);
/* The same until the member's end; nothing is added behind it. */
void pack_finish(struct pack *pack, struct buffer *out);

/* Whether bytes begin as a packed text does. */
bool pack_is_packed(const void *bytes, size_t length);
/*
 * Lends the note of so many bytes of the member that bytes begin with; NULL:
 * it has none.
 */
const unsigned char *pack_find_note(const void *bytes, size_t length, size_t note_length);

enum unpack_result {
	UNPACK_MORE, /* all bytes are used; the member has more */
	UNPACK_END,  /* the member ended */
};
struct unpack;

/* Begins at the first byte of a member. */
struct unpack *unpack_new(void);
void unpack_free(struct unpack *unpack);
/*
 * Appends to out what bytes (the next ones of the member) hold; *used says how
 * many of them the member has. -1 and a sentence's clause: they are broken, or
 * out's maximum is reached.
 */
int unpack_add(struct unpack *unpack, const void *bytes, size_t length, size_t *used,
	       struct buffer *out, struct error *error);

#endif
