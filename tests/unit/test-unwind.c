/*
 * Files and stacks that lie: nothing is read that is not there, and it ends.
 *
 * A library that is loaded is copied with bytes changed at random, and asked
 * for its functions, rules and lines, with a stack of random words.
 */
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "banned.h"

#include "backends/native/elf-file.h"
#include "backends/native/registers.h"
#include "backends/native/symbols.h"
#include "backends/native/unwinder.h"
#include "base/alloc.h"

#define ROUNDS 400
#define ADDRESSES 40
#define STEPS 50

extern const struct unwind_module probetui_unwind_module;

static uint64_t random_word(uint64_t *seed)
{
	/* xorshift64: G. Marsaglia, "Xorshift RNGs", 2003 */
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static int find_small(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	if (!strstr(info->dlpi_name, "libcmocka"))
		return 0;
	*(char **)data = xstrdup(info->dlpi_name);
	return 1;
}

struct library {
	char *bytes;
	size_t length;
};

static int open_library(void **state)
{
	struct library *library = xcalloc(1, sizeof(*library));
	char *path = NULL;
	struct stat about;

	dl_iterate_phdr(find_small, &path);
	assert_non_null(path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(fstat(fd, &about), 0);
	library->length = (size_t)about.st_size;
	library->bytes = xmalloc(library->length);
	assert_int_equal(read(fd, library->bytes, library->length), about.st_size);
	close(fd);
	free(path);
	*state = library;
	return 0;
}

static int close_library(void **state)
{
	struct library *library = *state;

	free(library->bytes);
	free(library);
	return 0;
}

static int write_copy(const struct library *library, size_t length)
{
	int fd = memfd_create("library", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, library->bytes, length), (ssize_t)length);
	return fd;
}

static int read_random(void *data, uint64_t address, uint64_t *word)
{
	uint64_t *seed = data;

	if (address % 8)
		return -1;
	*word = random_word(seed) % 4 ? random_word(seed) % (1u << 20) : random_word(seed);
	return 0;
}

static void unwind(struct unwind_file *file, uint64_t address, uint64_t *seed)
{
	const struct unwind_memory memory = { read_random, seed };
	struct registers callee = { .pc = address, .is_next = true };
	struct registers caller;

	for (int i = 0; i < 17; i++)
		if (random_word(seed) % 2)
			registers_set(&callee, i, random_word(seed));
	for (int i = 0; i < STEPS; i++) {
		if (probetui_unwind_module.step(file, 0, &callee, &caller, &memory) !=
		    UNWIND_CALLER)
			return;
		callee = caller;
	}
}

static void ask_file(int fd, size_t length, uint64_t *seed)
{
	const struct unwind_module *module = &probetui_unwind_module;
	struct unwind_file *file = module->open(fd);
	atomic_bool is_cancelled = false;
	struct elf_file elf;
	char path[256];

	if (elf_file_read(&elf, fd) == 0) {
		struct symbols *symbols = symbols_new(&elf, &is_cancelled);
		for (int i = 0; i < ADDRESSES; i++)
			free(symbols_find(symbols, &elf, random_word(seed) % length));
		symbols_free(symbols);
	}
	for (int i = 0; file && i < ADDRESSES; i++) {
		uint64_t address = random_word(seed) % length;
		unwind(file, address, seed);
		module->line(file, address, path, sizeof(path));
	}
	module->close(file);
}

static void files_that_lie(void **state)
{
	const struct library *library = *state;
	uint64_t seed = (uint64_t)time(NULL) * 2654435761u + 1;

	print_message("# seed %llu\n", (unsigned long long)seed);
	for (int i = 0; i < ROUNDS; i++) {
		struct library copy = { .length = library->length };
		size_t changes = random_word(&seed) % 64;
		copy.bytes = xmalloc(copy.length);
		memcpy(copy.bytes, library->bytes, copy.length);
		for (size_t j = 0; j < changes; j++) {
			/* Headers are the most telling; so are their ends. */
			size_t at = random_word(&seed) % copy.length;
			if (j % 4 == 0)
				at %= 1024;
			copy.bytes[at] = (char)random_word(&seed);
		}
		int fd = write_copy(&copy, copy.length);
		ask_file(fd, copy.length, &seed);
		close(fd);
		free(copy.bytes);
	}
}

static void files_that_end_early(void **state)
{
	const struct library *library = *state;
	uint64_t seed = 1;

	for (size_t length = 0; length < library->length; length += 1 + library->length / 40) {
		int fd = write_copy(library, length);
		ask_file(fd, library->length, &seed);
		close(fd);
	}
}

static int read_mixed(void *data, uint64_t address, uint64_t *word)
{
	(void)data;
	*word = address * UINT64_C(0x9e3779b97f4a7c15);
	return 0;
}

/* The program header that leads to the table of rules. */
static Elf64_Phdr *find_table(char *bytes)
{
	const Elf64_Ehdr *header = (const void *)bytes;
	Elf64_Phdr *segments = (void *)(bytes + header->e_phoff);

	for (size_t i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_GNU_EH_FRAME)
			return &segments[i];
	fail();
	return NULL;
}

static enum unwind_result step(struct unwind_file *file, uint64_t address, struct registers *caller)
{
	const struct unwind_memory memory = { read_mixed, NULL };
	struct registers callee = { .pc = address, .is_next = true };

	for (int i = 0; i < 17; i++)
		registers_set(&callee, i, 0x10000u * (unsigned)i);
	return probetui_unwind_module.step(file, 0, &callee, caller, &memory);
}

/* libdw's own reading of all rules is what those of one are compared with. */
static void the_table_leads_to_the_same_rules(void **state)
{
	const struct library *library = *state;
	Elf64_Phdr *table = find_table(library->bytes);
	int with = write_copy(library, library->length);
	size_t found = 0;

	table->p_type = PT_NULL;
	int without = write_copy(library, library->length);
	table->p_type = PT_GNU_EH_FRAME;
	struct unwind_file *one = probetui_unwind_module.open(with);
	struct unwind_file *all = probetui_unwind_module.open(without);
	for (uint64_t at = 0; at < library->length; at++) {
		struct registers caller = { .pc = 0 };
		struct registers wanted = { .pc = 0 };
		enum unwind_result result = step(all, at, &wanted);

		assert_int_equal(step(one, at, &caller), result);
		if (result != UNWIND_CALLER)
			continue;
		/* For one address, the rules of all are not read. */
		if (found++ == 0)
			assert_true(probetui_unwind_module.size(one) <
				    probetui_unwind_module.size(all));
		assert_int_equal(caller.pc, wanted.pc);
		assert_int_equal(caller.known, wanted.known);
		assert_memory_equal(caller.values, wanted.values, sizeof(caller.values));
	}
	assert_true(found > 1000);
	probetui_unwind_module.close(one);
	probetui_unwind_module.close(all);
	close(with);
	close(without);
}

static void tables_that_lie(void **state)
{
	const struct library *library = *state;
	const Elf64_Phdr *table = find_table(library->bytes);
	size_t start = table->p_offset;
	/* The rules lie behind it, as linkers of GNU have it. */
	size_t length = table->p_filesz * 4;
	uint64_t seed = (uint64_t)time(NULL) * 2654435761u + 1;

	printf("# seed %llu\n", (unsigned long long)seed);
	assert_true(start + length < library->length);
	for (int i = 0; i < ROUNDS; i++) {
		struct library lie = { xmalloc(library->length), library->length };

		memcpy(lie.bytes, library->bytes, lie.length);
		for (uint64_t j = 1 + random_word(&seed) % 64; j > 0; j--)
			lie.bytes[start + random_word(&seed) % length] = (char)random_word(&seed);
		int fd = write_copy(&lie, lie.length);
		ask_file(fd, lie.length, &seed);
		close(fd);
		free(lie.bytes);
	}
}

static void a_function_is_found(void **state)
{
	const struct library *library = *state;
	atomic_bool is_cancelled = false;
	int fd = write_copy(library, library->length);
	struct elf_file elf;
	struct symbols *symbols;
	size_t found = 0;

	assert_int_equal(elf_file_read(&elf, fd), 0);
	symbols = symbols_new(&elf, &is_cancelled);
	for (uint64_t at = 0; at < library->length; at += 16) {
		char *name = symbols_find(symbols, &elf, at);
		found += name && strcmp(name, "_cmocka_run_group_tests") == 0;
		free(name);
	}
	assert_true(found > 0);
	symbols_free(symbols);
	close(fd);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_found),
		cmocka_unit_test(files_that_lie),
		cmocka_unit_test(files_that_end_early),
		cmocka_unit_test(tables_that_lie),
		cmocka_unit_test(the_table_leads_to_the_same_rules),
	};

	return cmocka_run_group_tests_name("unwind", tests, open_library, close_library);
}
