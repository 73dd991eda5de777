/*
 * torch-version: the version of torch that a process has loaded, read from version.py
 * beside the mapped libraries, below the process's root.
 */
#ifndef BACKENDS_DISCOVER_TORCH_VERSION_H
#define BACKENDS_DISCOVER_TORCH_VERSION_H

struct process;
struct procfs;

/* Returns a string to free(); NULL: torch is not loaded, or version.py has no version. */
char *torch_version(struct procfs *procfs, const struct process *process);

#endif
