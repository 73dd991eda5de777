/*
 * unwind-module: the only file that includes elfutils, with expression.c.
 *
 * The rules are libdw's reading of .eh_frame; they are applied here, not by
 * libdwfl, so that one file is read once for all processes that have it
 * mapped, and so that each frame's place on the stack is known. Files are
 * read, not mapped: one that is cut short must not bring SIGBUS. libdwfl,
 * which looks for files of its own accord, is not used at all.
 */
#include "backends/ptrace/unwinder.h"

#include <dlfcn.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "banned.h"

#include "backends/ptrace/arch.h"
#include "backends/ptrace/expression.h"

/* All of a file's debugging data is read; more than this takes too long. */
#define LINES_FILE_MAXIMUM (256u << 20)

struct unwind_file {
	Elf *elf;
	Dwarf_CFI *rules;
	Dwarf *dwarf; /* for lines */
	bool is_rules_read;
	bool is_dwarf_read;
	bool is_large;
};

static struct unwind_file *make_file(Elf *elf)
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

static struct unwind_file *module_open(int fd)
{
	struct unwind_file *file;
	struct stat about;

	elf_version(EV_CURRENT);
	file = make_file(elf_begin(fd, ELF_C_READ, NULL));
	if (file && fstat(fd, &about) == 0)
		file->is_large = about.st_size > LINES_FILE_MAXIMUM;
	return file;
}

static struct unwind_file *module_open_image(void *bytes, size_t length)
{
	elf_version(EV_CURRENT);
	return make_file(elf_memory(bytes, length));
}

static void module_close(struct unwind_file *file)
{
	if (!file)
		return;
	dwarf_cfi_end(file->rules);
	dwarf_end(file->dwarf);
	elf_end(file->elf);
	free(file);
}

static Dwarf_CFI *find_rules(struct unwind_file *file)
{
	if (!file->is_rules_read)
		file->rules = dwarf_getcfi_elf(file->elf);
	file->is_rules_read = true;
	return file->rules;
}

/* What a register of the caller is; UNWIND_REGISTERS: nobody knows. */
static enum unwind_result recover(Dwarf_Frame *frame, int number,
				  const struct expression *expression,
				  uint64_t *value)
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
		return registers_has(expression->registers, number)
			       ? UNWIND_CALLER
			       : UNWIND_REGISTERS;
	}
	if (count == 0)
		return UNWIND_OUTERMOST;
	result = expression_run(expression, ops, count, value, &is_value);
	if (result != UNWIND_CALLER || is_value)
		return result;
	return expression->memory->read(expression->memory->data, *value,
					value) < 0
		       ? UNWIND_UNREADABLE
		       : UNWIND_CALLER;
}

static enum unwind_result find_cfa(Dwarf_Frame *frame,
				   struct expression *expression)
{
	Dwarf_Op *ops;
	size_t count;
	bool is_value;

	if (dwarf_frame_cfa(frame, &ops, &count) != 0)
		return UNWIND_NO_RULES;
	return expression_run(expression, ops, count, &expression->cfa,
			      &is_value);
}

/* The caller's stack begins where this frame ends, if no rule differs. */
static enum unwind_result apply(Dwarf_Frame *frame, int return_register,
				struct expression *expression,
				struct registers *caller)
{
	enum unwind_result result = find_cfa(frame, expression);
	uint64_t value;

	if (result != UNWIND_CALLER)
		return result;
	if (return_register < 0 || return_register >= ARCH_REGISTERS)
		return UNWIND_NO_RULES;
	result = recover(frame, return_register, expression, &caller->pc);
	if (result != UNWIND_CALLER)
		return result;
	registers_set(caller, arch_stack_pointer(), expression->cfa);
	for (int i = 0; i < ARCH_REGISTERS; i++)
		if (i != return_register &&
		    recover(frame, i, expression, &value) == UNWIND_CALLER)
			registers_set(caller, i, value);
	return UNWIND_CALLER;
}

static enum unwind_result module_step(struct unwind_file *file, uint64_t bias,
				      const struct registers *callee,
				      struct registers *caller,
				      const struct unwind_memory *memory)
{
	struct expression expression = { callee, memory, bias, 0 };
	uint64_t pc = callee->pc - (callee->is_next ? 0 : 1);
	Dwarf_CFI *rules = find_rules(file);
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
	if (!file->is_dwarf_read && !file->is_large)
		file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	file->is_dwarf_read = true;
	return file->dwarf;
}

static int module_line(struct unwind_file *file, uint64_t address, char *path,
		       size_t size)
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

/* Of libstdc++, which a program in C does not link. */
static char *module_demangle(const char *name)
{
	char *(*demangle)(const char *name, char *out, size_t *size,
			  int *status);
	void *library;
	int status;

	if (strncmp(name, "_Z", 2) != 0)
		return NULL;
	library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return NULL;
	/* ISO C has no cast from an object's address to a function's. */
	*(void **)&demangle = dlsym(library, "__cxa_demangle");
	return demangle ? demangle(name, NULL, NULL, &status) : NULL;
}

extern const struct unwind_module probetui_unwind_module
	__attribute__((visibility("default")));
const struct unwind_module probetui_unwind_module = {
	.open = module_open,
	.open_image = module_open_image,
	.close = module_close,
	.step = module_step,
	.line = module_line,
	.demangle = module_demangle,
};
