/*
 * program: probetui-node, from its arguments to its exit status. probetui also
 * runs it in a forked child, without execve(2), which saves the time to start a
 * program (src/engine/link.h).
 */
#ifndef BACKENDS_PROGRAM_H
#define BACKENDS_PROGRAM_H

/* main() of probetui-node. Returns the exit status. */
int program_run(int count, char **words);

#endif
