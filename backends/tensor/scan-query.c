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

/* Maximum bytes of a slice's elements; a single element may be a long string. */
#define SLICE_MAXIMUM (INT64_C(16) << 20)
#define SAMPLE_ELEMENTS (SCAN_QUERY_SAMPLE_BLOCKS * SCAN_QUERY_SAMPLE_ELEMENTS)

/* The names in requests, indexed by the enumerators. */
static const char *const statistics_names[] = { NULL, "sample", "whole", "auto" };
static const char *const find_names[] = { NULL, "min", "max", "nan" };

int64_t scan_query_block_elements(int64_t element_count, int block_count)
{
	int64_t size = (element_count + block_count - 1) / block_count;

	return size > 0 ? size : 1;
}

void tensor_query_init(struct tensor_query *query)
{
	*query = (struct tensor_query){ .after = -1, .timeout = SCAN_QUERY_TIMEOUT };
}

/*
 * Returns the index of the key's value in names; 0: the key is missing, or names lacks the value.
 */
static int scan_query_find_name(const json_t *body, const char *key, const char *const *names,
				int count)
{
	const char *text = json_get_string(body, key, NULL);
	int i = text ? count - 1 : 0;

	while (i > 0 && strcmp(names[i], text) != 0)
		i--;
	return i;
}

static int parse_data(struct tensor_query *query, const json_t *data, struct error *error)
{
	if (!data || json_is_null(data))
		return 0;
	query->data_start = json_get_integer(data, "start", -1);
	query->data_count = json_get_integer(data, "count", -1);
	if (query->data_start < 0 || query->data_count < 0)
		return error_set(
			error,
			"\"data\" must be {\"start\": ELEMENT, \"count\": NUMBER}, both 0 or more");
	query->has_data = true;
	return 0;
}

static int parse_slice(struct tensor_query *query, const json_t *slice, struct error *error)
{
	if (!slice || json_is_null(slice))
		return 0;
	if (json_object_get(slice, "numbers"))
		return error_set(error, "a requested \"slice\" must not contain \"numbers\"");
	if (tensor_slice_from_json(&query->slice, slice, error) < 0)
		return -1;
	query->has_slice = true;
	return 0;
}

int tensor_query_parse(struct tensor_query *query, const json_t *body, struct error *error)
{
	tensor_query_init(query);
	query->statistics = (enum scan_query_statistics)scan_query_find_name(
		body, "statistics", statistics_names, ARRAY_LENGTH(statistics_names));
	query->find = (enum scan_query_find)scan_query_find_name(body, "find", find_names,
								 ARRAY_LENGTH(find_names));
	query->bins = json_get_count(body, "bins");
	query->block_count = json_get_count(body, "blocks");
	if (parse_slice(query, json_object_get(body, "slice"), error) < 0 ||
	    parse_data(query, json_object_get(body, "data"), error) < 0)
		return -1;
	query->has_hash = json_get_boolean(body, "hash", false);
	query->after = json_get_integer(body, "after", -1);
	query->timeout = json_get_real(body, "timeout", SCAN_QUERY_TIMEOUT);
	if (!(query->timeout > 0) || query->timeout > SCAN_QUERY_TIMEOUT_MAXIMUM)
		return error_set(error,
				 "\"timeout\" must be in seconds, greater than 0 and at most %.0f",
				 SCAN_QUERY_TIMEOUT_MAXIMUM);
	if (query->bins > 0 && query->statistics == SCAN_QUERY_NO_STATISTICS)
		query->statistics = SCAN_QUERY_AUTO;
	return 0;
}

int tensor_query_parse_each(struct tensor_query *query, const json_t *body, struct error *error)
{
	struct tensor_query all;

	if (tensor_query_parse(&all, body, error))
		return -1;
	tensor_query_init(query);
	query->statistics = all.statistics;
	query->has_hash = all.has_hash;
	query->timeout = all.timeout;
	return 0;
}

bool tensor_query_is_any(const struct tensor_query *query)
{
	return query->statistics != SCAN_QUERY_NO_STATISTICS || query->has_hash ||
	       query->block_count > 0 || query->has_slice ||
	       query->find != SCAN_QUERY_FIND_NOTHING || query->has_data;
}

bool tensor_query_is_whole(const struct tensor_query *query, const struct tensor_layout *layout)
{
	bool is_small = tensor_layout_element_count(layout) <= SAMPLE_ELEMENTS;

	switch (query->statistics) {
	case SCAN_QUERY_NO_STATISTICS:
		return query->has_hash || query->block_count > 0;
	case SCAN_QUERY_SAMPLE:
		return is_small;
	case SCAN_QUERY_WHOLE:
		return true;
	case SCAN_QUERY_AUTO:
		return is_small || tensor_layout_byte_count(layout) <= SCAN_QUERY_WHOLE_BYTES;
	}
	return false;
}

/* True if the slice's rows, columns and fixed indices lie within the layout. */
static bool scan_query_is_within(const struct tensor_slice *slice,
				 const struct tensor_layout *layout)
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
		return error_set(error, "the slice has %d dimensions, but the tensor has %d",
				 slice->dimension_count, layout->dimension_count);
	if ((slice->row_dimension < 0 && slice->row_count > 1) ||
	    (slice->column_dimension < 0 && slice->column_count > 1) ||
	    !scan_query_is_within(slice, layout))
		return error_set(error, "the slice exceeds the shape of the tensor, which may have "
					"changed: request a smaller slice");
	if (cells > 0 && layout->item_size > SLICE_MAXIMUM / cells)
		return error_set(error,
				 "too many elements of %" PRId64 " bytes: request fewer at once",
				 layout->item_size);
	return 0;
}

static int check_data(const struct tensor_query *query, const struct tensor_layout *layout,
		      struct error *error)
{
	int64_t count = tensor_layout_element_count(layout);

	if (query->data_start > count || query->data_count > count - query->data_start)
		return error_set(error,
				 "the tensor has %" PRId64 " elements: a read of %" PRId64
				 " from element %" PRId64 " goes past the end",
				 count, query->data_count, query->data_start);
	if (query->data_count > 0 && layout->item_size > TENSOR_DATA_MAXIMUM / query->data_count)
		return error_set(error,
				 "%" PRId64 " elements of %" PRId64
				 " bytes are too many: at most %d bytes at once",
				 query->data_count, layout->item_size, (int)TENSOR_DATA_MAXIMUM);
	return 0;
}

int tensor_query_check(const struct tensor_query *query, const struct tensor_layout *layout,
		       struct error *error)
{
	enum dtype_class class = layout->dtype->class;
	bool has_order = dtype_is_number(layout->dtype) && class != DTYPE_COMPLEX;

	if (query->has_slice && check_slice(&query->slice, layout, error) < 0)
		return -1;
	if (query->has_data && check_data(query, layout, error) < 0)
		return -1;
	if (query->has_data && layout->has_mask)
		return error_set(error,
				 "the tensor has a mask, which its raw bytes do not include");
	if (query->has_data && class == DTYPE_OBJECT)
		return error_set(error,
				 "elements of %s are pointers to Python objects: raw bytes are not "
				 "available",
				 layout->dtype->name);
	if (query->find == SCAN_QUERY_FIND_NAN && !dtype_is_number(layout->dtype))
		return error_set(error, "elements of %s are not numbers", layout->dtype->name);
	if ((query->find == SCAN_QUERY_FIND_MINIMUM || query->find == SCAN_QUERY_FIND_MAXIMUM) &&
	    !has_order)
		return error_set(error,
				 "elements of %s have no order, so there is no minimum or maximum",
				 layout->dtype->name);
	return 0;
}
