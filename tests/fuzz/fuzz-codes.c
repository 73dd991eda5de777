/*
 * An interpreter with its threads, frames, and modules, at the image's start:
 * code is looked for by file and by function.
 */
#include <stdio.h>

#include "banned.h"

#include "backends/cpython/code-search.h"
#include "backends/cpython/cpython.h"
#include "backends/linux/memory.h"
#include "base/array.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/image.h"

static void search(struct codes *codes)
{
	static const struct {
		void (*find)(struct codes *codes, const char *name, struct code_list *list);
		const char *name;
	} searches[] = {
		{ code_search_of_file, "train.py" },
		{ code_search_of_file_far, "/x/train.py" },
		{ code_search_of_function, "f" },
		{ code_search_of_function, "train.C.f" },
	};

	for (size_t i = 0; i < ARRAY_LENGTH(searches); i++) {
		struct code_list list = { .items = NULL };

		searches[i].find(codes, searches[i].name, &list);
		code_list_clear(&list);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cpython python = { .runtime = IMAGE_START };
	struct memory *memory = image_open(&python, data, size);
	struct code_list list = { .items = NULL };
	struct codes *codes;

	if (!memory)
		return 0;
	codes = code_search_new(memory, &python);
	code_search_revision(codes);
	search(codes);
	code_search_nested(codes, IMAGE_START + 0x63000, &list);
	code_search_of_function_in(codes, IMAGE_START + 0x63000, "C.f", &list);
	code_list_clear(&list);
	code_search_revision(codes);
	code_search_free(codes);
	memory_free(memory);
	return 0;
}
