/*
 * entry-point: the addresses where a program begins and where its interpreter begins to run code.
 */
#ifndef BACKENDS_PTRACE_ENTRY_POINT_H
#define BACKENDS_PTRACE_ENTRY_POINT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct loaded_elf_cache;
struct memory;
struct procfs;

/* Whether the name of the process's executable contains "python" or "pypy". */
bool entry_point_is_python(struct procfs *procfs, pid_t pid);
/*
 * Address of the program's first instruction, which runs once its libraries are
 * loaded (AT_ENTRY in /proc/PID/auxv, getauxval(3)); 0: unknown.
 */
uint64_t entry_point_of_program(struct procfs *procfs, pid_t pid);
/* Address of PyEval_EvalCode() in the program or a library; 0: not found. */
uint64_t entry_point_of_python(struct memory *memory, struct loaded_elf_cache *cache);

#endif
