/*
 * file: what several parts do with files and the C library has not.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>

/* Writes all of it; -1 and errno when that fails. */
int file_write(int fd, const char *bytes, size_t length);
/*
 * The folder that the running program lies in, without a slash at its end;
 * free() it. NULL when it cannot be known.
 */
char *file_program_folder(void);

#endif
