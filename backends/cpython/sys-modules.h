/*
 * sys-modules: what an interpreter has in sys.modules, with each one's __dict__
 * and __file__, read in a few calls for thousands of them.
 */
#ifndef BACKENDS_CPYTHON_SYS_MODULES_H
#define BACKENDS_CPYTHON_SYS_MODULES_H

#include <stddef.h>
#include <stdint.h>

struct cpython;
struct memory;

#define MODULE_DICT 16 /* md_dict, in a module object */

struct module {
	uint64_t name; /* its key, a str object */
	uint64_t object;
	uint64_t dict; /* 0: it has none */
	uint64_t file; /* the str object __file__; 0: none was found */
};

struct sys_modules {
	struct module *items;
	size_t count;
	size_t capacity;
};

void sys_modules_clear(struct sys_modules *modules);
/*
 * Appends those of the interpreter. memory is read past its snapshot, but for
 * sys.modules itself.
 */
void sys_modules_read(struct sys_modules *modules, struct memory *memory,
		      const struct cpython *python, uint64_t interpreter);
/*
 * A number that changes when a module comes or goes, from three reads; 0:
 * not readable.
 */
uint64_t sys_modules_revision(struct memory *memory, const struct cpython *python,
			      uint64_t interpreter);

#endif
