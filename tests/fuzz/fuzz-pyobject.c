/* An object at the image's start, of the version that the first byte names. */
#include <stdio.h>

#include "banned.h"

#include "backends/cpython/cpython.h"
#include "backends/cpython/pyobject.h"
#include "backends/linux/memory.h"
#include "base/buffer.h"
#include "base/error.h"
#include "protocol/variable.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/image.h"

/* Where make-corpus.py puts the code type. */
#define CODE_TYPE (IMAGE_START + 0x7000)
#define THREAD (IMAGE_START + 0x60000)

static void read_object(struct memory *memory, const struct cpython *python)
{
	const struct pyobject_frame frame = {
		.address = IMAGE_START,
		.thread = THREAD,
		.is_newest = true,
	};
	struct variable_list list = { .count = 0 };
	struct error error = ERROR_INIT;
	struct pyreader reader;
	struct buffer text = BUFFER_INIT;

	pyreader_init(&reader, memory, python);
	pyobject_type_name(&reader, IMAGE_START, &text);
	pyobject_repr(&reader, IMAGE_START, &text);
	pyobject_children(&reader, IMAGE_START, 0, 100, &list, &error);
	variable_list_clear(&list);
	pyobject_locals(&reader, &frame, 0, 100, &list, &error);
	variable_list_clear(&list);
	buffer_clear(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpython python = { .code_type = CODE_TYPE };
	struct memory *memory = image_open(&python, data, size);

	if (!memory)
		return 0;
	memory_begin(memory, false);
	read_object(memory, &python);
	memory_free(memory);
	return 0;
}
