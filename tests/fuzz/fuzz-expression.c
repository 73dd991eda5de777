/*
 * An expression, up to the first NUL, and behind it an image (image.h): the
 * expression is compared in a frame that is not there, and looked up in
 * whatever object the image begins with.
 */
#include <stdlib.h>
#include <string.h>

#include "banned.h"

#include "backends/cpython/cpython.h"
#include "backends/cpython/pyobject.h"
#include "backends/expression/pyexpression.h"
#include "backends/linux/memory.h"
#include "base/alloc.h"
#include "base/error.h"
#include "protocol/variable.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/image.h"

/* Where make-corpus.py puts the code type. */
#define CODE_TYPE (IMAGE_START + 0x7000)

/* Whatever fails says why. */
static void check(int result, const struct error *error)
{
	if (result < 0 && !error_is_set(error))
		abort();
}

static void compare(const struct pyexpression *expression, struct memory *memory,
		    const struct cpython *python)
{
	const struct pyobject_frame frame = { .address = IMAGE_START };
	struct error errors[4] = { ERROR_INIT };
	struct variable_list list = { .count = 0 };
	struct pyexpression_place place;
	struct pyreader reader;

	pyreader_init(&reader, memory, python);
	check(pyexpression_test(expression, &reader, &frame, &errors[0]), &errors[0]);
	check(pyexpression_show(expression, &reader, &frame, variable_list_add(&list), &errors[1]),
	      &errors[1]);
	check(pyexpression_place(expression, &reader, &frame, &place, &errors[2]), &errors[2]);
	pyreader_init(&reader, memory, python);
	check(pyexpression_place_again(expression, &reader, IMAGE_START, &place, &errors[3]),
	      &errors[3]);
	variable_list_clear(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t none[] = { 3 };
	struct cpython python = { .code_type = CODE_TYPE };
	char *text = xstrndup((const char *)data, size);
	size_t length = strlen(text) + 1;
	struct error error = ERROR_INIT;
	struct pyexpression *expression = pyexpression_parse(text, &error);
	struct memory *memory;

	check(expression ? 0 : -1, &error);
	if (length < size)
		memory = image_open(&python, data + length, size - length);
	else
		memory = image_open(&python, none, sizeof(none));
	if (expression && memory)
		compare(expression, memory, &python);
	memory_free(memory);
	pyexpression_free(expression);
	free(text);
	return 0;
}
