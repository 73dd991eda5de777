/*
 * sys-modules: the modules in an interpreter's sys.modules, with their __dict__ and __file__.
 * Thousands of modules are read in a few system calls.
 */
#ifndef BACKENDS_CPYTHON_SYS_MODULES_H
#define BACKENDS_CPYTHON_SYS_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cpython;
struct memory;
struct pyreader;

#define MODULE_DICT 16 /* byte offset of md_dict in a module object */

struct module {
	uint64_t name; /* key in sys.modules, a str object */
	uint64_t object;
	uint64_t dict; /* 0: unreadable */
	uint64_t file; /* the str object __file__; 0: not found */
};

struct sys_modules {
	struct module *items;
	size_t count;
	size_t capacity;
};

void sys_modules_clear(struct sys_modules *modules);
/*
 * Appends the interpreter's modules. Reads bypass memory's snapshot, except for the dict
 * sys.modules itself.
 */
void sys_modules_read(struct sys_modules *modules, struct memory *memory,
		      const struct cpython *python, uint64_t interpreter);
/* Returns a number that changes when a module is added or removed; 0: unreadable. Costs three
 * reads. */
uint64_t sys_modules_revision(struct memory *memory, const struct cpython *python,
			      uint64_t interpreter);

/*
 * pyenviron: the present environment of a Python program, as in os.environ (os.environ._data,
 * Lib/os.py). /proc/PID/environ only has the environment at the process's start, and a rank made by
 * multiprocessing sets RANK later.
 */

struct pyenviron_query {
	/* Whether the value is to be read, and found() to be called. */
	bool (*is_wanted)(const char *name, void *data);
	void (*found)(const char *name, const char *value, void *data);
	void *data;
};

/*
 * Finds variables; a value of more than 4096 bytes is left out. interpreter: address of the
 * interpreter state. Finds nothing if the module os is not imported.
 */
void pyenviron_each(struct pyreader *reader, uint64_t interpreter,
		    const struct pyenviron_query *query);

#endif
