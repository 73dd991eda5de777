#include "protocol/tensorslice.h"

#include <stdbool.h>
#include <stdlib.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"

void tensor_slice_clear(struct tensor_slice *slice)
{
	for (size_t i = 0; i < slice->count; i++)
		tensor_number_clear(&slice->numbers[i]);
	free(slice->numbers);
	*slice = (struct tensor_slice){ .row_dimension = -1, .column_dimension = -1 };
}

json_t *tensor_slice_to_json(const struct tensor_slice *slice)
{
	json_t *json = json_object();
	json_t *numbers;

	json_object_set_new(json, "rowDimension", json_integer(slice->row_dimension));
	json_object_set_new(json, "columnDimension", json_integer(slice->column_dimension));
	json_object_set_new(json, "index",
			    json_integers(slice->index, (size_t)slice->dimension_count));
	json_object_set_new(json, "row", json_integer(slice->row));
	json_object_set_new(json, "rows", json_integer(slice->row_count));
	json_object_set_new(json, "column", json_integer(slice->column));
	json_object_set_new(json, "columns", json_integer(slice->column_count));
	if (!slice->numbers)
		return json;
	numbers = json_array();
	for (size_t i = 0; i < slice->count; i++)
		json_array_append_new(numbers, tensor_number_to_json(&slice->numbers[i]));
	json_object_set_new(json, "numbers", numbers);
	return json;
}

static int tensorslice_read_numbers(struct tensor_slice *slice, const json_t *numbers,
				    struct error *error)
{
	size_t count = json_array_size(numbers);

	if (!json_is_array(numbers) || count != (size_t)(slice->row_count * slice->column_count))
		return error_set(error, "tensor: a slice has not as many numbers as it says");
	slice->numbers = xcalloc(count ? count : 1, sizeof(*slice->numbers));
	slice->count = count;
	for (size_t i = 0; i < count; i++)
		if (tensor_number_from_json(&slice->numbers[i], json_array_get(numbers, i), error) <
		    0)
			return -1;
	return 0;
}

static bool is_dimension(int64_t dimension, int count)
{
	return dimension >= -1 && dimension < count;
}

int tensor_slice_from_json(struct tensor_slice *slice, const json_t *json, struct error *error)
{
	int64_t row_dimension = json_get_integer(json, "rowDimension", -1);
	int64_t column_dimension = json_get_integer(json, "columnDimension", -1);
	const json_t *numbers = json_object_get(json, "numbers");
	int count;

	*slice = (struct tensor_slice){ .numbers = NULL };
	count = json_read_integers(slice->index, TENSOR_DIMENSIONS, json_object_get(json, "index"));
	slice->row = json_get_integer(json, "row", 0);
	slice->row_count = json_get_integer(json, "rows", 1);
	slice->column = json_get_integer(json, "column", 0);
	slice->column_count = json_get_integer(json, "columns", 1);
	if (count < 0 || !is_dimension(row_dimension, count) ||
	    !is_dimension(column_dimension, count) ||
	    (row_dimension >= 0 && row_dimension == column_dimension) || slice->row < 0 ||
	    slice->row_count < 0 || slice->column < 0 || slice->column_count < 0 ||
	    slice->row_count > TENSOR_CELLS_MAXIMUM || slice->column_count > TENSOR_CELLS_MAXIMUM ||
	    slice->row_count * slice->column_count > TENSOR_CELLS_MAXIMUM ||
	    slice->row > TENSOR_SIZE_MAXIMUM || slice->column > TENSOR_SIZE_MAXIMUM)
		return error_set(error, "tensor: there is no such slice");
	slice->dimension_count = count;
	slice->row_dimension = (int)row_dimension;
	slice->column_dimension = (int)column_dimension;
	return numbers ? tensorslice_read_numbers(slice, numbers, error) : 0;
}
