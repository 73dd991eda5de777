/*
 * unwind-module: the only file, with dwarf-expression.c, that includes elfutils' headers.
 *
 * libdw parses the rules in .eh_frame. This file applies the rules, so that each file is read once
 * for all processes that have mapped it, and so that each frame's place on the stack is known.
 * Files are read, not mapped: a truncated file must not cause SIGBUS. libdwfl, which searches files
 * on its own, is not used at all.
 */
#include "backends/native/unwinder.h"

#include <dlfcn.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "banned.h"

#include "backends/native/dwarf-expression.h"
#include "backends/native/frame-table.h"
#include "backends/native/registers.h"

/* Sections are read as a whole; larger sections are not read, because that would take too long. */
#define LINES_MAXIMUM (UINT64_C(256) << 20)
#define RULES_MAXIMUM (UINT64_C(64) << 20)
#define NAMES_MAXIMUM (UINT64_C(1) << 20) /* maximum bytes of section names */

#define FUNCTIONS_KEPT 256

/* The rules of one function. */
struct function_rules {
	uint64_t entry; /* virtual address of the FDE; 0: none */
	void *bytes;
	size_t length;
	Elf *elf;
	Dwarf_CFI *rules;
};

struct unwind_file {
	Elf *elf;
	struct frame_table table;
	bool has_table;
	struct function_rules *functions; /* hash table by entry */
	Dwarf_CFI *rules;		  /* all rules of a file without a table */
	Dwarf *dwarf;			  /* debugging data, for lines */
	bool is_rules_read;
	bool is_dwarf_read;
	uint64_t size;
};

static struct unwind_file *unwind_module_make_file(Elf *elf)
{
	struct unwind_file *file;

	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		elf_end(elf);
		return NULL;
	}
	file = calloc(1, sizeof(*file));
	if (file)
		file->elf = elf;
	else
		elf_end(elf);
	return file;
}

/*
 * If e_shnum is 0, libelf takes the number of sections from the file, and a sparse file may claim
 * as many sections as it has bytes: refuse.
 */
static bool has_sane_header(int fd)
{
	Elf64_Ehdr header;

	return pread(fd, &header, sizeof(header), 0) == (ssize_t)sizeof(header) &&
	       (header.e_shoff == 0 || header.e_shnum != 0);
}

static struct unwind_file *unwind_module_module_open(int fd)
{
	struct unwind_file *file;

	elf_version(EV_CURRENT);
	if (!has_sane_header(fd))
		return NULL;
	file = unwind_module_make_file(elf_begin(fd, ELF_C_READ, NULL));
	if (file)
		file->has_table = frame_table_open(&file->table, fd) == 0;
	return file;
}

static struct unwind_file *module_open_image(void *bytes, size_t length)
{
	elf_version(EV_CURRENT);
	return unwind_module_make_file(elf_memory(bytes, length));
}

static void clear_function(struct unwind_file *file, struct function_rules *function)
{
	file->size -= function->length;
	dwarf_cfi_end(function->rules);
	elf_end(function->elf);
	free(function->bytes);
	*function = (struct function_rules){ .entry = 0 };
}

static void unwind_module_module_close(struct unwind_file *file)
{
	if (!file)
		return;
	for (size_t i = 0; file->functions && i < FUNCTIONS_KEPT; i++)
		clear_function(file, &file->functions[i]);
	free(file->functions);
	dwarf_cfi_end(file->rules);
	dwarf_end(file->dwarf);
	elf_end(file->elf);
	free(file);
}

static uint64_t unwind_module_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t unpacked_size(Elf_Scn *section)
{
	const Elf64_Shdr *header = elf64_getshdr(section);
	const Elf64_Chdr *packed;

	if (!header)
		return UINT64_MAX;
	if ((header->sh_flags & SHF_COMPRESSED) == 0)
		return header->sh_size;
	packed = elf64_getchdr(section);
	return packed ? packed->ch_size : UINT64_MAX;
}

/* Sums the sizes of the sections whose names begin with `start`; UINT64_MAX: unknown. */
static uint64_t sum_sections(Elf *elf, const char *start)
{
	Elf_Scn *section = NULL;
	uint64_t sum = 0;
	size_t names;

	if (elf_getshdrstrndx(elf, &names) < 0)
		return 0;
	if (unpacked_size(elf_getscn(elf, names)) > NAMES_MAXIMUM)
		return UINT64_MAX;
	while ((section = elf_nextscn(elf, section))) {
		const Elf64_Shdr *header = elf64_getshdr(section);
		const char *name;
		if (!header || header->sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, header->sh_name);
		if (!name)
			continue;
		/*
		 * The old compressed sections (.zdebug_…) do not state their uncompressed size
		 * before they are read.
		 */
		if (strncmp(name, ".z", 2) == 0 &&
		    strncmp(name + 2, start + 1, strlen(start) - 1) == 0)
			return UINT64_MAX;
		if (strncmp(name, start, strlen(start)) == 0)
			sum = unwind_module_add(sum, unpacked_size(section));
	}
	return sum;
}

/* Sums the sizes of .eh_frame_hdr, by which the rules of a file without sections are found. */
static uint64_t sum_segments(Elf *elf)
{
	const Elf64_Phdr *headers = elf64_getphdr(elf);
	uint64_t sum = 0;
	size_t count;

	if (!headers || elf_getphdrnum(elf, &count) < 0)
		return UINT64_MAX;
	for (size_t i = 0; i < count; i++)
		if (headers[i].p_type == PT_GNU_EH_FRAME)
			sum = unwind_module_add(sum, headers[i].p_filesz);
	return sum;
}

static void read_function(struct unwind_file *file, struct function_rules *function, uint64_t entry)
{
	clear_function(file, function);
	function->entry = entry;
	function->bytes = frame_table_extract(&file->table, entry, &function->length);
	file->size += function->length;
	if (function->bytes)
		function->elf = elf_memory(function->bytes, function->length);
	if (function->elf)
		function->rules = dwarf_getcfi_elf(function->elf);
}

static Dwarf_CFI *unwind_module_find_function(struct unwind_file *file, uint64_t address)
{
	uint64_t entry = frame_table_find(&file->table, address);
	struct function_rules *function;

	if (!file->functions)
		file->functions = calloc(FUNCTIONS_KEPT, sizeof(*file->functions));
	if (entry == 0 || !file->functions)
		return NULL;
	/* Entries are some tens of bytes long, so entry / 8 spreads the entries over the table. */
	function = &file->functions[entry / 8 % FUNCTIONS_KEPT];
	if (function->entry != entry)
		read_function(file, function, entry);
	return function->rules;
}

static Dwarf_CFI *unwind_module_find_all(struct unwind_file *file)
{
	uint64_t size;

	if (file->is_rules_read)
		return file->rules;
	file->is_rules_read = true;
	size = unwind_module_add(sum_sections(file->elf, ".eh_frame"), sum_segments(file->elf));
	if (size > RULES_MAXIMUM)
		return NULL;
	file->size += size;
	file->rules = dwarf_getcfi_elf(file->elf);
	return file->rules;
}

static Dwarf_CFI *find_rules(struct unwind_file *file, uint64_t address)
{
	return file->has_table ? unwind_module_find_function(file, address)
			       : unwind_module_find_all(file);
}

static uint64_t module_size(const struct unwind_file *file)
{
	return file->size;
}

/* Computes a register of the caller; UNWIND_REGISTERS: the register's value is unknown. */
static enum unwind_result recover(Dwarf_Frame *frame, int number,
				  const struct dwarf_expression *expression, uint64_t *value)
{
	Dwarf_Op memory[3];
	Dwarf_Op *ops;
	size_t count;
	bool is_value;
	enum unwind_result result;

	if (dwarf_frame_register(frame, number, memory, &ops, &count) != 0)
		return UNWIND_NO_RULES;
	if (count == 0 && ops == NULL) {
		*value = expression->registers->values[number];
		return registers_has(expression->registers, number) ? UNWIND_CALLER
								    : UNWIND_REGISTERS;
	}
	if (count == 0)
		return UNWIND_OUTERMOST;
	result = dwarf_expression_run(expression, ops, count, value, &is_value);
	if (result != UNWIND_CALLER || is_value)
		return result;
	return expression->memory->read(expression->memory->data, *value, value) < 0
		       ? UNWIND_UNREADABLE
		       : UNWIND_CALLER;
}

static enum unwind_result find_cfa(Dwarf_Frame *frame, struct dwarf_expression *expression)
{
	Dwarf_Op *ops;
	size_t count;
	bool is_value;

	if (dwarf_frame_cfa(frame, &ops, &count) != 0)
		return UNWIND_NO_RULES;
	return dwarf_expression_run(expression, ops, count, &expression->cfa, &is_value);
}

/*
 * Computes the caller's registers. The caller's stack pointer is the CFA, unless a rule sets
 * another value.
 */
static enum unwind_result apply(Dwarf_Frame *frame, int return_register,
				struct dwarf_expression *expression, struct registers *caller)
{
	enum unwind_result result = find_cfa(frame, expression);
	uint64_t value;

	if (result != UNWIND_CALLER)
		return result;
	if (return_register < 0 || return_register >= REGISTERS_COUNT)
		return UNWIND_NO_RULES;
	result = recover(frame, return_register, expression, &caller->pc);
	if (result != UNWIND_CALLER)
		return result;
	registers_set(caller, registers_stack_pointer(), expression->cfa);
	for (int i = 0; i < REGISTERS_COUNT; i++)
		if (i != return_register && recover(frame, i, expression, &value) == UNWIND_CALLER)
			registers_set(caller, i, value);
	return UNWIND_CALLER;
}

static enum unwind_result module_step(struct unwind_file *file, uint64_t bias,
				      const struct registers *callee, struct registers *caller,
				      const struct unwind_memory *memory)
{
	struct dwarf_expression expression = { callee, memory, bias, 0 };
	uint64_t pc = callee->pc - (callee->is_next ? 0 : 1);
	Dwarf_CFI *rules = find_rules(file, pc - bias);
	Dwarf_Frame *frame = NULL;
	bool is_signal = false;
	enum unwind_result result;
	int number;

	*caller = (struct registers){ .pc = 0 };
	if (!rules || dwarf_cfi_addrframe(rules, pc - bias, &frame) != 0)
		return UNWIND_NO_RULES;
	number = dwarf_frame_info(frame, NULL, NULL, &is_signal);
	result = apply(frame, number, &expression, caller);
	caller->is_next = is_signal;
	free(frame);
	if (result == UNWIND_CALLER && caller->pc == 0)
		return UNWIND_OUTERMOST;
	return result;
}

static Dwarf *find_dwarf(struct unwind_file *file)
{
	uint64_t size;

	if (file->is_dwarf_read)
		return file->dwarf;
	file->is_dwarf_read = true;
	size = sum_sections(file->elf, ".debug_");
	if (size == 0 || size > LINES_MAXIMUM)
		return NULL;
	file->size += size;
	file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	return file->dwarf;
}

static int module_line(struct unwind_file *file, uint64_t address, char *path, size_t size)
{
	Dwarf *dwarf = find_dwarf(file);
	Dwarf_Die unit;
	Dwarf_Line *line;
	const char *name;
	int number = 0;

	if (!dwarf || !dwarf_addrdie(dwarf, address, &unit))
		return 0;
	line = dwarf_getsrc_die(&unit, address);
	if (!line || dwarf_lineno(line, &number) != 0)
		return 0;
	name = dwarf_linesrc(line, NULL, NULL);
	if (!name)
		return 0;
	snprintf(path, size, "%s", name);
	return number;
}

/* Demangles with libstdc++, which is loaded here because a C program does not link it. */
static char *module_demangle(const char *name)
{
	char *(*demangle)(const char *name, char *out, size_t *size, int *status);
	void *library;
	int status;

	if (strncmp(name, "_Z", 2) != 0)
		return NULL;
	library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return NULL;
	/* ISO C has no cast from an object pointer to a function pointer. */
	*(void **)&demangle = dlsym(library, "__cxa_demangle");
	return demangle ? demangle(name, NULL, NULL, &status) : NULL;
}

extern const struct unwind_module probetui_unwind_module __attribute__((visibility("default")));
const struct unwind_module probetui_unwind_module = {
	.open = unwind_module_module_open,
	.open_image = module_open_image,
	.close = unwind_module_module_close,
	.size = module_size,
	.step = module_step,
	.line = module_line,
	.demangle = module_demangle,
};
