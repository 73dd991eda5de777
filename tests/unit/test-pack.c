/* pack: members, their notes, and what can be unpacked when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/pack.h"

static const char note[] = "a note";

/* A member of text; without its end where is_cut. */
static void make(struct buffer *out, const char *text, bool is_cut)
{
	struct pack *pack = pack_new(note, sizeof(note));

	pack_add(pack, out, text, strlen(text));
	if (is_cut)
		pack_flush(pack, out);
	else
		pack_finish(pack, out);
	pack_free(pack);
}

/* How far one member's bytes were used; fails the test when broken. */
static size_t read_member(const char *bytes, size_t length, struct buffer *text, int wanted)
{
	struct unpack *unpack = unpack_new();
	struct error error = ERROR_INIT;
	size_t used = 0;

	assert_int_equal(unpack_add(unpack, bytes, length, &used, text, &error), wanted);
	assert_string_equal(error.message, "");
	unpack_free(unpack);
	return used;
}

static void members_are_read_one_by_one(void **state)
{
	struct buffer packed = BUFFER_INIT;
	struct buffer text = BUFFER_INIT;
	size_t first;

	(void)state;
	make(&packed, "one\n", false);
	first = packed.length;
	make(&packed, "two\n", false);
	assert_true(pack_is_packed(packed.data, packed.length));
	assert_int_equal(read_member(packed.data, packed.length, &text, UNPACK_END), first);
	assert_string_equal(text.data, "one\n");
	read_member(packed.data + first, packed.length - first, &text, UNPACK_END);
	assert_string_equal(text.data, "one\ntwo\n");
	buffer_clear(&text);
	buffer_clear(&packed);
}

static void what_was_flushed_can_be_read(void **state)
{
	struct buffer packed = BUFFER_INIT;
	struct buffer text = BUFFER_INIT;

	(void)state;
	make(&packed, "not ended\n", true);
	assert_int_equal(read_member(packed.data, packed.length, &text, UNPACK_MORE),
			 packed.length);
	assert_string_equal(text.data, "not ended\n");
	buffer_clear(&text);
	buffer_clear(&packed);
}

static void a_note_can_be_written_over(void **state)
{
	struct buffer packed = BUFFER_INIT;
	struct buffer text = BUFFER_INIT;
	const unsigned char *found;

	(void)state;
	make(&packed, "text\n", false);
	found = pack_find_note(packed.data, packed.length, sizeof(note));
	assert_non_null(found);
	assert_ptr_equal(found, packed.data + PACK_NOTE_OFFSET);
	assert_string_equal((const char *)found, note);
	memcpy(packed.data + PACK_NOTE_OFFSET, "A NOTE", sizeof(note));
	read_member(packed.data, packed.length, &text, UNPACK_END);
	assert_string_equal(text.data, "text\n");
	/* Of another length, or cut, it is not ours. */
	assert_null(pack_find_note(packed.data, packed.length, 3));
	assert_null(pack_find_note(packed.data, PACK_NOTE_OFFSET + 2, sizeof(note)));
	assert_null(pack_find_note("plain text, long enough for it", 30, sizeof(note)));
	buffer_clear(&text);
	buffer_clear(&packed);
}

static int unpack_error(const struct buffer *packed, struct buffer *text, struct error *error)
{
	struct unpack *unpack = unpack_new();
	size_t used;
	int result = unpack_add(unpack, packed->data, packed->length, &used, text, error);

	unpack_free(unpack);
	return result;
}

static void damage_is_said(void **state)
{
	struct buffer packed = BUFFER_INIT;
	struct buffer text = BUFFER_INIT;
	struct error error = ERROR_INIT;

	(void)state;
	make(&packed, "some text to be packed, some text\n", false);
	packed.data[packed.length - 6] ^= 1; /* the checksum */
	assert_int_equal(unpack_error(&packed, &text, &error), -1);
	assert_non_null(strstr(error.message, "damaged"));
	buffer_clear(&text);
	buffer_clear(&packed);
}

static void a_bomb_has_a_bound(void **state)
{
	static char zeros[1 << 20];
	struct pack *pack = pack_new(note, sizeof(note));
	struct buffer packed = BUFFER_INIT;
	struct buffer text;
	struct error error = ERROR_INIT;

	(void)state;
	for (int i = 0; i < 8; i++)
		pack_add(pack, &packed, zeros, sizeof(zeros));
	pack_finish(pack, &packed);
	assert_true(packed.length < 65536);
	buffer_init(&text, 4 << 20);
	assert_int_equal(unpack_error(&packed, &text, &error), -1);
	assert_non_null(strstr(error.message, "exceeds 4 MB"));
	assert_true(text.length <= 4 << 20);
	pack_free(pack);
	buffer_clear(&text);
	buffer_clear(&packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_read_one_by_one),
		cmocka_unit_test(what_was_flushed_can_be_read),
		cmocka_unit_test(a_note_can_be_written_over),
		cmocka_unit_test(damage_is_said),
		cmocka_unit_test(a_bomb_has_a_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
