#include "backends/tensor/scan-query.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "backends/cpython/tensor-layout.h"
#include "banned.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/dtype.h"

/* Bytes of a slice's elements: strings may be long. */
#define SLICE_MAXIMUM (INT64_C(16) << 20)
#define SAMPLE_ELEMENTS (SCAN_QUERY_SAMPLE_BLOCKS * SCAN_QUERY_SAMPLE_ELEMENTS)

/* By their enumerators. */
static const char *const statistics_names[] = { NULL, "sample", "whole", "auto" };
static const char *const find_names[] = { NULL, "min", "max", "nan" };

int64_t scan_query_block_elements(int64_t element_count, int block_count)
{
	int64_t size = (element_count + block_count - 1) / block_count;

	return size > 0 ? size : 1;
}

void tensor_wish_init(struct tensor_wish *wish)
{
	*wish = (struct tensor_wish){ .after = -1, .timeout = SCAN_QUERY_TIMEOUT };
}

/* 0: it is not there. */
static int find_name(const json_t *body, const char *key, const char *const *names, int count)
{
	const char *text = json_get_string(body, key, NULL);
	int i = text ? count - 1 : 0;

	while (i > 0 && strcmp(names[i], text) != 0)
		i--;
	return i;
}

static int parse_data(struct tensor_wish *wish, const json_t *data, struct error *error)
{
	if (!data || json_is_null(data))
		return 0;
	wish->data_start = json_get_integer(data, "start", -1);
	wish->data_count = json_get_integer(data, "count", -1);
	if (wish->data_start < 0 || wish->data_count < 0)
		return error_set(error, "\"data\" is {\"start\": element, \"count\": elements}");
	wish->has_data = true;
	return 0;
}

static int parse_slice(struct tensor_wish *wish, const json_t *slice, struct error *error)
{
	if (!slice || json_is_null(slice))
		return 0;
	if (json_object_get(slice, "numbers"))
		return error_set(error, "a \"slice\" that is asked for has no numbers");
	if (tensor_slice_from_json(&wish->slice, slice, error) < 0)
		return -1;
	wish->has_slice = true;
	return 0;
}

int tensor_wish_parse(struct tensor_wish *wish, const json_t *body, struct error *error)
{
	tensor_wish_init(wish);
	wish->statistics = (enum scan_query_statistics)find_name(
		body, "statistics", statistics_names, ARRAY_LENGTH(statistics_names));
	wish->find =
		(enum scan_query_find)find_name(body, "find", find_names, ARRAY_LENGTH(find_names));
	wish->bins = json_get_count(body, "bins");
	wish->block_count = json_get_count(body, "blocks");
	if (parse_slice(wish, json_object_get(body, "slice"), error) < 0 ||
	    parse_data(wish, json_object_get(body, "data"), error) < 0)
		return -1;
	wish->has_hash = json_get_boolean(body, "hash", false);
	wish->after = json_get_integer(body, "after", -1);
	wish->timeout = json_get_real(body, "timeout", SCAN_QUERY_TIMEOUT);
	if (!(wish->timeout > 0) || wish->timeout > SCAN_QUERY_TIMEOUT_MAXIMUM)
		return error_set(error, "\"timeout\" is in seconds, at most %.0f",
				 SCAN_QUERY_TIMEOUT_MAXIMUM);
	if (wish->bins > 0 && wish->statistics == SCAN_QUERY_NO_STATISTICS)
		wish->statistics = SCAN_QUERY_AUTO;
	return 0;
}

int tensor_wish_parse_each(struct tensor_wish *wish, const json_t *body, struct error *error)
{
	struct tensor_wish all;

	if (tensor_wish_parse(&all, body, error))
		return -1;
	tensor_wish_init(wish);
	wish->statistics = all.statistics;
	wish->has_hash = all.has_hash;
	wish->timeout = all.timeout;
	return 0;
}

bool tensor_wish_is_any(const struct tensor_wish *wish)
{
	return wish->statistics != SCAN_QUERY_NO_STATISTICS || wish->has_hash ||
	       wish->block_count > 0 || wish->has_slice || wish->find != SCAN_QUERY_FIND_NOTHING ||
	       wish->has_data;
}

bool tensor_wish_is_whole(const struct tensor_wish *wish, const struct tensor_layout *layout)
{
	bool is_small = tensor_layout_element_count(layout) <= SAMPLE_ELEMENTS;

	switch (wish->statistics) {
	case SCAN_QUERY_NO_STATISTICS:
		return wish->has_hash || wish->block_count > 0;
	case SCAN_QUERY_SAMPLE:
		return is_small;
	case SCAN_QUERY_WHOLE:
		return true;
	case SCAN_QUERY_AUTO:
		return is_small || tensor_layout_byte_count(layout) <= SCAN_QUERY_WHOLE_BYTES;
	}
	return false;
}

/* The part of a dimension that runs, and those that stand. */
static bool is_within(const struct tensor_slice *slice, const struct tensor_layout *layout)
{
	for (int i = 0; i < layout->dimension_count; i++) {
		int64_t start = slice->index[i];
		int64_t count = 1;

		if (i == slice->row_dimension) {
			start = slice->row;
			count = slice->row_count;
		} else if (i == slice->column_dimension) {
			start = slice->column;
			count = slice->column_count;
		}
		if (start < 0 || count < 0 || start > layout->shape[i] ||
		    count > layout->shape[i] - start)
			return false;
	}
	return true;
}

static int check_slice(const struct tensor_slice *slice, const struct tensor_layout *layout,
		       struct error *error)
{
	int64_t cells = slice->row_count * slice->column_count;

	if (slice->dimension_count != layout->dimension_count)
		return error_set(error, "the slice is of %d dimensions, the tensor of %d",
				 slice->dimension_count, layout->dimension_count);
	if ((slice->row_dimension < 0 && slice->row_count > 1) ||
	    (slice->column_dimension < 0 && slice->column_count > 1) || !is_within(slice, layout))
		return error_set(error, "the slice reaches beyond the tensor: its shape is another "
					"now, or ask for less");
	if (cells > 0 && layout->item_size > SLICE_MAXIMUM / cells)
		return error_set(error,
				 "elements of %" PRId64 " bytes: ask for fewer of them at once",
				 layout->item_size);
	return 0;
}

static int check_data(const struct tensor_wish *wish, const struct tensor_layout *layout,
		      struct error *error)
{
	int64_t count = tensor_layout_element_count(layout);

	if (wish->data_start > count || wish->data_count > count - wish->data_start)
		return error_set(error,
				 "the tensor has %" PRId64 " elements, there is no data of %" PRId64
				 " from %" PRId64 " on",
				 count, wish->data_count, wish->data_start);
	if (wish->data_count > 0 && layout->item_size > TENSOR_DATA_MAXIMUM / wish->data_count)
		return error_set(error,
				 "%" PRId64 " elements of %" PRId64
				 " bytes: at most %d bytes at once",
				 wish->data_count, layout->item_size, (int)TENSOR_DATA_MAXIMUM);
	return 0;
}

int tensor_wish_check(const struct tensor_wish *wish, const struct tensor_layout *layout,
		      struct error *error)
{
	enum dtype_class class = layout->dtype->class;
	bool has_order = dtype_is_number(layout->dtype) && class != DTYPE_COMPLEX;

	if (wish->has_slice && check_slice(&wish->slice, layout, error) < 0)
		return -1;
	if (wish->has_data && check_data(wish, layout, error) < 0)
		return -1;
	if (wish->has_data && layout->has_mask)
		return error_set(error,
				 "it has a mask, which the bytes of its elements would lack");
	if (wish->has_data && class == DTYPE_OBJECT)
		return error_set(
			error,
			"elements of %s are pointers: there are no bytes of theirs to be had",
			layout->dtype->name);
	if (wish->find == SCAN_QUERY_FIND_NAN && !dtype_is_number(layout->dtype))
		return error_set(error, "elements of %s are no numbers", layout->dtype->name);
	if ((wish->find == SCAN_QUERY_FIND_MINIMUM || wish->find == SCAN_QUERY_FIND_MAXIMUM) &&
	    !has_order)
		return error_set(error,
				 "elements of %s have no order: none is the least or the greatest",
				 layout->dtype->name);
	return 0;
}
