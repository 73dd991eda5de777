/*
 * torch-version: which version of torch a process has loaded, read from the file
 * version.py beside the libraries that it has mapped, as the process sees it.
 */
#ifndef BACKENDS_DISCOVER_TORCH_VERSION_H
#define BACKENDS_DISCOVER_TORCH_VERSION_H

struct process;
struct procfs;

/* free() it; NULL: torch is not loaded, or its version is not to be found. */
char *torch_version(struct procfs *procfs, const struct process *process);

#endif
