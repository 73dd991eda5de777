/*
 * parcel: a folder of our own in the file system that a process sees, with
 * the Python package in it; nobody but the process's user may enter it.
 */
#ifndef BACKENDS_INJECT_PARCEL_H
#define BACKENDS_INJECT_PARCEL_H

#include <stddef.h>
#include <sys/types.h>

struct buffer;
struct error;
struct parcel;

/* Copies the files of the package. NULL and a sentence. */
struct parcel *parcel_new(pid_t pid, const char *package, struct error *error);
/* Removes it with all that is in it. NULL frees nothing. */
void parcel_free(struct parcel *parcel);
/* Lends the path that the process sees, of one of its files. */
const char *parcel_script(const struct parcel *parcel);
/* What the process has put there under that name. -1: nothing, yet. */
int parcel_read(const struct parcel *parcel, const char *name,
		struct buffer *out);

#endif
