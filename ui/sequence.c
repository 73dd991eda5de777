#include "ui/sequence.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"

#define ESCAPE 0x1b
#define BELL 0x07
#define CANCEL 0x18
#define SUBSTITUTE 0x1a
#define DELETE 0x7f

/* A string without a terminator must not swallow all later output. */
#define STRING_MAXIMUM 65536
#define COMBINED_MAXIMUM 2
#define NUMBERS_MAXIMUM 16
#define NUMBER_MAXIMUM 9999

/* Allowed bytes after ESC: cursor, line feeds, keypad, reset. */
static const char escapes[] = "78DEMHc=>";

/* Allowed control sequences: their final bytes, by the private marker after "ESC [". */
static const struct {
	char leader;
	const char *last;
} controls[] = {
	{ '\0', "@ABCDEFGHIJKLMPSTXZ`acdefghlmnrsu" },
	{ '?', "JKhln" },
	{ '>', "c" },
};

static bool sequence_is_allowed(char leader, char last)
{
	for (size_t i = 0; i < ARRAY_LENGTH(controls); i++)
		if (controls[i].leader == leader)
			return strchr(controls[i].last, last) != NULL;
	return false;
}

/*
 * Appends numbers and separators; numbers are limited to NUMBER_MAXIMUM. Returns false if there are
 * too many numbers.
 */
static bool append_numbers(struct buffer *out, const char *at, const char *end)
{
	int count = 1;

	while (at < end) {
		if (*at >= '0' && *at <= '9') {
			char *behind;
			long number = strtol(at, &behind, 10);

			if (number > NUMBER_MAXIMUM)
				number = NUMBER_MAXIMUM;
			buffer_printf(out, "%ld", number);
			at = behind;
			continue;
		}
		if ((*at != ';' && *at != ':') || ++count > NUMBERS_MAXIMUM)
			return false;
		buffer_append_char(out, *at++);
	}
	return true;
}

static void end_control(struct sequence *sequence, struct buffer *out, char last)
{
	const char *at = sequence->bytes;
	const char *end = at + sequence->length;
	char leader = '\0';
	size_t before = out->length;

	sequence->state = SEQUENCE_TEXT;
	sequence->bytes[sequence->length] = '\0';
	sequence->length = 0;
	if (at < end && *at >= '<' && *at <= '?')
		leader = *at++;
	if (!sequence_is_allowed(leader, last))
		return;
	buffer_append_string(out, "\033[");
	if (leader != '\0')
		buffer_append_char(out, leader);
	if (append_numbers(out, at, end))
		buffer_append_char(out, last);
	else
		buffer_truncate(out, before);
}

static void pass_text(struct sequence *sequence, struct buffer *out, unsigned char byte);

/* Takes one byte of "ESC [ …"; the bytes are kept until the final byte comes. */
static void pass_control(struct sequence *sequence, struct buffer *out, unsigned char byte)
{
	if (byte < ' ' || byte >= DELETE) {
		sequence->state = SEQUENCE_TEXT;
		sequence->length = 0;
		pass_text(sequence, out, byte);
	} else if (byte >= '@') {
		end_control(sequence, out, (char)byte);
	} else if (sequence->length + 1 < SEQUENCE_BYTES) {
		sequence->bytes[sequence->length++] = (char)byte;
	} else {
		/* No allowed sequence is so long; "!" as the first byte makes end_control() drop
		 * the sequence. */
		sequence->bytes[0] = '!';
	}
}

static void pass_escape(struct sequence *sequence, struct buffer *out, unsigned char byte)
{
	sequence->state = SEQUENCE_TEXT;
	sequence->length = 0;
	if (byte == '[') {
		sequence->state = SEQUENCE_CONTROL;
	} else if (byte != '\0' && strchr("]PX^_", byte) != NULL) {
		sequence->state = SEQUENCE_STRING;
		sequence->skipped = 0;
	} else if (byte >= ' ' && byte < '0') {
		sequence->state = SEQUENCE_INTERMEDIATE;
	} else if (byte < ' ' || byte >= DELETE) {
		pass_text(sequence, out, byte);
	} else if (strchr(escapes, byte) != NULL) {
		buffer_append_char(out, ESCAPE);
		buffer_append_char(out, (char)byte);
	}
}

/* Skips a sequence with intermediate bytes, such as the choice of a character set. */
static void pass_intermediate(struct sequence *sequence, struct buffer *out, unsigned char byte)
{
	if (byte >= ' ' && byte < '0')
		return;
	sequence->state = SEQUENCE_TEXT;
	if (byte < ' ')
		pass_text(sequence, out, byte);
}

static void sequence_skip_string(struct sequence *sequence, unsigned char byte)
{
	if (byte == BELL || byte == CANCEL || byte == SUBSTITUTE ||
	    ++sequence->skipped >= STRING_MAXIMUM)
		sequence->state = SEQUENCE_TEXT;
	else if (byte == ESCAPE)
		sequence->state = SEQUENCE_STRING_ESCAPE;
}

/* "ESC \" ends the string; any other sequence ends the string, too, and is processed. */
static void end_string(struct sequence *sequence, struct buffer *out, unsigned char byte)
{
	if (byte == '\\')
		sequence->state = SEQUENCE_TEXT;
	else
		pass_escape(sequence, out, byte);
}

/*
 * Returns the length of the UTF-8 character that begins with this byte, or 1 if no character begins
 * with this byte.
 */
static size_t character_bytes(unsigned char first)
{
	if (first >= 0xc2 && first < 0xe0)
		return 2;
	if (first >= 0xe0 && first < 0xf0)
		return 3;
	return first >= 0xf0 && first < 0xf5 ? 4 : 1;
}

/*
 * Appends the kept bytes: a character, or invalid bytes as text; drops excess combining characters.
 */
static void end_character(struct sequence *sequence, struct buffer *out)
{
	const char *at = sequence->bytes;
	bool is_combined;

	sequence->bytes[sequence->length] = '\0';
	is_combined =
		text_is_plain(at, sequence->length) && text_codepoint_width(text_next(&at)) == 0;
	sequence->combined = is_combined ? sequence->combined + 1 : 0;
	if (sequence->combined <= COMBINED_MAXIMUM)
		text_escape(out, sequence->bytes, sequence->length);
	sequence->length = 0;
}

static void pass_text(struct sequence *sequence, struct buffer *out, unsigned char byte)
{
	bool goes_on = (byte & 0xc0) == 0x80;

	if (sequence->length > 0 && !goes_on)
		end_character(sequence, out);
	if (byte >= 0x80) {
		sequence->bytes[sequence->length++] = (char)byte;
		if (sequence->length >= character_bytes((unsigned char)sequence->bytes[0]))
			end_character(sequence, out);
		return;
	}
	sequence->combined = 0;
	if (byte == ESCAPE)
		sequence->state = SEQUENCE_ESCAPE;
	else if (byte == '\n')
		buffer_append_string(out, "\r\n");
	else if (byte == '\r' || byte == '\t' || byte == '\b')
		buffer_append_char(out, (char)byte);
	else if (byte != BELL)
		text_escape(out, (const char *)&byte, 1);
}

/* Passes printable ASCII without the state machine; returns the count of bytes passed. */
static size_t pass_plain(struct sequence *sequence, struct buffer *out, const char *bytes,
			 size_t length)
{
	size_t i = 0;

	if (sequence->state != SEQUENCE_TEXT || sequence->length > 0)
		return 0;
	while (i < length && bytes[i] >= ' ' && bytes[i] < DELETE)
		i++;
	buffer_append(out, bytes, i);
	if (i > 0)
		sequence->combined = 0;
	return i;
}

void sequence_pass(struct sequence *sequence, struct buffer *out, const char *bytes, size_t length)
{
	size_t i = pass_plain(sequence, out, bytes, length);

	for (; i < length; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		switch (sequence->state) {
		case SEQUENCE_TEXT:
			pass_text(sequence, out, byte);
			break;
		case SEQUENCE_ESCAPE:
			pass_escape(sequence, out, byte);
			break;
		case SEQUENCE_INTERMEDIATE:
			pass_intermediate(sequence, out, byte);
			break;
		case SEQUENCE_CONTROL:
			pass_control(sequence, out, byte);
			break;
		case SEQUENCE_STRING:
			sequence_skip_string(sequence, byte);
			break;
		case SEQUENCE_STRING_ESCAPE:
			end_string(sequence, out, byte);
			break;
		}
		i += pass_plain(sequence, out, bytes + i + 1, length - i - 1);
	}
}
