#include "protocol/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/field.h"

#define NAME_MAXIMUM 1024
#define TEXT_MAXIMUM 4096

#define AT(member) offsetof(struct tensor, member)

/* clang-format off */
static const struct field tensor_fields[] = {
	{ "type", FIELD_TEXT, AT(type), 0, 0, NAME_MAXIMUM, NULL },
	{ "dtype", FIELD_TEXT, AT(dtype), 0, 0, NAME_MAXIMUM, NULL },
	{ "offset", FIELD_INT64, AT(offset), -1, 0, INT64_MAX, NULL },
	{ "numel", FIELD_INT64, AT(element_count), -1, 0, INT64_MAX, NULL },
	{ "itemsize", FIELD_INT64, AT(item_size), 0, 0, INT64_MAX, NULL },
	{ "nbytes", FIELD_INT64, AT(byte_count), -1, 0, INT64_MAX, NULL },
	{ "device", FIELD_TEXT, AT(device), 0, 0, NAME_MAXIMUM, NULL },
	{ "grad_fn", FIELD_TEXT, AT(grad_fn), 0, 0, NAME_MAXIMUM, NULL },
	{ "storage_nbytes", FIELD_INT64, AT(storage_bytes), -1, 0, INT64_MAX, NULL },
	{ "storage_users", FIELD_INT64, AT(storage_users), -1, 0, INT64_MAX, NULL },
	{ "is_parameter", FIELD_BOOL, AT(is_parameter), 0, 0, 1, NULL },
	{ "placement", FIELD_TEXT, AT(placement), 0, 0, NAME_MAXIMUM, NULL },
	{ "shard", FIELD_TEXT, AT(shard), 0, 0, NAME_MAXIMUM, NULL },
	{ "live", FIELD_BOOL, AT(is_live), 0, 0, 1, NULL },
	{ "torn", FIELD_BOOL, AT(is_torn), 0, 0, 1, NULL },
	{ "has_mask", FIELD_BOOL, AT(has_mask), 0, 0, 1, NULL },
	{ "unread", FIELD_TEXT, AT(unread), 0, 0, TEXT_MAXIMUM, NULL },
};
/* clang-format on */

static const struct field_table tensor_table = {
	.what = "tensor",
	.fields = tensor_fields,
	.count = ARRAY_LENGTH(tensor_fields),
};

void tensor_init(struct tensor *tensor)
{
	*tensor = (struct tensor){
		.requires_grad = -1,
		.statistics.mean = NAN,
		.statistics.deviation = NAN,
		.share = 1,
	};
	field_init(&tensor_table, tensor);
}

void tensor_clear(struct tensor *tensor)
{
	field_clear(&tensor_table, tensor);
	tensor_number_clear(&tensor->statistics.minimum);
	tensor_number_clear(&tensor->statistics.maximum);
	free(tensor->histogram.bins);
	free(tensor->blocks);
	tensor_init(tensor);
}

static void *copy_array(const void *from, size_t count, size_t size)
{
	void *to;

	if (!from)
		return NULL;
	to = xcalloc(count ? count : 1, size);
	memcpy(to, from, count * size);
	return to;
}

void tensor_copy(struct tensor *to, const struct tensor *from)
{
	*to = *from;
	field_copy(&tensor_table, to, from);
	to->histogram.bins = copy_array(from->histogram.bins, from->histogram.count,
					sizeof(*from->histogram.bins));
	to->blocks = copy_array(from->blocks, from->block_count, sizeof(*from->blocks));
	if (from->statistics.minimum.text)
		to->statistics.minimum.text = xstrdup(from->statistics.minimum.text);
	if (from->statistics.maximum.text)
		to->statistics.maximum.text = xstrdup(from->statistics.maximum.text);
}

bool tensor_has_same_shape(const struct tensor *a, const struct tensor *b)
{
	size_t count = (size_t)a->dimension_count;

	return a->dimension_count == b->dimension_count &&
	       memcmp(a->shape, b->shape, count * sizeof(*a->shape)) == 0;
}

bool tensor_is_shard(const struct tensor *tensor)
{
	return tensor->placement &&
	       (strstr(tensor->placement, "Shard") || strstr(tensor->placement, "Partial"));
}

int64_t tensor_nan_count(const struct tensor *tensor)
{
	return tensor->has_statistics ? tensor->statistics.nan_count : 0;
}

int64_t tensor_infinity_count(const struct tensor *tensor)
{
	return tensor->has_statistics ? tensor->statistics.infinity_count : 0;
}

static json_t *statistics_to_json(const struct tensor *tensor)
{
	const struct tensor_statistics *statistics = &tensor->statistics;
	json_t *json = json_object();

	json_object_set_new(json, "min", tensor_number_to_json(&statistics->minimum));
	json_object_set_new(json, "max", tensor_number_to_json(&statistics->maximum));
	json_object_set_new(json, "mean",
			    isnan(statistics->mean) ? json_null()
						    : tensor_real_to_json(statistics->mean));
	json_object_set_new(json, "std",
			    isnan(statistics->deviation)
				    ? json_null()
				    : tensor_real_to_json(statistics->deviation));
	json_object_set_new(json, "norm",
			    statistics->has_norm ? tensor_real_to_json(statistics->norm)
						 : json_null());
	json_object_set_new(json, "nan", json_integer(statistics->nan_count));
	json_object_set_new(json, "inf", json_integer(statistics->infinity_count));
	json_object_set_new(json, "zeros", json_integer(statistics->zero_count));
	json_object_set_new(json, "count", json_integer(statistics->count));
	if (tensor->has_mask)
		json_object_set_new(json, "masked", json_integer(statistics->masked_count));
	return json;
}

/* Sets *count to the count at key, or to 0 if there is no key; -1: negative, or above maximum. */
static int count_from_json(int64_t *count, const json_t *json, const char *key, int64_t maximum)
{
	*count = json_get_integer(json, key, 0);
	return *count < 0 || *count > maximum ? -1 : 0;
}

static int counts_from_json(struct tensor_statistics *statistics, const json_t *json,
			    int64_t maximum)
{
	return count_from_json(&statistics->nan_count, json, "nan", maximum) ||
			       count_from_json(&statistics->infinity_count, json, "inf", maximum) ||
			       count_from_json(&statistics->masked_count, json, "masked",
					       maximum) ||
			       count_from_json(&statistics->zero_count, json, "zeros", maximum) ||
			       count_from_json(&statistics->count, json, "count", maximum)
		       ? -1
		       : 0;
}

static int statistics_from_json(struct tensor_statistics *statistics, const json_t *json,
				int64_t maximum, struct error *error)
{
	if (tensor_number_from_json(&statistics->minimum, json_object_get(json, "min"), error) <
		    0 ||
	    tensor_number_from_json(&statistics->maximum, json_object_get(json, "max"), error) < 0)
		return -1;
	tensor_real_from_json(&statistics->mean, json_object_get(json, "mean"));
	tensor_real_from_json(&statistics->deviation, json_object_get(json, "std"));
	statistics->has_norm =
		tensor_real_from_json(&statistics->norm, json_object_get(json, "norm")) == 0;
	if (counts_from_json(statistics, json, maximum) < 0)
		return error_set(error, "tensor: invalid element counts");
	return 0;
}

static json_t *histogram_to_json(const struct tensor_histogram *histogram)
{
	return json_pack("{s: o, s: o, s: o}", "low", tensor_real_to_json(histogram->low), "high",
			 tensor_real_to_json(histogram->high), "bins",
			 json_integers(histogram->bins, histogram->count));
}

/* True if no count is negative and their sum fits in an int64_t. */
static bool are_counts(const int64_t *counts, int count)
{
	int64_t left = INT64_MAX;

	for (int i = 0; i < count; i++) {
		if (counts[i] < 0 || counts[i] > left)
			return false;
		left -= counts[i];
	}
	return true;
}

static int histogram_from_json(struct tensor_histogram *histogram, const json_t *json,
			       struct error *error)
{
	int64_t bins[TENSOR_BINS_MAXIMUM];
	int count = json_read_integers(bins, TENSOR_BINS_MAXIMUM, json_object_get(json, "bins"));

	if (count < 0 || !are_counts(bins, count) ||
	    tensor_real_from_json(&histogram->low, json_object_get(json, "low")) < 0 ||
	    tensor_real_from_json(&histogram->high, json_object_get(json, "high")) < 0)
		return error_set(error, "tensor: invalid histogram");
	histogram->bins = copy_array(bins, (size_t)count, sizeof(*bins));
	histogram->count = (size_t)count;
	return 0;
}

/* Formats a hash as eight digits, as usual for zlib's crc32. */
static json_t *hash_to_json(uint32_t hash)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%08" PRIx32, hash);
	return json_string(digits);
}

static int hash_from_json(uint32_t *hash, const json_t *json)
{
	const char *text = json_string_value(json);
	char *end;

	if (!text || strlen(text) != 8)
		return -1;
	*hash = (uint32_t)strtoul(text, &end, 16);
	return *end ? -1 : 0;
}

static json_t *blocks_to_json(const struct tensor *tensor)
{
	json_t *array = json_array();

	for (size_t i = 0; i < tensor->block_count; i++)
		json_array_append_new(array, hash_to_json(tensor->blocks[i]));
	return array;
}

static int blocks_from_json(struct tensor *tensor, const json_t *array, struct error *error)
{
	size_t count = json_array_size(array);

	if (!json_is_array(array) || count > TENSOR_BLOCKS_MAXIMUM)
		return error_set(error, "tensor: invalid list of block hashes");
	tensor->blocks = xcalloc(count ? count : 1, sizeof(*tensor->blocks));
	tensor->block_count = count;
	for (size_t i = 0; i < count; i++)
		if (hash_from_json(&tensor->blocks[i], json_array_get(array, i)) < 0)
			return error_set(error, "tensor: invalid block hash");
	return 0;
}

json_t *tensor_to_json(const struct tensor *tensor)
{
	size_t count = (size_t)tensor->dimension_count;
	json_t *json = json_object();

	field_write(&tensor_table, tensor, json);
	json_object_set_new(json, "shape", json_integers(tensor->shape, count));
	json_object_set_new(json, "strides", json_integers(tensor->strides, count));
	if (!tensor->device)
		json_object_set_new(json, "device", json_null());
	json_object_set_new(json, "requires_grad",
			    tensor->requires_grad < 0 ? json_null()
						      : json_boolean(tensor->requires_grad));
	json_object_set_new(json, "stats",
			    tensor->has_statistics ? statistics_to_json(tensor) : json_null());
	json_object_set_new(json, "hash",
			    tensor->has_hash ? hash_to_json(tensor->hash) : json_null());
	json_object_set_new(json, "share", json_real(tensor->share));
	if (tensor->histogram.bins)
		json_object_set_new(json, "histogram", histogram_to_json(&tensor->histogram));
	if (!tensor->blocks)
		return json;
	json_object_set_new(json, "blocks", blocks_to_json(tensor));
	json_object_set_new(json, "block_numel", json_integer(tensor->block_elements));
	return json;
}

/* Checks that no size is negative, and that the product is the element count. */
static int tensor_check_sizes(const struct tensor *tensor)
{
	int64_t product = 1;

	/* A nested tensor and one with symbolic sizes have no shape. */
	if (tensor->unread && tensor->dimension_count == 0 && tensor->element_count < 0)
		return 0;
	for (int i = 0; i < tensor->dimension_count; i++) {
		int64_t size = tensor->shape[i];

		if (size < 0 || size > TENSOR_SIZE_MAXIMUM || (size && product > INT64_MAX / size))
			return -1;
		product *= size;
	}
	return product == tensor->element_count ? 0 : -1;
}

static int tensor_read_shape(struct tensor *tensor, const json_t *json, struct error *error)
{
	int count = json_read_integers(tensor->shape, TENSOR_DIMENSIONS,
				       json_object_get(json, "shape"));
	int strides = json_read_integers(tensor->strides, TENSOR_DIMENSIONS,
					 json_object_get(json, "strides"));

	tensor->dimension_count = count < 0 ? 0 : count;
	if (count < 0 || strides != count || !tensor->dtype || tensor_check_sizes(tensor) < 0)
		return error_set(error, "tensor: invalid shape, strides or dtype");
	return 0;
}

int tensor_from_json(struct tensor *tensor, const json_t *json, struct error *error)
{
	const json_t *statistics = json_object_get(json, "stats");
	const json_t *histogram = json_object_get(json, "histogram");
	const json_t *blocks = json_object_get(json, "blocks");
	const json_t *grad = json_object_get(json, "requires_grad");

	if (field_read(&tensor_table, tensor, json, error) < 0 ||
	    tensor_read_shape(tensor, json, error) < 0)
		return -1;
	if (json_is_boolean(grad))
		tensor->requires_grad = json_is_true(grad);
	tensor->has_statistics = json_is_object(statistics);
	tensor->has_hash = hash_from_json(&tensor->hash, json_object_get(json, "hash")) == 0;
	tensor->share = json_get_real(json, "share", 1);
	if (!(tensor->share >= 0 && tensor->share <= 1))
		return error_set(error, "tensor: invalid sample share");
	tensor->block_elements = json_get_integer(json, "block_numel", 0);
	if (tensor->has_statistics &&
	    statistics_from_json(&tensor->statistics, statistics, tensor->element_count, error) < 0)
		return -1;
	if (histogram && histogram_from_json(&tensor->histogram, histogram, error) < 0)
		return -1;
	return blocks ? blocks_from_json(tensor, blocks, error) : 0;
}

void tensor_number_clear(struct tensor_number *number)
{
	free(number->text);
	*number = (struct tensor_number){ .text = NULL };
}

json_t *tensor_real_to_json(double real)
{
	if (isnan(real))
		return json_string("nan");
	if (isinf(real))
		return json_string(real < 0 ? "-inf" : "inf");
	return json_real(real);
}

int tensor_real_from_json(double *real, const json_t *json)
{
	const char *text = json_string_value(json);

	if (json_is_number(json))
		*real = json_number_value(json);
	else if (text && strcmp(text, "nan") == 0)
		*real = NAN;
	else if (text && strcmp(text, "inf") == 0)
		*real = INFINITY;
	else if (text && strcmp(text, "-inf") == 0)
		*real = -INFINITY;
	else
		return -1;
	return 0;
}

static json_t *text_to_json(const char *text)
{
	json_t *json = json_object();

	json_object_set_new(json, "text", field_text(text, TEXT_MAXIMUM));
	return json;
}

json_t *tensor_number_to_json(const struct tensor_number *number)
{
	char digits[32];

	switch (number->kind) {
	case TENSOR_NUMBER_UNKNOWN:
		break;
	case TENSOR_NUMBER_REAL:
		return tensor_real_to_json(number->real);
	case TENSOR_NUMBER_INTEGER:
		return json_integer(number->integer);
	case TENSOR_NUMBER_UNSIGNED:
		snprintf(digits, sizeof(digits), "u:%" PRIu64, (uint64_t)number->integer);
		return json_string(digits);
	case TENSOR_NUMBER_BOOLEAN:
		return json_boolean(number->integer);
	case TENSOR_NUMBER_COMPLEX:
		return json_pack("[o, o]", tensor_real_to_json(number->real),
				 tensor_real_to_json(number->imaginary));
	case TENSOR_NUMBER_TEXT:
		return text_to_json(number->text);
	}
	return json_null();
}

static int read_unsigned(struct tensor_number *number, const char *text)
{
	char *end;

	if (strncmp(text, "u:", 2) != 0 || text[2] < '0' || text[2] > '9')
		return -1;
	number->kind = TENSOR_NUMBER_UNSIGNED;
	number->integer = (int64_t)strtoull(text + 2, &end, 10);
	return *end ? -1 : 0;
}

static int tensornumber_read_number(struct tensor_number *number, const json_t *json)
{
	const char *text = json_get_string(json, "text", NULL);

	if (!json || json_is_null(json))
		return 0;
	number->kind = TENSOR_NUMBER_REAL;
	if (json_is_integer(json)) {
		number->kind = TENSOR_NUMBER_INTEGER;
		number->integer = json_integer_value(json);
	} else if (json_is_boolean(json)) {
		number->kind = TENSOR_NUMBER_BOOLEAN;
		number->integer = json_is_true(json);
	} else if (json_array_size(json) == 2) {
		number->kind = TENSOR_NUMBER_COMPLEX;
		return tensor_real_from_json(&number->real, json_array_get(json, 0)) ||
				       tensor_real_from_json(&number->imaginary,
							     json_array_get(json, 1))
			       ? -1
			       : 0;
	} else if (text) {
		number->kind = TENSOR_NUMBER_TEXT;
		number->text = xstrdup(text);
	} else if (tensor_real_from_json(&number->real, json) < 0) {
		return json_is_string(json) ? read_unsigned(number, json_string_value(json)) : -1;
	}
	return 0;
}

int tensor_number_from_json(struct tensor_number *number, const json_t *json, struct error *error)
{
	*number = (struct tensor_number){ .text = NULL };
	if (tensornumber_read_number(number, json) == 0)
		return 0;
	tensor_number_clear(number);
	return error_set(error, "tensor: an element is not a number");
}

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
		return error_set(error, "tensor: the slice has the wrong number of elements");
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
		return error_set(error, "tensor: invalid slice");
	slice->dimension_count = count;
	slice->row_dimension = (int)row_dimension;
	slice->column_dimension = (int)column_dimension;
	return numbers ? tensorslice_read_numbers(slice, numbers, error) : 0;
}
