/*
 * Parameters of replicas, name by name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "model/paramdiff.h"

/* float32 [size] with this hash; 0: it was not read. */
static void add(struct tensor_parameters *page, const char *name, int64_t size, uint32_t hash)
{
	struct tensor_parameter *parameter = tensor_parameters_add(page);
	struct tensor *tensor = &parameter->tensor;

	parameter->name = xstrdup(name);
	tensor->dtype = xstrdup("float32");
	tensor->dimension_count = 1;
	tensor->shape[0] = size;
	tensor->element_count = size;
	tensor->item_size = 4;
	tensor->has_hash = hash != 0;
	tensor->hash = hash;
}

static void add_none(struct tensor_parameters *page, const char *name)
{
	struct tensor_parameter *parameter = tensor_parameters_add(page);

	parameter->name = xstrdup(name);
	parameter->error = xstrdup("the tensor has no gradient");
}

static void begin(struct paramdiff *diff, int ranks)
{
	*diff = (struct paramdiff){ .expression = NULL };
	paramdiff_begin(diff, "model", false, 1);
	for (int i = 0; i < ranks; i++)
		paramdiff_add_rank(diff, i);
}

/* All there is of a rank, in one page. */
static void take(struct paramdiff *diff, size_t rank, struct tensor_parameters *page)
{
	page->total = (int64_t)page->count;
	paramdiff_take(diff, rank, page);
	assert_true(diff->ranks[rank].is_done);
}

/* bias and weight as most have them. */
static void take_usual(struct paramdiff *diff, size_t rank)
{
	struct tensor_parameters page = { .total = -1 };

	add(&page, "fc.weight", 8, 0x11);
	add(&page, "fc.bias", 4, 0x22);
	take(diff, rank, &page);
}

static void check(struct paramdiff *diff, size_t differing, const char *wanted)
{
	struct buffer out = BUFFER_INIT;

	paramdiff_judge(diff);
	diff->is_over = true;
	paramdiff_append_sentence(&out, diff);
	assert_string_equal(out.data, wanted);
	assert_int_equal(paramdiff_differing(diff), differing);
	buffer_clear(&out);
	paramdiff_clear(diff);
}

static void expect_start(struct paramdiff *diff, const char *wanted)
{
	struct buffer out = BUFFER_INIT;

	paramdiff_append_sentence(&out, diff);
	assert_memory_equal(out.data, wanted, strlen(wanted));
	buffer_clear(&out);
}

static void replicas_are_the_same(void **state)
{
	struct paramdiff diff;

	(void)state;
	begin(&diff, 3);
	for (size_t i = 0; i < 3; i++)
		take_usual(&diff, i);
	check(&diff, 0, "2 parameters and buffers of model are the same on ranks 0-2");
}

static void take_nan(struct paramdiff *diff, size_t rank, int64_t nan, int64_t infinite,
		     uint32_t hash)
{
	struct tensor_parameters page = { .total = -1 };

	add(&page, "fc.weight", 8, 0x11);
	add(&page, "fc.bias", 4, hash);
	page.items[1].tensor.has_statistics = true;
	page.items[1].tensor.statistics.nan_count = nan;
	page.items[1].tensor.statistics.infinity_count = infinite;
	take(diff, rank, &page);
}

/* Also where all have the same. */
static void nan_and_infinities_are_told(void **state)
{
	struct paramdiff diff;

	(void)state;
	begin(&diff, 2);
	take_nan(&diff, 0, 3, 1, 0x22);
	take_nan(&diff, 1, 3, 1, 0x22);
	paramdiff_judge(&diff);
	assert_true(paramdiff_is_finding(&diff));
	assert_int_equal(paramdiff_odd(&diff), 1);
	check(&diff, 0,
	      "ranks 0-1 have NaN in 1 tensor of model: fc.bias (3 NaN, 1 Inf of 4); 2 parameters "
	      "and buffers of model are the same on ranks 0-1");
	begin(&diff, 3);
	take_nan(&diff, 0, 0, 0, 0x22);
	take_nan(&diff, 1, 0, 2, 0x23);
	take_nan(&diff, 2, 0, 0, 0x22);
	check(&diff, 1, "rank 1 has 2 Inf in fc.bias; ranks 0,2 have none");
}

static void the_first_that_differs_is_named(void **state)
{
	struct tensor_parameters page = { .total = -1 };
	struct paramdiff diff;

	(void)state;
	begin(&diff, 3);
	add(&page, "fc.weight", 8, 0x12);
	add(&page, "fc.bias", 3, 0x22);
	take(&diff, 1, &page);
	take_usual(&diff, 0);
	take_usual(&diff, 2);
	check(&diff, 2, "fc.weight on rank 1 differs from ranks 0,2; the first of 2 that differ");
}

static void a_missing_one_differs(void **state)
{
	struct tensor_parameters page = { .total = -1 };
	struct paramdiff diff;

	(void)state;
	begin(&diff, 3);
	take_usual(&diff, 0);
	take_usual(&diff, 1);
	add(&page, "fc.weight", 8, 0x11);
	take(&diff, 2, &page);
	check(&diff, 1, "fc.bias is missing on rank 2, but a tensor, float32 [4] on ranks 0-1");
}

static void another_shape_differs(void **state)
{
	struct tensor_parameters page = { .total = -1 };
	struct paramdiff diff;

	(void)state;
	begin(&diff, 3);
	take_usual(&diff, 0);
	take_usual(&diff, 1);
	add(&page, "fc.weight", 8, 0x11);
	add(&page, "fc.bias", 3, 0x23);
	take(&diff, 2, &page);
	check(&diff, 1, "fc.bias has shape [3] on rank 2, but [4] on ranks 0-1");
}

static void pages_come_in_any_order(void **state)
{
	struct tensor_parameters page = { .total = 2 };
	struct paramdiff diff;

	(void)state;
	begin(&diff, 2);
	add(&page, "fc.weight", 8, 0x11);
	paramdiff_take(&diff, 0, &page);
	assert_false(diff.ranks[0].is_done);
	take_usual(&diff, 1);
	add(&page, "fc.bias", 4, 0x22);
	page.total = 2;
	paramdiff_take(&diff, 0, &page);
	assert_true(diff.ranks[0].is_done);
	check(&diff, 0, "2 parameters and buffers of model are the same on ranks 0-1");
}

static void another_order_is_told(void **state)
{
	struct tensor_parameters page = { .total = -1 };
	struct paramdiff diff;

	(void)state;
	begin(&diff, 2);
	take_usual(&diff, 0);
	add(&page, "fc.bias", 4, 0x22);
	add(&page, "fc.weight", 8, 0x11);
	take(&diff, 1, &page);
	check(&diff, 0,
	      "2 parameters and buffers of model are the same on ranks 0-1; the order of "
	      "the tensors differs on rank 1");
}

static void shards_differ_by_right(void **state)
{
	struct paramdiff diff;

	(void)state;
	begin(&diff, 2);
	for (size_t i = 0; i < 2; i++) {
		struct tensor_parameters page = { .total = -1 };

		add(&page, "fc.weight", 8, 0x11 + (uint32_t)i);
		page.items[0].tensor.placement = xstrdup("Shard(0) of [16]");
		add(&page, "fc.bias", 4, 0x22);
		take(&diff, i, &page);
	}
	check(&diff, 0,
	      "1 parameter or buffer of model is the same on ranks 0-1; 1 is a shard with the "
	      "same placement; elements of shards are not compared");
}

/* All that a rank has: one shard of a mesh of 2 by 2, replicated along the
 * first dimension. */
static void take_shard(struct paramdiff *diff, size_t rank, uint32_t hash, const char *placement)
{
	struct tensor_parameters page = { .total = -1 };

	add(&page, "fc.weight", 8, hash);
	page.items[0].tensor.placement = xstrdup(placement);
	page.items[0].tensor.shard = xstrdup(rank % 2 == 0 ? "0" : "1");
	take(diff, rank, &page);
}

static void replicas_of_a_shard_are_compared(void **state)
{
	static const char placement[] = "Replicate, Shard(0) of [16]";
	static const char other[] = "Replicate, Shard(1) of [16]";
	struct paramdiff diff;

	(void)state;
	begin(&diff, 4);
	for (size_t i = 0; i < 4; i++)
		take_shard(&diff, i, 0x10 + i % 2, placement);
	check(&diff, 0,
	      "1 parameter or buffer of model is a shard with the same placement on ranks 0-3; "
	      "replicas of a shard are the same");
	begin(&diff, 4);
	for (size_t i = 0; i < 4; i++)
		take_shard(&diff, i, i == 3 ? 0x99 : 0x10 + i % 2, placement);
	check(&diff, 1, "replicas of one shard of fc.weight differ: rank 3 from ranks 0-2");
	begin(&diff, 2);
	for (size_t i = 0; i < 2; i++)
		take_shard(&diff, i, 0x10 + i, placement);
	check(&diff, 0,
	      "1 parameter or buffer of model is a shard with the same placement on ranks 0-1");
	begin(&diff, 2);
	take_shard(&diff, 0, 0x11, placement);
	take_shard(&diff, 1, 0x11, other);
	check(&diff, 1,
	      "fc.weight is Replicate, Shard(0) of [16] on rank 0, Replicate, Shard(1) of [16] on "
	      "rank 1");
}

static void what_was_not_read_is_not_the_same(void **state)
{
	struct tensor_parameters page = { .total = -1 };
	struct paramdiff diff;

	(void)state;
	begin(&diff, 2);
	take_usual(&diff, 0);
	add(&page, "fc.weight", 8, 0x11);
	add(&page, "fc.bias", 4, 0);
	take(&diff, 1, &page);
	check(&diff, 0,
	      "1 parameter or buffer of model is the same on ranks 0-1; elements of 1 could not be "
	      "read");
}

static void a_gradient_beside_none_differs(void **state)
{
	struct paramdiff diff = { .expression = NULL };

	(void)state;
	paramdiff_begin(&diff, "model", true, 1);
	for (size_t i = 0; i < 3; i++) {
		struct tensor_parameters page = { .total = -1 };

		paramdiff_add_rank(&diff, (int)i);
		add_none(&page, "fc.bias");
		if (i == 1)
			add_none(&page, "fc.weight");
		else
			add(&page, "fc.weight", 8, 0x11);
		take(&diff, i, &page);
	}
	check(&diff, 1,
	      "fc.weight.grad is None on rank 1, but a tensor, float32 [8] on ranks 0,2; 1 "
	      "has no gradient");
}

/* As they are before they are reduced. */
static void each_gradient_differs_and_one_is_none(void **state)
{
	struct paramdiff diff = { .expression = NULL };

	(void)state;
	paramdiff_begin(&diff, "model", true, 1);
	for (size_t i = 0; i < 4; i++) {
		struct tensor_parameters page = { .total = -1 };

		paramdiff_add_rank(&diff, (int)i);
		if (i == 2)
			add_none(&page, "fc.weight");
		else
			add(&page, "fc.weight", 8, 0x11 + (uint32_t)i);
		take(&diff, i, &page);
	}
	check(&diff, 1,
	      "rank 2 has no gradient of fc.weight, and the values of ranks 0-1,3 differ");
}

static void one_differs_on_every_rank(void **state)
{
	struct paramdiff diff;

	(void)state;
	begin(&diff, 3);
	for (size_t i = 0; i < 3; i++) {
		struct tensor_parameters page = { .total = -1 };

		add(&page, "fc.weight", 8, 0x11 + (uint32_t)i);
		take(&diff, i, &page);
	}
	diff.has_difference = true;
	diff.difference = (struct difference){
		.rank = 1,
		.against = 0,
		.state = DIFFERENCE_DONE,
		.found = { .dtype = xstrdup("float32"),
			   .dimension_count = 1,
			   .shape = { 8 },
			   .element_count = 8 },
	};
	paramdiff_judge(&diff);
	diff.is_over = true;
	expect_start(
		&diff,
		"fc.weight has 3 values over ranks 0-2, each float32 [8]; rank 1 against rank 0: ");
	paramdiff_clear(&diff);
}

static void a_list_of_none_says_so(void **state)
{
	struct tensor_parameters page = { .total = -1 };
	struct paramdiff diff;

	(void)state;
	begin(&diff, 1);
	take(&diff, 0, &page);
	check(&diff, 0, "model has no parameters or buffers");
}

static void names_become_no_code(void **state)
{
	static const struct {
		const char *name;
		const char *module; /* way 0 */
		const char *item;   /* way 1 */
	} rows[] = {
		{ "fc.weight", "m.fc.weight", "m[\"fc.weight\"]" },
		{ "layers.0.bias", "m.layers._modules[\"0\"].bias", "m[\"layers.0.bias\"]" },
		{ "3", "m[3]", "m[\"3\"]" },
		{ "['a.b'].w", "m['a.b'].w", "m[\"['a.b'].w\"]" },
		{ "[0][1].w", "m[0][1].w", "m[\"[0][1].w\"]" },
		{ "a\"b", "m._parameters[\"a\\\"b\"]", "m[\"a\\\"b\"]" },
		{ "a\\\n", "m._parameters[\"a\\\\\\x0a\"]", "m[\"a\\\\\\x0a\"]" },
		{ "[exit()]", "m._parameters[\"[exit()]\"]", "m[\"[exit()]\"]" },
		{ "['a'+exit()]", "m._parameters[\"['a'+exit()]\"]", "m[\"['a'+exit()]\"]" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LENGTH(rows); i++) {
		char *module = parampath_make("m", rows[i].name, 0, false);
		char *item = parampath_make("m", rows[i].name, 1, false);

		assert_string_equal(module, rows[i].module);
		assert_string_equal(item, rows[i].item);
		assert_null(parampath_make("m", rows[i].name, 2, false));
		free(module);
		free(item);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replicas_are_the_same),
		cmocka_unit_test(nan_and_infinities_are_told),
		cmocka_unit_test(the_first_that_differs_is_named),
		cmocka_unit_test(a_missing_one_differs),
		cmocka_unit_test(another_shape_differs),
		cmocka_unit_test(pages_come_in_any_order),
		cmocka_unit_test(another_order_is_told),
		cmocka_unit_test(shards_differ_by_right),
		cmocka_unit_test(replicas_of_a_shard_are_compared),
		cmocka_unit_test(what_was_not_read_is_not_the_same),
		cmocka_unit_test(a_gradient_beside_none_differs),
		cmocka_unit_test(each_gradient_differs_and_one_is_none),
		cmocka_unit_test(one_differs_on_every_rank),
		cmocka_unit_test(a_list_of_none_says_so),
		cmocka_unit_test(names_become_no_code),
	};

	return cmocka_run_group_tests_name("paramdiff", tests, NULL, NULL);
}
