/*
 * A tensor or array at the image's start, of the Python that the first byte
 * names, as each version of torch would have it and as one that is not known.
 */
#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "banned.h"
#include "backends/cpython/cpython.h"
#include "backends/cpython/pyobject.h"
#include "backends/cpython/pytensor.h"
#include "backends/cpython/tensor-layout.h"
#include "backends/linux/memory.h"
#include "base/array.h"
#include "base/error.h"
#include "protocol/tensor.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/image.h"

/* What must hold of everything that is told. */
static void check(const struct pytensor *tensor)
{
	struct tensor_layout layout;
	struct error error = ERROR_INIT;
	struct tensor told;

	assert(tensor->dimension_count >= 0 && tensor->dimension_count <= PYTENSOR_DIMENSIONS);
	assert(tensor->dtype || *tensor->dtype_text);
	tensor_init(&told);
	pytensor_tell(tensor, &told);
	json_decref(tensor_to_json(&told));
	tensor_clear(&told);
	assert(pytensor_is_same(tensor, tensor));
	if (pytensor_layout(tensor, getpid(), &layout, &error))
		return;
	assert(tensor_layout_element_count(&layout) == tensor->element_count);
	if (tensor->family == PYTENSOR_TORCH && tensor->element_count)
		assert(tensor->storage_bytes >= tensor->item_size);
}

static void read_torch(struct pyreader *reader)
{
	struct pytensor tensor;
	bool has_gradient;
	uint64_t gradient;

	for (int i = 0; i < 2; i++)
		if (!pytensor_read_torch(reader, IMAGE_START, &tensor))
			check(&tensor);
	if (!pytensor_read_unseen(reader, IMAGE_START, &tensor))
		check(&tensor);
	pytensor_gradient(reader, IMAGE_START, &has_gradient, &gradient);
}

static void read_others(struct pyreader *reader)
{
	static int (*const read[])(struct pyreader *reader, uint64_t object,
				   struct pytensor *tensor) = {
		pytensor_read_numpy, pytensor_read_bytes, pytensor_read_bytearray,
		pytensor_read_array, pytensor_read_memoryview
	};
	struct error error = ERROR_INIT;
	struct pytensor tensor;

	for (size_t i = 0; i < ARRAY_LENGTH(read); i++)
		if (!read[i](reader, IMAGE_START, &tensor))
			check(&tensor);
	if (!pytensor_read(reader, IMAGE_START, &tensor, &error))
		check(&tensor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int versions[] = { 1013, 2001, 2002, 2006, 2014, -1 };
	struct cpython python = { .code_type = 0 };
	struct memory *memory = image_open(&python, data, size);
	struct pyreader reader;

	if (!memory)
		return 0;
	memory_begin(memory, false);
	for (size_t i = 0; i < ARRAY_LENGTH(versions); i++) {
		pyreader_init(&reader, memory, &python);
		reader.tensors.version = versions[i];
		read_torch(&reader);
	}
	pyreader_init(&reader, memory, &python);
	reader.tensors.is_blind = true;
	read_torch(&reader);
	read_others(&reader);
	memory_free(memory);
	return 0;
}
