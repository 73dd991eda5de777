/*
 * folder: the folder that a report and its recording are written to. A folder made here is private
 * (0700); new files have names with job, host and time. No file is overwritten and no link is
 * followed.
 */
#ifndef ENGINE_FOLDER_H
#define ENGINE_FOLDER_H

#include <stddef.h>

struct error;

/*
 * Makes the folder at path (0700) if it is missing. A path that exists must be a folder, no
 * symbolic link, belong to this user or root, be writable for this user, and not for all users
 * unless the sticky bit is set, as in /tmp. -1 and a sentence.
 */
int folder_check(const char *path, struct error *error);
/*
 * Returns a path in the folder such that no file exists at path plus any of suffixes (the last one
 * NULL); free() it. when: seconds since 1970.
 */
char *folder_name(const char *path, const char *job, const char *host, double when,
		  const char *const *suffixes);
/* Writes a new file with mode 0600. -1 and a sentence, also if the file exists. */
int folder_write(const char *path, const char *bytes, size_t length, struct error *error);

#endif
