/* map and strmap: look-up, ownership, order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/map.h"

static void values_are_found(void **state)
{
	struct map *map = map_new(free);

	(void)state;
	assert_null(map_find(map, 1));
	for (uint64_t key = 0; key < 1000; key++)
		map_put(map, key << 40, xasprintf("%d", (int)key));
	assert_int_equal(map_count(map), 1000);
	assert_string_equal(map_find(map, UINT64_C(777) << 40), "777");
	assert_null(map_find(map, 777));
	map_put(map, 0, xstrdup("new"));
	assert_string_equal(map_find(map, 0), "new");
	map_put(map, 0, map_find(map, 0));
	assert_string_equal(map_find(map, 0), "new");
	assert_int_equal(map_count(map), 1000);
	map_remove(map, 0);
	map_remove(map, 0);
	assert_null(map_find(map, 0));
	assert_int_equal(map_count(map), 999);
	map_free(map);
	map_free(NULL);
}

struct visit {
	struct map *map;
	uint64_t keys[4];
	size_t count;
};

static void visit_and_remove(uint64_t key, void *value, void *data)
{
	struct visit *visit = data;

	(void)value;
	visit->keys[visit->count++] = key;
	map_remove(visit->map, key);
}

static void each_goes_in_order_of_insertion(void **state)
{
	int value;
	struct visit visit = { .map = map_new(NULL) };

	(void)state;
	map_put(visit.map, 9, &value);
	map_put(visit.map, 2, &value);
	map_put(visit.map, 5, &value);
	map_put(visit.map, 9, &visit);
	map_each(visit.map, visit_and_remove, &visit);
	assert_int_equal(visit.count, 3);
	assert_int_equal(visit.keys[0], 9);
	assert_int_equal(visit.keys[1], 2);
	assert_int_equal(visit.keys[2], 5);
	assert_int_equal(map_count(visit.map), 0);
	map_free(visit.map);
}

static void strings_are_keys(void **state)
{
	struct strmap *map = strmap_new(free);
	char key[] = "one";

	(void)state;
	strmap_put(map, key, xstrdup("1"));
	key[0] = 'x';
	strmap_put(map, "", xstrdup("empty"));
	assert_string_equal(strmap_find(map, "one"), "1");
	assert_string_equal(strmap_find(map, ""), "empty");
	assert_null(strmap_find(map, "on"));
	assert_null(strmap_find(map, "xne"));
	strmap_put(map, "one", xstrdup("eins"));
	assert_string_equal(strmap_find(map, "one"), "eins");
	assert_int_equal(strmap_count(map), 2);
	strmap_free(map);
	strmap_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_found),
		cmocka_unit_test(each_goes_in_order_of_insertion),
		cmocka_unit_test(strings_are_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
