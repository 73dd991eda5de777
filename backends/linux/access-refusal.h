/*
 * access-refusal: why the kernel does not let the node read or stop a process, and what the user
 * can do about that.
 */
#ifndef BACKENDS_LINUX_ACCESS_REFUSAL_H
#define BACKENDS_LINUX_ACCESS_REFUSAL_H

#include <sys/types.h>

struct error;
struct reason;

/* Tries to read the process's memory. Returns 0, or the errno of the failure. */
int access_refusal_probe(pid_t pid);
/* Sets *reason. number: the errno with which access to process pid has failed. */
void access_refusal_find(struct reason *reason, pid_t pid, int number);
/* Sets error to the reason of access_refusal_find() with its advice. Always returns -1. */
int access_refusal_explain(pid_t pid, int number, struct error *error);
/* Writes the name of the process, or "?" if the process is gone. */
void access_refusal_name(pid_t pid, char *out, size_t size);

#endif
