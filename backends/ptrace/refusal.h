/*
 * refusal: why the kernel does not let us read a process, and what would
 * help, in a sentence.
 */
#ifndef BACKENDS_PTRACE_REFUSAL_H
#define BACKENDS_PTRACE_REFUSAL_H

#include <sys/types.h>

struct error;

/* number is the errno value that reading pid gave. Always returns -1. */
int refusal_explain(pid_t pid, int number, struct error *error);
/* The name of the process for a sentence, "?" when it has gone. */
void refusal_name(pid_t pid, char *out, size_t size);

#endif
