/*
 * unwinder: what the module probetui-native.so gives, the only one that links
 * elfutils. It is a module since libdw with what it needs costs a start more
 * than a whole verdict takes (unwinder.c opens it at the first request).
 *
 * It knows files and registers, nothing of processes or Python. One file of
 * it is used by one thread at a time.
 */
#ifndef BACKENDS_NATIVE_UNWINDER_H
#define BACKENDS_NATIVE_UNWINDER_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct registers;
struct unwind_file;

/* How a word of the thread's stack is read. 0, or -1: it cannot be. */
struct unwind_memory {
	int (*read)(void *data, uint64_t address, uint64_t *word);
	void *data;
};

enum unwind_result {
	UNWIND_CALLER,	   /* there is a caller, and these are its registers */
	UNWIND_OUTERMOST,  /* the rules say that there is no caller */
	UNWIND_NO_RULES,   /* none for this address */
	UNWIND_REGISTERS,  /* the rules want a register that is not known */
	UNWIND_UNREADABLE, /* the rules want memory that cannot be read */
};

struct unwind_module {
	/* An ELF file; fd stays the caller's and has to stay open. Or NULL. */
	struct unwind_file *(*open)(int fd);
	/* One that lies in memory; bytes stay the caller's and have to stay. */
	struct unwind_file *(*open_image)(void *bytes, size_t length);
	void (*close)(struct unwind_file *file);
	/* How much of the file it keeps in memory, in bytes. */
	uint64_t (*size)(const struct unwind_file *file);
	/*
	 * From a frame to its caller. bias: address in the process less that
	 * in the file. callee->pc lies in the file.
	 */
	enum unwind_result (*step)(struct unwind_file *file, uint64_t bias,
				   const struct registers *callee, struct registers *caller,
				   const struct unwind_memory *memory);
	/* The line at an address of the file and its source file; 0: none. */
	int (*line)(struct unwind_file *file, uint64_t address, char *path, size_t size);
	/* A C++ name for people, to be freed; NULL: it is none. */
	char *(*demangle)(const char *name);
};

/* The module's only name. */
#define UNWIND_MODULE_NAME "probetui_unwind_module"

/*
 * Opens the module that lies beside our own program, and none from elsewhere.
 * Lends it for good; NULL and a sentence.
 */
const struct unwind_module *unwinder_open(struct error *error);

#endif
