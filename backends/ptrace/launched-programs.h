/*
 * launched-programs: traces the programs that a job starts, from their first instruction on, so
 * that no program runs past a breakpoint before the breakpoint is set.
 *
 * While breakpoints are set for the job, each process of the job that is not a rank is traced
 * (tracee.h), and so are the children of such a process. A process that runs Python is stopped for
 * some milliseconds once its interpreter is initialised, before code of the program runs; if the
 * process is a rank, it gets its breakpoints during that stop, else it stays traced.
 *
 * A rank that is not traced from its start gets its breakpoints when a scan finds it.
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
/* Detaches from all traced processes, which continue to run. */
void launched_programs_free(struct launched_programs *starts);
/*
 * Sets the breakpoints of future ranks. list: an array as in `setBreakpoints`, whose items may also
 * have "ranks" (a rank set; absent: all ranks). An empty array ends all tracing; with another
 * array, the descendants of root are traced from now on. root 0: no process to trace yet. Returns
 * -1 and sets error if the list is malformed.
 */
int launched_programs_set(struct launched_programs *starts, const json_t *list, pid_t root,
			  struct error *error);
/* Traces a process of the job that has not begun to run. */
void launched_programs_follow(struct launched_programs *starts, pid_t pid);
/* Traces the child that a traced rank has forked; called within tracee.h's forked(). */
void launched_programs_forked(struct launched_programs *starts, struct tracee *parent, pid_t child);
/*
 * Passes the tracee of process pid to the caller, who owns it from now on and whose callbacks
 * `calls` are used. NULL: this module does not trace the process. starts may be NULL.
 */
struct tracee *launched_programs_take(struct launched_programs *starts, pid_t pid,
				      const struct tracee_calls *calls);

/*
 * entry_point: the addresses where a program begins and where its interpreter begins to run code.
 */

/* Whether the name of the process's executable contains "python" or "pypy". */
bool entry_point_is_python(struct procfs *procfs, pid_t pid);
/*
 * Returns the address of the program's first instruction, which runs once its libraries are loaded
 * (AT_ENTRY in /proc/PID/auxv, getauxval(3)); 0: unknown.
 */
uint64_t entry_point_of_program(struct procfs *procfs, pid_t pid);
/* Returns the address of PyEval_EvalCode() in the program or a library; 0: not found. */
uint64_t entry_point_of_python(struct memory *memory, struct loaded_elf_cache *cache);

#endif
