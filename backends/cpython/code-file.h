/*
 * code-file: whether a code object's co_filename is the file that a person
 * names.
 *
 * Both may be absolute, or the end of a path in whole components: "train.py"
 * is any train.py, as in pdb and gdb; "./train.py" is how a program started
 * by that name calls itself. Names are compared without their "." and "..",
 * but else as they are written: no file is looked at.
 */
#ifndef BACKENDS_CPYTHON_CODE_FILE_H
#define BACKENDS_CPYTHON_CODE_FILE_H

#include <stdbool.h>

bool code_file_matches(const char *path, const char *filename);
/* It is an installed one, not a person's own. */
bool code_file_is_library(const char *filename);

#endif
