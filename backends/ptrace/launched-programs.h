/*
 * launched-programs: traces the programs that a job starts from their first
 * instruction, so that no breakpoint is passed before it is set.
 *
 * While breakpoints are set for the job, each of its processes that is no rank
 * is traced (tracee.h), and so are its children. A process that runs Python is
 * stopped for some milliseconds once its interpreter is initialised, before
 * code of the program runs; a rank gets its breakpoints there. The others stay
 * traced.
 *
 * A rank that is not traced from its start gets its breakpoints when it is found.
 */
#ifndef BACKENDS_PTRACE_LAUNCHED_PROGRAMS_H
#define BACKENDS_PTRACE_LAUNCHED_PROGRAMS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct launched_programs;
struct loaded_elf_cache;
struct memory;
struct node;
struct procfs;
struct tracee;
struct tracee_calls;

struct launched_programs *launched_programs_new(struct node *node);
/* Detaches from all traced processes, which run on. */
void launched_programs_free(struct launched_programs *starts);
/*
 * Sets the breakpoints of future ranks: the array of `setBreakpoints`, its items
 * with "ranks" (a rank set; absent: all). An empty array ends all tracing.
 * Otherwise the descendants of root are traced from now on; root 0: no process
 * yet. -1: the list is malformed.
 */
int launched_programs_set(struct launched_programs *starts, const json_t *list, pid_t root,
			  struct error *error);
/* Traces a process of the job that has not begun to run. */
void launched_programs_follow(struct launched_programs *starts, pid_t pid);
/* Traces the child that a traced rank has forked; called within tracee.h's forked(). */
void launched_programs_forked(struct launched_programs *starts, struct tracee *parent, pid_t child);
/*
 * Hands the tracee of process pid over to the caller, whose calls are used from
 * now on. NULL: the process is not traced here. starts may be NULL.
 */
struct tracee *launched_programs_take(struct launched_programs *starts, pid_t pid,
				      const struct tracee_calls *calls);

/*
 * The addresses where a program begins and where its interpreter begins to run code.
 */

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
