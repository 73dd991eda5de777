#include "backends/c10d/c10d-library.h"

#include <string.h>

#include "backends/linux/memory.h"
#include "backends/native/loaded-elf.h"
#include "banned.h"

#define CODE_BYTES 256	/* bytes of a function that are searched */
#define CALLS_MAXIMUM 4 /* calls of a function that are followed */
#define NEAR_BYTES 96	/* the pointer is loaded within these bytes behind the guard's test */
#define OFFSET_MAXIMUM 8192

/* Exported functions, with the ABI of C++11 and the one before it. */
struct library_names {
	const char *file;
	const char *dump, *old_dump;
	const char *sequence;
};

static const struct library_names gloo_names = {
	"libtorch_cpu.so",
	"_ZN4c10d18dump_fr_trace_jsonB5cxx11Ebb",
	"_ZN4c10d18dump_fr_trace_jsonEbb",
	"_ZN4c10d16ProcessGroupGloo25getSequenceNumberForGroupEv",
};
static const struct library_names nccl_names = {
	"libtorch_cuda.so",
	"_ZN4c10d20dump_nccl_trace_jsonB5cxx11Ebb",
	"_ZN4c10d20dump_nccl_trace_jsonEbb",
	"_ZN4c10d16ProcessGroupNCCL25getSequenceNumberForGroupEv",
};
/* std::string at::show_config(), with the ABI before C++11 */
#define OLD_STRING_FUNCTION "_ZN2at11show_configEv"

static uint64_t add_displacement(uint64_t next, const uint8_t *bytes)
{
	int32_t displacement;

	memcpy(&displacement, bytes, sizeof(displacement));
	return next + (uint64_t)(int64_t)displacement;
}

/* mov POINTER(%rip), REGISTER (REX.W 8B /r, mod 00, rm 101), 7 bytes. */
static bool is_load_of(const uint8_t *code, uint64_t address, uint64_t pointer)
{
	return (code[0] == 0x48 || code[0] == 0x4c) && code[1] == 0x8b &&
	       (code[2] & 0xc7) == 0x05 && add_displacement(address + 7, code + 3) == pointer;
}

static bool is_loaded(const uint8_t *code, size_t length, uint64_t address, uint64_t pointer)
{
	for (size_t i = 0; i + 7 <= length && i < NEAR_BYTES; i++)
		if (is_load_of(code + i, address + i, pointer))
			return true;
	return false;
}

int c10d_code_find_pointer(const uint8_t *code, size_t length, uint64_t address, uint64_t *pointer)
{
	/* movzbl GUARD(%rip), %eax (0F B6 05 displacement); test %al, %al (84 C0) */
	for (size_t i = 0; i + 9 <= length; i++) {
		if (code[i] != 0x0f || code[i + 1] != 0xb6 || code[i + 2] != 0x05 ||
		    code[i + 7] != 0x84 || code[i + 8] != 0xc0)
			continue;
		*pointer = add_displacement(address + i + 7, code + i + 3) + 8;
		if (is_loaded(code + i + 9, length - i - 9, address + i + 9, *pointer))
			return 0;
	}
	return -1;
}

uint64_t c10d_code_call(const uint8_t *code, size_t length, uint64_t address, size_t n)
{
	for (size_t i = 0; i + 5 <= length; i++)
		if (code[i] == 0xe8 && n-- == 0)
			return add_displacement(address + i + 5, code + i + 1);
	return 0;
}

int c10d_code_find_offset(const uint8_t *code, size_t length)
{
	int32_t offset;

	if (length < 8 || code[0] != 0x48 || code[1] != 0x8b || code[2] != 0x87 || code[7] != 0xc3)
		return -1;
	memcpy(&offset, code + 3, sizeof(offset));
	return offset > 0 && offset < OFFSET_MAXIMUM && offset % 8 == 0 ? offset : -1;
}

static uint64_t find_recorder(struct memory *memory, uint64_t function)
{
	uint8_t code[CODE_BYTES], callee[CODE_BYTES];
	uint64_t pointer, called;

	if (memory_fetch(memory, function, code, sizeof(code)) < 0)
		return 0;
	if (c10d_code_find_pointer(code, sizeof(code), function, &pointer) == 0)
		return pointer;
	for (size_t i = 0; i < CALLS_MAXIMUM; i++) {
		called = c10d_code_call(code, sizeof(code), function, i);
		if (called && memory_fetch(memory, called, callee, sizeof(callee)) == 0 &&
		    c10d_code_find_pointer(callee, sizeof(callee), called, &pointer) == 0)
			return pointer;
	}
	return 0;
}

struct library_search {
	struct c10d_libraries *libraries;
	struct memory *memory;
};

static void read_library(struct c10d_library *library, const struct library_names *names,
			 struct loaded_elf_image *image, struct memory *memory)
{
	uint8_t code[8];
	uint64_t function;

	if (loaded_elf_symbol(image, memory, names->dump, &function) == 0 ||
	    loaded_elf_symbol(image, memory, names->old_dump, &function) == 0)
		library->recorder = find_recorder(memory, function);
	if (loaded_elf_symbol(image, memory, names->sequence, &function) == 0 &&
	    memory_fetch(memory, function, code, sizeof(code)) == 0)
		library->sequence = c10d_code_find_offset(code, sizeof(code));
}

static bool look_at_library(struct loaded_elf_image *image, const char *name, void *data)
{
	const struct library_search *search = data;
	const char *slash = strrchr(name, '/');
	uint64_t function;

	name = slash ? slash + 1 : name;
	if (strcmp(name, gloo_names.file) == 0) {
		read_library(&search->libraries->gloo, &gloo_names, image, search->memory);
		search->libraries->has_old_strings =
			loaded_elf_symbol(image, search->memory, OLD_STRING_FUNCTION, &function) ==
			0;
	} else if (strcmp(name, nccl_names.file) == 0) {
		read_library(&search->libraries->nccl, &nccl_names, image, search->memory);
	}
	return true;
}

void c10d_libraries_find(struct c10d_libraries *libraries, struct memory *memory,
			 struct loaded_elf_cache *cache)
{
	struct library_search search = { .libraries = libraries, .memory = memory };
	struct loaded_elf_image program;

	*libraries = (struct c10d_libraries){
		.gloo = { .sequence = -1 },
		.nccl = { .sequence = -1 },
	};
	if (loaded_elf_program(&program, memory, cache) == 0)
		loaded_elf_each_library(&program, memory, look_at_library, &search);
}
