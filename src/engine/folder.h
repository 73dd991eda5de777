/*
 * folder: where a report and its recording are put: a folder that nobody else
 * can look into when it is made here, and new files with names that tell job,
 * host and time. Nothing is overwritten and no link is followed.
 */
#ifndef ENGINE_FOLDER_H
#define ENGINE_FOLDER_H

#include <stddef.h>

struct error;

/*
 * Makes the folder at path (0700) where it is missing; one that is there must
 * be a folder, no link, writable by this user and no other. -1 and a sentence.
 */
int folder_check(const char *path, struct error *error);
/*
 * A path in the folder for which no file is there yet, with each of suffixes
 * (the last one NULL) behind it; free() it. when is seconds since 1970.
 */
char *folder_name(const char *path, const char *job, const char *host, double when,
		  const char *const *suffixes);
/* Writes a new file that only its owner can read. -1 and a sentence. */
int folder_write(const char *path, const char *bytes, size_t length, struct error *error);

#endif
