/*
 * tensor-work: elements of any layout, read from this process's own memory.
 * The hashes are those that Python's zlib.crc32() gives for numpy's tobytes()
 * of the same views of arange(24, dtype="<f4").reshape(2, 3, 4).
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "banned.h"

#include "backends/cpython/tensor-layout.h"
#include "backends/tensor/scan-query.h"
#include "backends/tensor/scan-work.h"
#include "backends/tensor/scan.h"
#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "base/loop.h"
#include "protocol/dtype.h"

#define LARGE (INT64_C(1) << 40)

static float plain[24];

struct answer {
	struct tensor_result result;
	bool is_there;
	int progress_count;
};

static void take(struct tensor_result *result, void *data)
{
	struct answer *answer = data;

	assert_false(answer->is_there);
	answer->result = *result;
	answer->is_there = true;
	tensor_init(&result->told);
	result->slice = (struct tensor_slice){ .numbers = NULL };
	result->data = NULL;
}

static void count(int64_t done, int64_t total, void *data)
{
	struct answer *answer = data;

	(void)done;
	(void)total;
	answer->progress_count++;
}

static struct tensor_query query_of(const char *body)
{
	struct error error = ERROR_INIT;
	json_t *json = json_parse(body, strlen(body), &error);
	struct tensor_query query;

	assert_non_null(json);
	if (tensor_query_parse(&query, json, &error) < 0)
		fail_msg("%s", error.message);
	json_decref(json);
	return query;
}

static struct tensor_layout layout_of(const char *dtype, const void *address, int dimension_count,
				      const int64_t *shape, const int64_t *strides)
{
	struct tensor_layout layout = {
		.pid = getpid(),
		.address = (uint64_t)(uintptr_t)address,
		.dtype = dtype_find(dtype),
		.is_swapped = dtype_is_swapped_name(dtype),
		.dimension_count = dimension_count,
	};

	layout.item_size = layout.dtype->size;
	for (int i = 0; i < dimension_count; i++) {
		layout.shape[i] = shape[i];
		layout.strides[i] = strides[i];
	}
	return layout;
}

static struct tensor_layout row_of(const char *dtype, const void *address, int64_t size)
{
	struct tensor_layout layout = layout_of(dtype, address, 0, NULL, NULL);

	layout.dimension_count = 1;
	layout.shape[0] = size;
	layout.strides[0] = layout.item_size;
	return layout;
}

static struct answer ask(const struct tensor_layout *layout, const char *body)
{
	struct tensor_query query = query_of(body);
	struct answer answer = { .is_there = false };
	struct tensor_work_calls calls = { .done = take, .data = &answer };
	struct loop *loop = loop_new();

	tensor_work_start(loop, layout, &query, &calls);
	assert_false(answer.is_there);
	while (!answer.is_there)
		loop_turn(loop);
	loop_free(loop);
	return answer;
}

static int fill(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(plain); i++)
		plain[i] = (float)i;
	return 0;
}

/* clang-format off */
static const struct view {
	int first;
	int dimension_count;
	int64_t shape[3];
	int64_t strides[3];
	uint32_t hash;
} views[] = {
	{ 0, 3, { 2, 3, 4 }, { 48, 16, 4 }, 0x6edc4182 },
	{ 0, 3, { 4, 2, 3 }, { 4, 48, 16 }, 0x0ce27882 },
	{ 15, 3, { 2, 3, 2 }, { -48, 16, -8 }, 0xf8ab069d },
	{ 0, 3, { 5, 3, 4 }, { 0, 16, 4 }, 0x10d39df6 },
	{ 4, 3, { 2, 2, 2 }, { 48, 16, 12 }, 0x9754ca40 },
	{ 23, 0, { 0 }, { 0 }, 0x0c838aaa },
	{ 0, 2, { 3, 0 }, { 16, 4 }, 0 },
};
/* clang-format on */

static void views_have_the_hash_of_their_copy(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(views); i++) {
		const struct view *view = &views[i];
		struct tensor_layout layout =
			layout_of("float32", plain + view->first, view->dimension_count,
				  view->shape, view->strides);
		struct answer answer = ask(&layout, "{\"hash\":true}");

		assert_false(error_is_set(&answer.result.error));
		assert_true(answer.result.told.has_hash);
		assert_int_equal(answer.result.told.hash, view->hash);
		assert_false(answer.result.told.has_statistics);
		tensor_result_clear(&answer.result);
	}
}

static void swapped_ones_have_the_same_hash(void **state)
{
	uint8_t swapped[sizeof(plain)] = { 0 };
	struct tensor_layout layout = row_of(">float32", swapped, 24);
	struct answer answer;

	(void)state;
	for (size_t i = 0; i < sizeof(plain); i++)
		swapped[i] = ((uint8_t *)plain)[i - i % 4 + 3 - i % 4];
	answer = ask(&layout, "{\"hash\":true,\"statistics\":\"whole\"}");
	assert_int_equal(answer.result.told.hash, views[0].hash);
	assert_true(answer.result.told.statistics.maximum.real == 23);
	tensor_result_clear(&answer.result);
}

/* plain, every third element hidden from the second on. */
static struct tensor_layout masked_of(uint8_t *mask, int64_t stride)
{
	struct tensor_layout layout = row_of("float32", plain, 24);

	layout.has_mask = true;
	layout.mask_address = (uint64_t)(uintptr_t)mask;
	layout.mask_strides[0] = stride;
	for (int i = 0; i < 24; i++)
		mask[i * stride] = i % 3 == 1 ? 7 : 0;
	return layout;
}

static void masked_elements_do_not_count(void **state)
{
	uint8_t mask[24 * 5] = { 0 };
	struct tensor_layout layout = masked_of(mask, 5);
	struct answer answer;
	const struct tensor_statistics *told = &answer.result.told.statistics;

	(void)state;
	plain[1] = NAN;
	plain[4] = -99;
	answer = ask(&layout, "{\"statistics\":\"whole\",\"bins\":2,\"find\":\"min\"}");
	assert_int_equal(told->count, 16);
	assert_int_equal(told->masked_count, 8);
	assert_int_equal(told->nan_count, 0);
	assert_true(told->minimum.real == 0 && told->maximum.real == 23);
	assert_true(told->mean == 11.5);
	assert_true(answer.result.told.share == 1);
	assert_int_equal(answer.result.told.histogram.bins[0], 8);
	assert_int_equal(answer.result.told.histogram.bins[1], 8);
	assert_int_equal(answer.result.found, 0);
	tensor_result_clear(&answer.result);
	answer = ask(&layout, "{\"find\":\"nan\"}");
	assert_int_equal(answer.result.found, -1);
	tensor_result_clear(&answer.result);
	fill(NULL);
}

static uint32_t hash_of(const struct tensor_layout *layout)
{
	struct answer answer = ask(layout, "{\"hash\":true,\"blocks\":5}");
	uint32_t hash = answer.result.told.hash;

	assert_true(answer.result.told.has_hash);
	tensor_result_clear(&answer.result);
	return hash;
}

/* zlib.crc32() of the values, 0 where one is masked, and the mask behind. */
static void hashes_are_of_values_and_masks(void **state)
{
	uint8_t mask[24], other[24];
	struct tensor_layout layout = masked_of(mask, 1);
	struct tensor_layout same = masked_of(other, 1);
	uint32_t hash = hash_of(&layout);
	struct answer answer;

	(void)state;
	assert_int_equal(hash, 0xa3c0f65e);
	plain[1] = 1e9f;
	other[1] = 1;
	assert_int_equal(hash_of(&same), hash);
	plain[0] = 5;
	assert_int_not_equal(hash_of(&same), hash);
	fill(NULL);
	/* A 0 that is masked, and one that is not. */
	other[0] = 1;
	assert_int_not_equal(hash_of(&same), hash);
	answer = ask(&layout, "{\"hash\":true,\"blocks\":24}");
	assert_int_equal(answer.result.told.blocks[2], 0x57989e8c);
	assert_int_equal(answer.result.told.blocks[1], 0xb125c78b);
	tensor_result_clear(&answer.result);
	memset(mask, 0, sizeof(mask));
	assert_int_equal(hash_of(&layout), views[0].hash);
}

static void masked_elements_are_no_numbers(void **state)
{
	uint8_t mask[24];
	struct tensor_layout layout = masked_of(mask, 1);
	struct answer answer = ask(&layout, "{\"slice\":{\"rowDimension\":-1,\"columnDimension\":0,"
					    "\"index\":[0],\"column\":3,\"columns\":2}}");
	const struct tensor_number *numbers = answer.result.slice.numbers;

	(void)state;
	assert_true(numbers[0].kind == TENSOR_NUMBER_REAL);
	assert_true(numbers[0].real == 3);
	assert_int_equal(numbers[1].kind, TENSOR_NUMBER_TEXT);
	assert_string_equal(numbers[1].text, "--");
	tensor_result_clear(&answer.result);
	answer = ask(&layout, "{\"data\":{\"start\":0,\"count\":2}}");
	assert_non_null(strstr(answer.result.error.message, "the tensor has a mask"));
	tensor_result_clear(&answer.result);
}

/* More than is read at once, and a mask that cannot be read. */
static void large_masked_ones(void **state)
{
	size_t count = 3000000;
	float *values = calloc(count, sizeof(*values));
	uint8_t *mask = calloc(count, 1);
	struct tensor_layout layout = row_of("float32", values, (int64_t)count);
	struct answer answer;

	(void)state;
	layout.has_mask = true;
	layout.mask_address = (uint64_t)(uintptr_t)mask;
	layout.mask_strides[0] = 1;
	for (size_t i = 0; i < count; i++) {
		mask[i] = i % 5 == 2;
		values[i] = mask[i] ? 1e30f : (float)(i % 5);
	}
	answer = ask(&layout, "{\"statistics\":\"whole\",\"find\":\"max\"}");
	assert_int_equal(answer.result.told.statistics.masked_count, 600000);
	assert_true(answer.result.told.statistics.mean == 2);
	assert_int_equal(answer.result.found, 4);
	tensor_result_clear(&answer.result);
	answer = ask(&layout, "{\"statistics\":\"sample\"}");
	assert_true(answer.result.told.share == 1048576 / 3e6);
	assert_int_equal(answer.result.told.statistics.masked_count +
				 answer.result.told.statistics.count,
			 1048576);
	tensor_result_clear(&answer.result);
	layout.mask_address = 16;
	answer = ask(&layout, "{\"statistics\":\"whole\"}");
	assert_true(error_is_set(&answer.result.error));
	tensor_result_clear(&answer.result);
	free(values);
	free(mask);
}

/* Five elements each, the last four. */
static void blocks_are_hashed_alone(void **state)
{
	static const uint32_t hashes[] = { 0x68c9c48c, 0x190335a8, 0x19d6f2db, 0x03b84ea1,
					   0xe34ffe1a };
	struct tensor_layout layout = row_of("float32", plain, 24);
	struct answer answer = ask(&layout, "{\"hash\":true,\"blocks\":5}");

	(void)state;
	assert_int_equal(answer.result.told.hash, views[0].hash);
	assert_int_equal(answer.result.told.block_elements, 5);
	assert_int_equal(answer.result.told.block_count, 5);
	assert_memory_equal(answer.result.told.blocks, hashes, sizeof(hashes));
	tensor_result_clear(&answer.result);
}

/* Parts that two threads hash are larger than these, and not as large. */
static void blocks_of_many_parts(void **state)
{
	size_t size = (size_t)40 << 20;
	uint8_t *bytes = calloc(size, 1);
	struct tensor_layout layout = row_of("uint8", bytes, (int64_t)size);
	struct answer answer = ask(&layout, "{\"hash\":true,\"blocks\":3}");

	(void)state;
	assert_int_equal(answer.result.told.block_elements, 13981014);
	assert_int_equal(answer.result.told.hash, 0xfeeb63ea);
	assert_int_equal(answer.result.told.blocks[0], 0xa3b5703f);
	assert_int_equal(answer.result.told.blocks[2], 0xa3e42b63);
	tensor_result_clear(&answer.result);
	free(bytes);
}

static void statistics_are_of_the_finite(void **state)
{
	const float values[] = { 1, 2.5f, NAN, -INFINITY, 0, -4, 0, INFINITY };
	struct tensor_layout layout = row_of("float32", values, 8);
	struct answer answer = ask(&layout, "{\"statistics\":\"whole\",\"bins\":2}");
	const struct tensor_statistics *told = &answer.result.told.statistics;

	(void)state;
	assert_true(told->minimum.real == -4 && told->maximum.real == 2.5);
	assert_true(fabs(told->mean - -0.1) < 1e-15);
	assert_true(fabs(told->deviation - 2.1540659228538015) < 1e-14);
	assert_true(isnan(told->norm));
	assert_int_equal(told->count, 8);
	assert_int_equal(told->nan_count, 1);
	assert_int_equal(told->infinity_count, 2);
	assert_int_equal(told->zero_count, 2);
	assert_int_equal(answer.result.told.histogram.bins[0], 1);
	assert_int_equal(answer.result.told.histogram.bins[1], 4);
	tensor_result_clear(&answer.result);
}

static void complex_ones_have_a_norm_only(void **state)
{
	const float values[] = { 0, 5, 1, 4, 2, 3, 3, 2, 4, 1, 5, 0 };
	struct tensor_layout layout = row_of("complex64", values, 6);
	struct answer answer = ask(&layout, "{\"statistics\":\"auto\",\"hash\":true}");
	const struct tensor_statistics *told = &answer.result.told.statistics;

	(void)state;
	assert_int_equal(told->minimum.kind, TENSOR_NUMBER_UNKNOWN);
	assert_true(isnan(told->mean));
	assert_true(fabs(told->norm - 10.488088481701515) < 1e-14);
	assert_int_equal(answer.result.told.hash, 0x3bce54e1);
	tensor_result_clear(&answer.result);
}

/* A constant that is far from what squares of it could tell apart. */
static void deviations_keep_their_digits(void **state)
{
	size_t size = 3000000;
	double *values = calloc(size, sizeof(*values));
	struct tensor_layout layout = row_of("float64", values, (int64_t)size);
	struct answer answer;

	(void)state;
	for (size_t i = 0; i < size; i++)
		values[i] = 1e9 + (i % 2 ? 0.5 : -0.5);
	answer = ask(&layout, "{\"statistics\":\"whole\"}");
	assert_true(answer.result.told.statistics.mean == 1e9);
	assert_true(answer.result.told.statistics.deviation == 0.5);
	assert_true(answer.result.told.share == 1);
	tensor_result_clear(&answer.result);
	answer = ask(&layout, "{\"statistics\":\"sample\",\"hash\":true}");
	assert_true(answer.result.told.share == 1048576 / 3e6);
	assert_false(answer.result.told.has_hash);
	assert_true(answer.result.told.statistics.deviation == 0.5);
	tensor_result_clear(&answer.result);
	free(values);
}

static void large_integers_are_exact(void **state)
{
	const uint64_t values[] = { UINT64_MAX - 1, UINT64_C(1) << 63, 7 };
	struct tensor_layout layout = row_of("uint64", values, 2);
	struct answer answer = ask(&layout, "{\"statistics\":\"whole\"}");
	const struct tensor_statistics *told = &answer.result.told.statistics;

	(void)state;
	assert_int_equal(told->maximum.kind, TENSOR_NUMBER_UNSIGNED);
	assert_int_equal(told->maximum.integer, -2);
	assert_int_equal(told->minimum.integer, INT64_MIN);
	tensor_result_clear(&answer.result);
}

static int64_t found(const struct tensor_layout *layout, const char *body)
{
	struct answer answer = ask(layout, body);
	int64_t index = answer.result.found;

	assert_false(error_is_set(&answer.result.error));
	tensor_result_clear(&answer.result);
	return index;
}

static void elements_are_found(void **state)
{
	float values[] = { 3, NAN, -1, 3, -1, INFINITY };
	struct tensor_layout layout = row_of("float32", values, 6);

	(void)state;
	assert_int_equal(found(&layout, "{\"find\":\"min\"}"), 2);
	assert_int_equal(found(&layout, "{\"find\":\"min\",\"after\":2}"), 4);
	assert_int_equal(found(&layout, "{\"find\":\"min\",\"after\":4}"), -1);
	assert_int_equal(found(&layout, "{\"find\":\"max\"}"), 0);
	assert_int_equal(found(&layout, "{\"find\":\"nan\"}"), 1);
	assert_int_equal(found(&layout, "{\"find\":\"nan\",\"after\":1}"), 5);
	assert_int_equal(found(&layout, "{\"find\":\"nan\",\"after\":5}"), 1);
	assert_int_equal(found(&layout, "{\"find\":\"nan\",\"after\":99}"), 1);
	assert_int_equal(found(&layout, "{\"find\":\"max\",\"after\":9223372036854775807}"), -1);
	layout.shape[0] = 1;
	assert_int_equal(found(&layout, "{\"find\":\"nan\"}"), -1);
	layout.shape[0] = 0;
	assert_int_equal(found(&layout, "{\"find\":\"max\"}"), -1);
}

static void slices_and_data(void **state)
{
	static const int64_t shape[] = { 2, 3, 4 };
	static const int64_t strides[] = { 48, 16, 4 };
	struct tensor_layout layout = layout_of("float32", plain, 3, shape, strides);
	struct answer answer = ask(
		&layout,
		"{\"slice\":{\"rowDimension\":2,\"columnDimension\":0,\"index\":[0,1,0],\"row\":1,"
		"\"rows\":3,\"column\":0,\"columns\":2},\"data\":{\"start\":5,\"count\":2}}");
	static const double numbers[] = { 5, 17, 6, 18, 7, 19 };

	(void)state;
	assert_int_equal(answer.result.slice.count, 6);
	for (size_t i = 0; i < 6; i++)
		assert_true(answer.result.slice.numbers[i].real == numbers[i]);
	assert_int_equal(answer.result.data_length, 8);
	assert_memory_equal(answer.result.data, &plain[5], 8);
	tensor_result_clear(&answer.result);
}

static void assert_fails(const struct tensor_layout *layout, const char *body, const char *sentence)
{
	struct answer answer = ask(layout, body);

	if (!strstr(answer.result.error.message, sentence))
		fail_msg("%s", answer.result.error.message);
	assert_false(answer.result.told.has_hash);
	tensor_result_clear(&answer.result);
}

static void memory_that_is_gone_is_named(void **state)
{
	size_t size = (size_t)24 << 20;
	uint8_t *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct tensor_layout layout = row_of("int16", memory, 12 << 20);
	struct answer answer;

	(void)state;
	assert_ptr_not_equal(memory, MAP_FAILED);
	munmap(memory + (20 << 20) + 4096, 8192);
	assert_fails(&layout, "{\"hash\":true}", "element 10487808 cannot");
	assert_fails(&layout, "{\"statistics\":\"whole\"}", "element 10487808 cannot");
	layout.strides[0] = -2;
	layout.address += size - 2;
	assert_fails(&layout, "{\"statistics\":\"whole\"}", "element 2091008 cannot");
	answer = ask(&layout, "{\"slice\":{\"rowDimension\":-1,\"columnDimension\":0,\"index\":[0],"
			      "\"column\":2091007,\"columns\":2}}");
	assert_int_equal(answer.result.slice.numbers[0].kind, TENSOR_NUMBER_INTEGER);
	assert_int_equal(answer.result.slice.numbers[1].kind, TENSOR_NUMBER_UNKNOWN);
	tensor_result_clear(&answer.result);
	munmap(memory, size);
}

static void a_process_that_has_ended(void **state)
{
	struct tensor_layout layout = row_of("float32", plain, 24);

	(void)state;
	layout.pid = fork();
	if (layout.pid == 0)
		_exit(0);
	waitpid(layout.pid, NULL, 0);
	assert_fails(&layout, "{\"hash\":true}", "the process has exited");
}

/* One element, as often as no machine reads in a test's time. */
static struct tensor_layout endless(void)
{
	struct tensor_layout layout = row_of("float32", plain, LARGE);

	layout.strides[0] = 0;
	return layout;
}

static void work_ends_in_time(void **state)
{
	struct tensor_layout layout = endless();

	(void)state;
	assert_fails(&layout, "{\"hash\":true,\"timeout\":0.05}", "were not read in time");
}

static void work_is_cancelled_as_it_tells_progress(void **state)
{
	struct tensor_layout layout = endless();
	struct tensor_query query = query_of("{\"statistics\":\"whole\"}");
	struct answer answer = { .is_there = false };
	struct tensor_work_calls calls = { take, count, &answer };
	struct loop *loop = loop_new();
	struct tensor_work *work = tensor_work_start(loop, &layout, &query, &calls);

	(void)state;
	while (answer.progress_count == 0)
		loop_turn(loop);
	tensor_work_cancel(work);
	assert_false(answer.is_there);
	while (!answer.is_there)
		loop_turn(loop);
	assert_string_equal(answer.result.error.message, "cancelled");
	loop_free(loop);
}

static void work_is_forgotten(void **state)
{
	struct tensor_layout layout = endless();
	struct tensor_query query = query_of("{\"statistics\":\"whole\"}");
	struct answer answer = { .is_there = false };
	struct tensor_work_calls calls = { take, count, &answer };
	struct loop *loop = loop_new();

	(void)state;
	tensor_work_forget(tensor_work_start(loop, &layout, &query, &calls));
	loop_run(loop);
	assert_false(answer.is_there);
	loop_free(loop);
}

/* clang-format off */
static const struct {
	const char *dtype;
	uint64_t address;
	int64_t item_size;
	int dimension_count;
	int64_t shape[3];
	int64_t strides[3];
	const char *sentence;
} hostile[] = {
	{ "float32", 4096, 4, 3, { INT64_MAX, INT64_MAX, 2 }, { 4, 4, 4 }, "larger than the address space" },
	{ "float32", 4096, 4, 1, { -1 }, { 4 }, "dimension 0 has an invalid size: -1" },
	{ "float32", 4096, 4, 65, { 0 }, { 0 }, "65 dimensions" },
	{ "float32", 4096, 4, -1, { 0 }, { 0 }, "-1 dimensions" },
	{ "float32", 4096, 8, 0, { 0 }, { 0 }, "elements of 8 bytes, but an element of float32 has 4" },
	{ "float32", 4096, 4, 2, { 2, 2 }, { INT64_MAX, INT64_MAX }, "strides" },
	{ "float32", 4096, 4, 1, { 2 }, { INT64_MIN }, "strides" },
	{ "float32", 4096, 4, 2, { 3, 2 }, { -4096, 4 }, "outside the address space" },
	{ "float32", UINT64_MAX - 3, 4, 1, { 9 }, { 4 }, "outside the address space" },
	{ "str", 4096, 6, 0, { 0 }, { 0 }, "cannot have 6 bytes" },
	{ "void", 4096, INT64_MAX, 0, { 0 }, { 0 }, "cannot have" },
	{ "quint4x2", 4096, 0, 0, { 0 }, { 0 }, "smaller than a byte" },
	{ "float32", 4096, 4, 1, { 4 }, { 4 }, "element 0 cannot be read" },
};
/* clang-format on */

static void hostile_layouts_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(hostile); i++) {
		struct tensor_layout layout = layout_of(hostile[i].dtype, NULL, 0, NULL, NULL);

		layout.address = hostile[i].address;
		layout.item_size = hostile[i].item_size;
		layout.dimension_count = hostile[i].dimension_count;
		for (int j = 0; j < 3; j++) {
			layout.shape[j] = hostile[i].shape[j];
			layout.strides[j] = hostile[i].strides[j];
		}
		assert_fails(&layout, "{\"hash\":true}", hostile[i].sentence);
	}
}

static const struct {
	const char *body;
	const char *sentence;
} refused[] = {
	{ "{\"find\":\"min\"}", "have no order" },
	{ "{\"data\":{\"start\":24,\"count\":1}}", "from element 24 goes past the end" },
	{ "{\"slice\":{\"rowDimension\":-1,\"columnDimension\":0,\"index\":[0],\"column\":3,"
	  "\"columns\":10}}",
	  "exceeds the shape" },
	{ "{\"slice\":{\"rowDimension\":-1,\"columnDimension\":-1,\"index\":[]}}",
	  "the slice has 0 dimensions" },
};

static void queries_that_do_not_go_are_refused(void **state)
{
	struct tensor_layout layout = row_of("complex64", plain, 12);

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(refused); i++)
		assert_fails(&layout, refused[i].body, refused[i].sentence);
}

/* One float that is expanded: nothing keeps a program from that. */
static void parts_of_huge_ones_are_few(void **state)
{
	int64_t count = INT64_C(1) << 45;
	struct tensor_layout layout = row_of("float32", plain, count);
	struct scan_ranges ranges = { .parts = NULL };
	struct elements elements;
	struct error error = ERROR_INIT;

	(void)state;
	layout.strides[0] = 0;
	assert_int_equal(tensor_layout_check(&layout, &error), 0);
	elements_init(&elements, &layout);
	scan_ranges_add(&ranges, &elements, 0, count);
	assert_true(ranges.count <= 2 * SCAN_RANGES_MANY);
	assert_true(scan_ranges_element_count(&ranges, &elements) == count);
	scan_ranges_clear(&ranges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(views_have_the_hash_of_their_copy),
		cmocka_unit_test(swapped_ones_have_the_same_hash),
		cmocka_unit_test(masked_elements_do_not_count),
		cmocka_unit_test(hashes_are_of_values_and_masks),
		cmocka_unit_test(masked_elements_are_no_numbers),
		cmocka_unit_test(large_masked_ones),
		cmocka_unit_test(blocks_are_hashed_alone),
		cmocka_unit_test(blocks_of_many_parts),
		cmocka_unit_test(statistics_are_of_the_finite),
		cmocka_unit_test(complex_ones_have_a_norm_only),
		cmocka_unit_test(deviations_keep_their_digits),
		cmocka_unit_test(large_integers_are_exact),
		cmocka_unit_test(elements_are_found),
		cmocka_unit_test(slices_and_data),
		cmocka_unit_test(memory_that_is_gone_is_named),
		cmocka_unit_test(a_process_that_has_ended),
		cmocka_unit_test(work_ends_in_time),
		cmocka_unit_test(parts_of_huge_ones_are_few),
		cmocka_unit_test(work_is_cancelled_as_it_tells_progress),
		cmocka_unit_test(work_is_forgotten),
		cmocka_unit_test(hostile_layouts_are_refused),
		cmocka_unit_test(queries_that_do_not_go_are_refused),
	};

	return cmocka_run_group_tests_name("tensor-work", tests, fill, NULL);
}
