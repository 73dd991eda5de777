/* environment: which number counts, and who is the same rank or in the same job. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "banned.h"
#include "backends/discover/environment.h"

/* Words of the form NAME=VALUE, separated by blanks. */
static struct environment parse(const char *words)
{
	struct environment environment;
	char bytes[512];
	size_t length = strlen(words) + 1;

	memcpy(bytes, words, length);
	for (size_t i = 0; i < length; i++)
		if (bytes[i] == ' ')
			bytes[i] = '\0';
	environment_init(&environment);
	environment_parse(&environment, bytes, length);
	return environment;
}

static struct environment with_group(const char *words, int rank, int size)
{
	struct environment environment = parse(words);

	environment_set_group(&environment, FAMILY_GROUP, rank, size);
	return environment;
}

static void check(const struct environment *environment, int rank, int size, int local)
{
	assert_int_equal(environment_number(environment, NUMBER_RANK), rank);
	assert_int_equal(environment_number(environment, NUMBER_SIZE), size);
	assert_int_equal(environment_number(environment, NUMBER_LOCAL), local);
}

static void a_process_group_counts_more_than_variables(void **state)
{
	struct environment environment = with_group("RANK=0 LOCAL_RANK=0 WORLD_SIZE=1", 3, 4);

	(void)state;
	check(&environment, 3, 4, -1);
	environment = with_group("RANK=3 LOCAL_RANK=1 WORLD_SIZE=4", 3, 4);
	check(&environment, 3, 4, 1);
}

static void the_local_rank_of_lightning_belongs_to_its_group(void **state)
{
	struct environment environment = with_group("NODE_RANK=1 LOCAL_RANK=1", 3, 4);

	(void)state;
	check(&environment, 3, 4, 1);
}

static void a_rank_without_its_number_is_known_on_the_first_machine(void **state)
{
	struct environment first = parse("NODE_RANK=0 LOCAL_RANK=1 WORLD_SIZE=4");
	struct environment second = parse("NODE_RANK=1 LOCAL_RANK=1 WORLD_SIZE=4");
	struct environment alone = parse("LOCAL_RANK=1 WORLD_SIZE=4");
	struct environment beyond = parse("NODE_RANK=0 LOCAL_RANK=4 WORLD_SIZE=4");

	(void)state;
	check(&first, 1, 4, 1);
	assert_int_equal(environment_family(&second), FAMILY_NONE);
	assert_int_equal(environment_family(&alone), FAMILY_NONE);
	assert_int_equal(environment_family(&beyond), FAMILY_NONE);
}

static void impossible_groups_are_ignored(void **state)
{
	static const int64_t groups[][2] = {
		{ -1, 4 }, { 4, 4 }, { 0, 0 }, { INT64_MIN, INT64_MAX }, { 0, 1 << 21 },
	};
	struct environment environment = parse("RANK=1 WORLD_SIZE=4");

	(void)state;
	for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		environment_set_group(&environment, FAMILY_GROUP, groups[i][0], groups[i][1]);
		check(&environment, 1, 4, -1);
	}
}

static void groups_tell_ranks_with_equal_variables_apart(void **state)
{
	struct environment a = with_group("RANK=0", 0, 2);
	struct environment b = with_group("RANK=0", 1, 2);
	struct environment wrapper = parse("RANK=0");
	struct environment other = parse("RANK=1");
	struct environment none = parse("");
	struct environment spawned = with_group("", 0, 2);

	(void)state;
	assert_false(environment_is_same_rank(&a, &b));
	assert_true(environment_is_same_rank(&a, &a));
	assert_true(environment_is_same_rank(&a, &wrapper));
	assert_false(environment_is_same_rank(&a, &other));
	assert_true(environment_is_same_rank(&none, &none));
	assert_false(environment_is_same_rank(&spawned, &none));
}

static void jobs_are_the_same_by_address_and_size(void **state)
{
	struct environment a = parse("RANK=0 WORLD_SIZE=2 MASTER_ADDR=h MASTER_PORT=1");
	struct environment b = parse("RANK=1 WORLD_SIZE=2 MASTER_ADDR=h MASTER_PORT=1");
	struct environment port = parse("RANK=1 WORLD_SIZE=2 MASTER_ADDR=h MASTER_PORT=2");
	struct environment size = parse("RANK=1 WORLD_SIZE=3 MASTER_ADDR=h MASTER_PORT=1");
	struct environment none = parse("RANK=1 WORLD_SIZE=2");

	(void)state;
	assert_true(environment_is_same_job(&a, &b));
	assert_false(environment_is_same_job(&a, &port));
	assert_false(environment_is_same_job(&a, &size));
	assert_false(environment_is_same_job(&none, &none));
}

static void numbers_of_a_machine_can_be_forgotten(void **state)
{
	struct environment environment = parse("SLURM_PROCID=3 PMI_RANK=3");

	(void)state;
	environment_forget_machine(&environment);
	assert_int_equal(environment_family(&environment), FAMILY_NONE);
	environment = parse("SLURM_PROCID=0 RANK=2 WORLD_SIZE=4");
	environment_forget_machine(&environment);
	check(&environment, 2, 4, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_group_counts_more_than_variables),
		cmocka_unit_test(the_local_rank_of_lightning_belongs_to_its_group),
		cmocka_unit_test(a_rank_without_its_number_is_known_on_the_first_machine),
		cmocka_unit_test(impossible_groups_are_ignored),
		cmocka_unit_test(groups_tell_ranks_with_equal_variables_apart),
		cmocka_unit_test(jobs_are_the_same_by_address_and_size),
		cmocka_unit_test(numbers_of_a_machine_can_be_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
