/*
 * launched-programs: the programs that a job starts, followed from their first
 * instruction on, so that no breakpoint is passed because we were late.
 *
 * While the job is to have breakpoints, each of its processes that is no rank
 * is traced (tracee.h), and what it forks is, too. One that runs Python stands
 * for some milliseconds once its interpreter is up, before it runs anything of
 * the program; if it is a rank it gets its breakpoints there. Others are
 * followed on.
 *
 * What is late or cannot be followed gets its breakpoints when it is found.
 */
#ifndef BACKENDS_PTRACE_LAUNCHED_PROGRAMS_H
#define BACKENDS_PTRACE_LAUNCHED_PROGRAMS_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

struct error;
struct node;
struct launched_programs;
struct tracee;
struct tracee_calls;

struct launched_programs *launched_programs_new(struct node *node);
/* All that is followed runs on. */
void launched_programs_free(struct launched_programs *starts);
/*
 * These breakpoints are for ranks to come: as `setBreakpoints` has them, with
 * "ranks" (a set; absent: each). With none nothing is followed any more. What
 * is below root is followed from now on; 0: nothing is there yet.
 */
int launched_programs_set(struct launched_programs *starts, const json_t *list, pid_t root,
			  struct error *error);
/* A process of the job that has not begun. */
void launched_programs_follow(struct launched_programs *starts, pid_t pid);
/* A rank that is traced has forked one: within tracee.h's forked(). */
void launched_programs_forked(struct launched_programs *starts, struct tracee *parent, pid_t child);
/*
 * Somebody else traces this one from now on. NULL: it is not followed. starts
 * may be NULL.
 */
struct tracee *launched_programs_take(struct launched_programs *starts, pid_t pid,
				      const struct tracee_calls *calls);

#endif
