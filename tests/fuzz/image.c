#include "tests/fuzz/image.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "banned.h"

#include "backends/cpython/cpython.h"
#include "backends/cpython/offsets.h"
#include "backends/linux/memory.h"

#define RECORD_SIZE 10

/* Pages that nothing was written to are never there: that is quick. */
static uint8_t *empty_image(void)
{
	void *bytes = mmap((void *)IMAGE_START, IMAGE_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (bytes == MAP_FAILED)
		abort();
	return bytes;
}

static void fill(const uint8_t *data, size_t size)
{
	uint8_t *bytes = empty_image();

	for (size_t i = 0; i + RECORD_SIZE <= size; i += RECORD_SIZE) {
		uint16_t word;
		uint64_t value;

		memcpy(&word, data + i, sizeof(word));
		memcpy(&value, data + i + sizeof(word), sizeof(value));
		if (value == IMAGE_TID)
			value = (uint64_t)gettid();
		memcpy(bytes + (size_t)word * sizeof(value), &value, sizeof(value));
	}
}

struct memory *image_open(struct cpython *python, const uint8_t *data, size_t size)
{
	if (size == 0)
		return NULL;
	python->minor =
		OFFSETS_MINOR_FIRST + data[0] % (OFFSETS_MINOR_LAST - OFFSETS_MINOR_FIRST + 1);
	python->offsets = *offsets_find(python->minor);
	fill(data + 1, size - 1);
	return memory_new(getpid());
}

void image_fill_bytes(const uint8_t *data, size_t size)
{
	uint8_t *bytes = empty_image();

	memcpy(bytes, data, size < IMAGE_SIZE ? size : IMAGE_SIZE);
}
