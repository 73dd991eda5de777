/* maps: names that a target chose do not become mappings. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "banned.h"
#include "backends/linux/maps.h"

/* The kernel writes each line's end in a name as four bytes. */
#define LINE_ENDS 5
#define NAME_BYTES 200
/* What is read at once ends within the blanks. */
#define BLANKS 200
#define LIE "1000-2000 r-xp 0 0:0 7 lie"

static void enter(int byte)
{
	char name[NAME_BYTES + 1];

	memset(name, byte, NAME_BYTES);
	name[NAME_BYTES] = '\0';
	assert_int_equal(mkdir(name, 0700), 0);
	assert_int_equal(chdir(name), 0);
}

/* Leaves and removes the folders below which we are, a level each. */
static void leave(int byte)
{
	char name[NAME_BYTES + 1];

	memset(name, byte, NAME_BYTES);
	name[NAME_BYTES] = '\0';
	assert_int_equal(chdir(".."), 0);
	assert_int_equal(rmdir(name), 0);
}

/* A name of more than a line's bytes, whose rest looks like a mapping. */
static void *map_long_name(char *name, size_t size)
{
	void *mapped;
	int fd;

	for (int i = 0; i < LINE_ENDS; i++)
		enter('\n');
	enter('x');
	snprintf(name, size, "%*s", BLANKS + (int)strlen(LIE), LIE);
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	assert_true(mapped != MAP_FAILED);
	close(fd);
	return mapped;
}

static void a_long_line_is_one_mapping(void **state)
{
	char folder[] = "/tmp/test-maps-XXXXXX";
	struct maps maps = { .mappings = NULL };
	char name[256];
	void *mapped;

	(void)state;
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	mapped = map_long_name(name, sizeof(name));
	assert_int_equal(maps_read(&maps, getpid(), 0), 0);
	assert_true(maps.count > 0);
	for (size_t i = 0; i < maps.count; i++)
		assert_true(maps.mappings[i].start != 0x1000);
	assert_non_null(maps_find(&maps, (uint64_t)(uintptr_t)a_long_line_is_one_mapping));
	maps_clear(&maps);
	munmap(mapped, 4096);
	assert_int_equal(unlink(name), 0);
	leave('x');
	for (int i = 0; i < LINE_ENDS; i++)
		leave('\n');
	assert_int_equal(chdir("/"), 0);
	assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_long_line_is_one_mapping),
	};

	return cmocka_run_group_tests_name("maps", tests, NULL, NULL);
}
