/*
 * A layout over a row of bytes of this process, and what is wanted of it: the
 * fields of struct head, the shape and strides of each dimension, the bytes.
 * Half of the layouts keep within the bytes, and of these each element must be
 * what the index says; the others point wherever they like.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "banned.h"

#include "backends/tensor/elements.h"
#include "backends/tensor/scan-phases.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "protocol/dtype.h"
#include "tests/fuzz/fuzz.h"

#define ELEMENTS_MAXIMUM 65536

struct head {
	uint8_t dtype;
	uint8_t dimensions;
	uint8_t flags; /* 1: swapped, 2: anywhere */
	uint8_t query;
	uint8_t bins;
	uint8_t blocks;
	uint16_t item_size;
	int64_t address; /* or an offset into the bytes */
	int64_t start;
	int64_t count;
};

static const char *const dtypes[] = {
	"float32",	 "bfloat16",	   "float16",	 "float64",	"int64",
	"uint64",	 "int8",	   "bool",	 "complex64",	"complex32",
	"float8_e4m3fn", "float8_e8m0fnu", "longdouble", "clongdouble", "datetime64",
	"str",		 "bytes",	   "void",	 "object",	"quint4x2",
};

/* Takes so many bytes from the input; what is not there is 0. */
static void take(const uint8_t **data, size_t *size, void *out, size_t length)
{
	size_t part = *size < length ? *size : length;

	memset(out, 0, length);
	if (part > 0)
		memcpy(out, *data, part);
	*data += part;
	*size -= part;
}

static bool is_within(const struct tensor_layout *layout, const uint8_t *bytes, size_t size)
{
	uint64_t low = layout->address;
	uint64_t high = layout->address + (uint64_t)layout->item_size;

	for (int i = 0; i < layout->dimension_count; i++) {
		int64_t reach = (layout->shape[i] - 1) * layout->strides[i];

		if (reach < 0)
			low += (uint64_t)reach;
		else
			high += (uint64_t)reach;
	}
	return low >= (uint64_t)(uintptr_t)bytes && high <= (uint64_t)(uintptr_t)bytes + size;
}

/* Each element is where its index says; abort() else. */
static void check_elements(const struct tensor_layout *layout)
{
	struct elements elements;
	int64_t item = layout->item_size;
	int64_t count = tensor_layout_element_count(layout);
	struct error error = ERROR_INIT;
	uint8_t *read;

	if (layout->is_swapped || count == 0 || item == 0)
		return;
	elements_init(&elements, layout);
	read = xmalloc((size_t)(count * item));
	if (elements_read(&elements, 0, elements.unit_count, read, &error) != elements.unit_count)
		abort();
	for (int64_t i = 0; i < count; i++) {
		uint64_t address = tensor_layout_address(layout, i);

		if (memcmp(read + i * item, (void *)(uintptr_t)address, (size_t)item) != 0)
			abort();
	}
	free(read);
}

static void run(const struct tensor_layout *layout, const struct tensor_query *query)
{
	struct error error = ERROR_INIT;
	struct scan_phases phases;

	if (scan_phases_init(&phases, layout, query, &error) < 0) {
		scan_phases_clear(&phases);
		return;
	}
	for (; scan_phases_next(&phases) != PHASE_END; phases.phase++) {
		int64_t bins[TENSOR_BINS_MAXIMUM] = { 0 };

		if (phases.phase == PHASE_PLACES)
			scan_phases_read_places(&phases, &error);
		for (size_t i = 0; i < phases.ranges.count; i++) {
			struct scan_part *part = &phases.ranges.parts[i];

			scan_run(&phases.scan, part, phases.phase == PHASE_HISTOGRAM ? bins : NULL,
				 &error);
			part->is_done = !part->is_failed;
		}
		if (phases.phase != PHASE_PLACES)
			scan_phases_fold(&phases);
	}
	scan_phases_clear(&phases);
}

static void set_query(struct tensor_query *query, const struct head *head)
{
	tensor_query_init(query);
	query->statistics = (enum scan_query_statistics)(head->query & 3);
	query->find = (enum scan_query_find)(head->query >> 2 & 3);
	query->has_hash = head->query >> 4 & 1;
	query->has_data = head->query >> 5 & 1;
	query->has_slice = head->query >> 6 & 1;
	query->bins = head->bins;
	query->block_count = head->blocks;
	query->after = head->start < -1 ? -1 : head->start;
	query->data_start = head->start < 0 ? 0 : head->start;
	query->data_count = head->count < 0 ? 0 : head->count;
	query->slice = (struct tensor_slice){
		.row_dimension = head->dimensions > 1 ? 0 : -1,
		.column_dimension = head->dimensions > 0 ? 1 : -1,
		.dimension_count = head->dimensions,
		.row_count = 1,
		.column_count = head->count & 255,
		.column = head->start & 255,
	};
	if (head->dimensions == 1)
		query->slice.column_dimension = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tensor_layout layout = { .pid = getpid() };
	struct tensor_query query;
	struct error error = ERROR_INIT;
	struct head head;
	uint8_t *bytes;

	take(&data, &size, &head, sizeof(head));
	head.dimensions %= TENSOR_DIMENSIONS + 1;
	layout.dtype = dtype_find(dtypes[head.dtype % ARRAY_LENGTH(dtypes)]);
	layout.item_size = layout.dtype->size ? layout.dtype->size : head.item_size;
	layout.is_swapped = head.flags & 1;
	layout.dimension_count = head.dimensions;
	for (int i = 0; i < head.dimensions; i++) {
		int16_t pair[2];

		take(&data, &size, pair, sizeof(pair));
		layout.shape[i] = pair[0];
		layout.strides[i] = pair[1];
		if (head.flags & 2)
			layout.strides[i] = pair[1] * (INT64_C(1) << 40);
	}
	bytes = xmalloc(size + 1);
	memcpy(bytes, data, size);
	layout.address = (uint64_t)head.address;
	if (!(head.flags & 2))
		layout.address = (uint64_t)(uintptr_t)bytes + (uint64_t)(head.address & 0xffff);
	set_query(&query, &head);
	if (tensor_layout_check(&layout, &error) == 0 &&
	    tensor_layout_element_count(&layout) <= ELEMENTS_MAXIMUM &&
	    tensor_layout_byte_count(&layout) <= ELEMENTS_MAXIMUM * 16) {
		if (tensor_layout_element_count(&layout) > 0 && is_within(&layout, bytes, size))
			check_elements(&layout);
		run(&layout, &query);
	}
	free(bytes);
	return 0;
}
