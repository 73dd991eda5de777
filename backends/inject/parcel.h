/*
 * parcel: a folder of our own in the file system that a process sees, with
 * the Python package in one file; nobody but the process's user may enter it.
 * All is done there with the rights of that user, and through no mount.
 */
#ifndef BACKENDS_INJECT_PARCEL_H
#define BACKENDS_INJECT_PARCEL_H

#include <stddef.h>
#include <sys/types.h>

struct buffer;
struct error;
struct parcel;

/*
 * Copies the files of the package; the process is to give up after so many
 * seconds. NULL and a sentence.
 */
struct parcel *parcel_new(pid_t pid, const char *package, double seconds, struct error *error);
/* Once more, where the process has removed it and is to run it again. */
int parcel_write_script(struct parcel *parcel, const char *package, struct error *error);
/* Removes it with all that is in it. NULL frees nothing. */
void parcel_free(struct parcel *parcel);
/* Lends the path that the process sees, of what is to be run. */
const char *parcel_script(const struct parcel *parcel);
/* What the process has put there under that name. -1: nothing, yet. */
int parcel_read(const struct parcel *parcel, const char *name, struct buffer *out);
void parcel_remove(const struct parcel *parcel, const char *name);

#endif
