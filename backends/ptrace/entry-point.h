/*
 * entry-point: where a program begins, and where its Python begins to run code.
 */
#ifndef BACKENDS_PTRACE_ENTRY_POINT_H
#define BACKENDS_PTRACE_ENTRY_POINT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct loaded_elf_cache;
struct memory;
struct procfs;

/* Its program is called python, or pypy. */
bool entry_point_is_python(struct procfs *procfs, pid_t pid);
/*
 * The first instruction that runs once its libraries are loaded; 0: it cannot
 * be known.
 */
uint64_t entry_point_of_program(struct procfs *procfs, pid_t pid);
/* PyEval_EvalCode(), in the program or a library; 0: there is none. */
uint64_t entry_point_of_python(struct memory *memory, struct loaded_elf_cache *cache);

#endif
