/*
 * child: runs a program to its end and reads what it prints.
 */
#ifndef BASE_CHILD_H
#define BASE_CHILD_H

struct buffer;
struct error;

/*
 * Runs argv (argv[0] is searched for in PATH) with /dev/null as standard input, and appends its
 * standard output to out. Blocks, but not longer than `seconds` seconds: then the program is
 * killed. Returns 0; -1 and *error: the program could not be started, was too slow, printed more
 * than out's maximum, or did not exit with status 0; the error then has the last line of its
 * standard error.
 */
int child_read(const char *const *argv, double seconds, struct buffer *out, struct error *error);

#endif
