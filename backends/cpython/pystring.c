#include "backends/cpython/pystring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpython/cpython.h"
#include "backends/cpython/offsets.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pyreader.h"
#include "backends/cpython/pytype.h"
#include "backends/cpython/pywriter.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/text.h"

/* Maximum characters fetched in one read. */
#define CHUNK 512

static bool is_surrogate(uint32_t character)
{
	return character >= 0xd800 && character <= 0xdfff;
}

/* state's bits: interned:2, kind:3, compact:1, ascii:1. */
int pystring_parse(struct pystring *string, const struct cpython *python, uint64_t address,
		   const uint8_t *head)
{
	const struct offsets *at = &python->offsets;
	uint8_t state = head[at->uni_state];
	bool is_compact = state >> 5 & 1;
	bool is_ascii = state >> 6 & 1;

	string->length = (int64_t)pyreader_word(head, PYREADER_HEAD);
	string->width = state >> 2 & 7;
	string->data = 0;
	if (is_compact)
		string->data = address + (uint64_t)(is_ascii ? at->ascii_size : at->compact_size);
	if (string->length < 0 || (string->width != 1 && string->width != 2 && string->width != 4))
		return -1;
	return 0;
}

int pystring_read(struct pyreader *reader, uint64_t address, struct pystring *string)
{
	const struct offsets *at = &reader->python->offsets;
	uint8_t head[OFFSETS_STRING_BYTES];

	if (!pytype_has(reader, address, PYTYPE_STRING) ||
	    pyreader_read(reader, address, head, (size_t)at->ascii_size) ||
	    pystring_parse(string, reader->python, address, head))
		return -1;
	if (string->data)
		return 0;
	return pyreader_pointer(reader, address + (uint64_t)at->compact_size, &string->data);
}

/* Native byte order: probetui runs on the same machine. */
static uint32_t character_at(const uint8_t *bytes, size_t i, unsigned width)
{
	uint32_t character = 0;

	memcpy(&character, bytes + i * width, width);
	return character;
}

int pystring_characters(struct pyreader *reader, const struct pystring *string, int64_t start,
			size_t count, uint32_t *characters)
{
	uint64_t address = string->data + (uint64_t)start * string->width;
	uint8_t bytes[CHUNK * 4];

	while (count) {
		size_t now = count < CHUNK ? count : CHUNK;

		if (pyreader_read(reader, address, bytes, now * string->width))
			return -1;
		for (size_t i = 0; i < now; i++)
			characters[i] = character_at(bytes, i, string->width);
		address += now * string->width;
		characters += now;
		count -= now;
	}
	return 0;
}

bool pystring_equals(struct pyreader *reader, uint64_t address, const char *text)
{
	struct pystring string;
	char bytes[256];
	size_t length = strlen(text);

	/* Most strings differ in length; comparing the lengths costs one read. */
	if (pyreader_size(reader, address, &string.length) || string.length != (int64_t)length ||
	    length > sizeof(bytes))
		return false;
	return !pystring_read(reader, address, &string) && string.length == (int64_t)length &&
	       string.width == 1 && !pyreader_read(reader, string.data, bytes, length) &&
	       !memcmp(bytes, text, length);
}

static void put_character(struct buffer *out, uint32_t character)
{
	if (is_surrogate(character) || character > 0x10ffff)
		buffer_printf(out, "\\u%04x", character);
	else
		text_put_codepoint(out, (int32_t)character);
}

void pystring_decode(struct buffer *out, const uint8_t *bytes, size_t count, unsigned width)
{
	for (size_t i = 0; i < count; i++)
		put_character(out, character_at(bytes, i, width));
}

int pyobject_string(struct pyreader *reader, uint64_t address, size_t maximum, struct buffer *out)
{
	struct pystring string;
	size_t before = out->length;
	uint8_t bytes[CHUNK * 4];
	size_t left;

	if (pystring_read(reader, address, &string))
		return -1;
	left = (uint64_t)string.length > maximum ? maximum : (size_t)string.length;
	while (left > 0) {
		size_t now = left < CHUNK ? left : CHUNK;

		if (pyreader_read(reader, string.data, bytes, now * string.width)) {
			buffer_truncate(out, before);
			return -1;
		}
		pystring_decode(out, bytes, now, string.width);
		string.data += now * string.width;
		left -= now;
	}
	return 0;
}

/* The first characters of a str or bytes, and how to quote them. */
struct quoted {
	const uint32_t *characters;
	size_t count;
	bool is_bytes;
	bool is_cut;
	char quote;
};

/* Like unicode_repr and PyBytes_Repr: " only if the text has ' and no ". */
static char choose_quote(const struct quoted *quoted)
{
	bool has_single = false;

	for (size_t i = 0; i < quoted->count; i++) {
		if (quoted->characters[i] == '"')
			return '\'';
		has_single |= quoted->characters[i] == '\'';
	}
	return has_single ? '"' : '\'';
}

static void escape_number(struct buffer *out, uint32_t character)
{
	if (character <= 0xff)
		buffer_printf(out, "\\x%02x", character);
	else if (character <= 0xffff)
		buffer_printf(out, "\\u%04x", character);
	else
		buffer_printf(out, "\\U%08x", character);
}

static void escape(struct buffer *out, const struct quoted *quoted, uint32_t character)
{
	static const char named[] = "\tt\nn\rr\\\\";

	for (size_t i = 0; named[i]; i += 2) {
		if (character != (unsigned char)named[i])
			continue;
		buffer_append_char(out, '\\');
		buffer_append_char(out, named[i + 1]);
		return;
	}
	if (character == (unsigned char)quoted->quote)
		buffer_append_char(out, '\\');
	if (character >= 0x20 && character < 0x7f)
		buffer_append_char(out, (char)character);
	else if (!quoted->is_bytes && character <= 0x10ffff &&
		 text_is_printable((int32_t)character))
		text_put_codepoint(out, (int32_t)character);
	else
		escape_number(out, character);
}

static void write_quoted(struct pywriter *writer, struct quoted *quoted)
{
	quoted->quote = choose_quote(quoted);
	buffer_append_char(writer->out, quoted->quote);
	for (size_t i = 0; i < quoted->count; i++) {
		if (!pywriter_left(writer)) {
			quoted->is_cut = true;
			break;
		}
		escape(writer->out, quoted, quoted->characters[i]);
	}
	buffer_append_char(writer->out, quoted->quote);
	if (quoted->is_cut)
		pywriter_text(writer, PYWRITER_CUT);
}

void pystring_put(struct pywriter *writer, const uint32_t *characters, size_t count, bool is_bytes)
{
	struct quoted quoted = {
		.characters = characters,
		.count = count,
		.is_bytes = is_bytes,
	};

	if (is_bytes)
		pywriter_text(writer, "b");
	write_quoted(writer, &quoted);
}

/* Writes as many characters of string as fit, quoted. */
static void pystring_write_string(struct pywriter *writer, const struct pystring *string,
				  bool is_bytes)
{
	struct quoted quoted = { .is_bytes = is_bytes };
	uint32_t *characters;

	quoted.count = pywriter_left(writer);
	quoted.is_cut = (uint64_t)string->length > quoted.count;
	if (!quoted.is_cut)
		quoted.count = (size_t)string->length;
	characters = xcalloc(quoted.count + 1, sizeof(*characters));
	quoted.characters = characters;
	if (pystring_characters(writer->reader, string, 0, quoted.count, characters))
		pywriter_text(writer, PYWRITER_UNKNOWN);
	else
		write_quoted(writer, &quoted);
	free(characters);
}

void pystring_write(struct pywriter *writer, uint64_t address)
{
	struct pystring string;

	if (pystring_read(writer->reader, address, &string)) {
		pywriter_text(writer, PYWRITER_UNKNOWN);
		return;
	}
	pystring_write_string(writer, &string, false);
}

int pybytes_read(struct pyreader *reader, uint64_t address, uint64_t *data, int64_t *length)
{
	if (!pytype_has(reader, address, PYTYPE_BYTES) || pyreader_size(reader, address, length) ||
	    *length < 0)
		return -1;
	*data = address + (uint64_t)reader->python->offsets.bytes_sval;
	return 0;
}

void pybytes_write(struct pywriter *writer, uint64_t address)
{
	struct pystring string = { .width = 1 };

	if (pybytes_read(writer->reader, address, &string.data, &string.length)) {
		pywriter_text(writer, PYWRITER_UNKNOWN);
		return;
	}
	pywriter_text(writer, "b");
	pystring_write_string(writer, &string, true);
}

/* PyByteArrayObject: ob_size, ob_alloc, ob_bytes, ob_start. */
void pybytearray_write(struct pywriter *writer, uint64_t address)
{
	struct pystring string = { .width = 1 };
	uint64_t head = PYREADER_HEAD;

	if (pyreader_size(writer->reader, address, &string.length) || string.length < 0 ||
	    pyreader_pointer(writer->reader, address + head + 24, &string.data)) {
		pywriter_text(writer, PYWRITER_UNKNOWN);
		return;
	}
	pywriter_text(writer, "bytearray(b");
	pystring_write_string(writer, &string, true);
	pywriter_text(writer, ")");
}

/* SipHash, https://www.aumasson.jp/siphash/siphash.pdf */
struct sip {
	uint64_t v[4];
};

static uint64_t rotate(uint64_t word, int bits)
{
	return word << bits | word >> (64 - bits);
}

static void sip_rounds(struct sip *sip, int count)
{
	uint64_t *v = sip->v;

	while (count-- > 0) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

static void sip_word(struct sip *sip, uint64_t word, int rounds)
{
	sip->v[3] ^= word;
	sip_rounds(sip, rounds);
	sip->v[0] ^= word;
}

static uint64_t sip_hash(const uint64_t key[2], const char *text, size_t length, int rounds)
{
	struct sip sip = { {
		key[0] ^ UINT64_C(0x736f6d6570736575),
		key[1] ^ UINT64_C(0x646f72616e646f6d),
		key[0] ^ UINT64_C(0x6c7967656e657261),
		key[1] ^ UINT64_C(0x7465646279746573),
	} };
	size_t i = 0;
	uint64_t word;

	for (; i + sizeof(word) <= length; i += sizeof(word)) {
		memcpy(&word, text + i, sizeof(word));
		sip_word(&sip, word, rounds);
	}
	word = 0;
	memcpy(&word, text + i, length - i);
	sip_word(&sip, word | (uint64_t)length << 56, rounds);
	sip.v[2] ^= 0xff;
	sip_rounds(&sip, rounds + 2);
	return sip.v[0] ^ sip.v[1] ^ sip.v[2] ^ sip.v[3];
}

int pyhash_bytes(struct pyreader *reader, const void *bytes, size_t length, uint64_t *hash)
{
	const struct cpython *python = reader->python;
	uint64_t key[2];

	if (!python->hash_secret ||
	    pyreader_read(reader, python->hash_secret, key, sizeof(key)) < 0)
		return -1;
	/*
	 * 3.11 changed from SipHash-2-4 to SipHash-1-3; CPython replaces hash -1 (an error) by -2.
	 */
	*hash = length ? sip_hash(key, bytes, length, python->minor < 11 ? 2 : 1) : 0;
	if (*hash == UINT64_MAX)
		*hash = UINT64_MAX - 1;
	return 0;
}

int pyhash_text(struct pyreader *reader, const char *text, uint64_t *hash)
{
	return pyhash_bytes(reader, text, strlen(text), hash);
}
