/* A program's first pages, as they lie in a process, and as a file. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "banned.h"

#include "backends/linux/memory.h"
#include "backends/native/loaded-elf.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/image.h"

static void read_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz-elf", MFD_CLOEXEC);
	uint64_t address;

	if (fd < 0)
		return;
	if (write(fd, data, size) == (ssize_t)size)
		loaded_elf_file_section(fd, ".PyRuntime", &address);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory *memory = memory_new(getpid());
	struct loaded_elf_image image;
	uint64_t address;

	image_fill_bytes(data, size);
	memory_begin(memory, false);
	if (loaded_elf_mapped(&image, memory, IMAGE_START) == 0) {
		loaded_elf_symbol(&image, memory, "_PyRuntime", &address);
		loaded_elf_symbol(&image, memory, "Py_Version", &address);
	}
	memory_free(memory);
	read_file(data, size);
	return 0;
}
