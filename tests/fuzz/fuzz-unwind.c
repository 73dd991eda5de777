/* A file that a process has mapped: its functions, their names, its rules. */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "banned.h"

#include "backends/native/elf-file.h"
#include "backends/native/registers.h"
#include "backends/native/symbols.h"
#include "backends/native/unwinder.h"
#include "base/alloc.h"
#include "tests/fuzz/fuzz.h"

#define ADDRESSES 8
#define STEPS 16
#define STRIDE 0x100

extern const struct unwind_module probetui_unwind_module;

static void find_names(const struct elf_file *elf)
{
	atomic_bool is_cancelled = false;
	struct symbols *symbols = symbols_new(elf, &is_cancelled);
	uint64_t address;

	for (uint64_t at = 0; at < ADDRESSES * STRIDE; at += STRIDE) {
		char *name = symbols_find(symbols, elf, 0x1000 + at);
		if (name)
			free(cpp_name_shorten(name));
		free(name);
		elf_file_address(elf, at, &address);
	}
	symbols_free(symbols);
}

static int read_word(void *data, uint64_t address, uint64_t *word)
{
	(void)data;
	*word = address * 3;
	return address % 8 ? -1 : 0;
}

static void unwind(struct unwind_file *file, uint64_t address)
{
	const struct unwind_memory memory = { read_word, NULL };
	struct registers callee = { .pc = address, .is_next = true };
	struct registers caller;

	for (int i = 0; i < REGISTERS_COUNT; i++)
		registers_set(&callee, i, 0x7000 + (uint64_t)i * 8);
	for (int i = 0; i < STEPS; i++) {
		if (probetui_unwind_module.step(file, 0, &callee, &caller, &memory) !=
		    UNWIND_CALLER)
			return;
		callee = caller;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz-unwind", MFD_CLOEXEC);
	char *text = xstrndup((const char *)data, size);
	struct unwind_file *file;
	struct elf_file elf;

	free(cpp_name_shorten(text));
	free(text);
	if (fd < 0)
		return 0;
	if (write(fd, data, size) != (ssize_t)size) {
		close(fd);
		return 0;
	}
	if (elf_file_read(&elf, fd) == 0)
		find_names(&elf);
	file = probetui_unwind_module.open(fd);
	for (uint64_t at = 0; file && at < ADDRESSES * STRIDE; at += STRIDE)
		unwind(file, 0x1000 + at);
	probetui_unwind_module.close(file);
	close(fd);
	return 0;
}
