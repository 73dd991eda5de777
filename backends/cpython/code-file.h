/*
 * code-file: compares a code object's co_filename with the file that a user names.
 *
 * Both may be absolute, or the end of a path in whole components: "train.py" is any train.py, as in
 * pdb and gdb; "./train.py" is the co_filename of a program started by that name. "." and ".." are
 * resolved in the text; no file is opened.
 */
#ifndef BACKENDS_CPYTHON_CODE_FILE_H
#define BACKENDS_CPYTHON_CODE_FILE_H

#include <stdbool.h>

/* True if filename, a code object's co_filename, is the file path. */
bool code_file_matches(const char *path, const char *filename);
/* True for an installed file (site-packages, lib/python…) and for a <frozen …> name. */
bool code_file_is_library(const char *filename);

#endif
