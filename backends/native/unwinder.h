/*
 * unwinder: the interface of the module probetui-native.so, which alone links elfutils. It is a
 * module because loading libdw takes longer than a whole report of a job; unwinder.c loads the
 * module at the first request.
 *
 * The module handles files and registers; it knows nothing of processes and Python. Each file may
 * be used by one thread at a time.
 */
#ifndef BACKENDS_NATIVE_UNWINDER_H
#define BACKENDS_NATIVE_UNWINDER_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct registers;
struct unwind_file;

/* Access to the thread's stack: read() reads a word and returns 0, or -1 if it is unreadable. */
struct unwind_memory {
	int (*read)(void *data, uint64_t address, uint64_t *word);
	void *data;
};

enum unwind_result {
	UNWIND_CALLER,	   /* success: the caller's registers are set */
	UNWIND_OUTERMOST,  /* according to the rules, there is no caller */
	UNWIND_NO_RULES,   /* there are no rules for this address */
	UNWIND_REGISTERS,  /* the rules need a register that is unknown */
	UNWIND_UNREADABLE, /* the rules need memory that cannot be read */
};

struct unwind_module {
	/* Opens an ELF file, or returns NULL; fd is borrowed and must stay open. */
	struct unwind_file *(*open)(int fd);
	/* Opens an ELF file in memory, or returns NULL; bytes are borrowed until close(). */
	struct unwind_file *(*open_image)(void *bytes, size_t length);
	void (*close)(struct unwind_file *file);
	/* Returns the number of the file's bytes that are kept in memory. */
	uint64_t (*size)(const struct unwind_file *file);
	/*
	 * Steps from a frame to its caller. bias: address in the process minus virtual address in
	 * the file. callee->pc must be in the file.
	 */
	enum unwind_result (*step)(struct unwind_file *file, uint64_t bias,
				   const struct registers *callee, struct registers *caller,
				   const struct unwind_memory *memory);
	/* Returns the line of a virtual address and writes its source file to path; 0: unknown. */
	int (*line)(struct unwind_file *file, uint64_t address, char *path, size_t size);
	/* Returns the demangled C++ name, to be freed; NULL: not a C++ name. */
	char *(*demangle)(const char *name);
};

/* The only symbol that the module exports. */
#define UNWIND_MODULE_NAME "probetui_unwind_module"

/*
 * Loads the module, only from the folder of probetui-node. Returns the module, valid for ever, or
 * NULL and sets error.
 */
const struct unwind_module *unwinder_open(struct error *error);

#endif
