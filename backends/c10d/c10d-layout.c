#include "backends/c10d/c10d-layout.h"

#include "backends/cpython/pyreader.h"
#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"

#define STRING_MAXIMUM 4096
/* sizeof(std::string) with the ABI before C++11: a pointer to the characters, whose length is in
 * the words before them. */
#define OLD_STRING_SIZE 8
#define OLD_STRING_LENGTH 24 /* distance of the length from the characters */

static const struct c10d_layout layouts[] = {
#include "backends/c10d/c10d-layout.inc"
};

const struct c10d_layout *c10d_layout_find(int version, bool has_old_strings)
{
	for (size_t i = 0; i < ARRAY_LENGTH(layouts); i++)
		if (version >= layouts[i].first && version <= layouts[i].last &&
		    (layouts[i].string_size == OLD_STRING_SIZE) == has_old_strings)
			return &layouts[i];
	return NULL;
}

void c10d_layout_append_versions(struct buffer *out)
{
	const struct c10d_layout *last = &layouts[ARRAY_LENGTH(layouts) - 1];

	buffer_printf(out, "%d.%d to %d.%d", layouts[0].first / 1000, layouts[0].first % 1000,
		      last->last / 1000, last->last % 1000);
}

int c10d_string(struct pyreader *reader, const struct c10d_layout *layout, const uint8_t *bytes,
		uint64_t address, struct buffer *out)
{
	uint64_t characters = pyreader_word(bytes, 0);
	char text[STRING_MAXIMUM];
	uint64_t length;

	if (layout->string_size == OLD_STRING_SIZE) {
		if (pyreader_pointer(reader, characters - OLD_STRING_LENGTH, &length))
			return -1;
	} else {
		length = pyreader_word(bytes, 8);
	}
	if (length > sizeof(text))
		return -1;
	/* A short string lies in the object itself, which may have been read already. */
	if (layout->string_size != OLD_STRING_SIZE && characters == address + 16) {
		if (length > 15)
			return -1;
		buffer_append(out, (const char *)bytes + 16, (size_t)length);
		return 0;
	}
	if (length > 0 && pyreader_read(reader, characters, text, (size_t)length))
		return -1;
	buffer_append(out, text, (size_t)length);
	return 0;
}

int c10d_vector(const uint8_t *bytes, size_t element_size, size_t maximum, uint64_t *address,
		size_t *count)
{
	uint64_t end = pyreader_word(bytes, 8);

	*address = pyreader_word(bytes, 0);
	*count = (size_t)((end - *address) / element_size);
	if (end < *address || (end - *address) % element_size || *count > maximum)
		return -1;
	return 0;
}
