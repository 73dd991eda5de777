/*
 * program: the main function of probetui-node. probetui also calls it in a forked child, without
 * execve(2), which saves the time to start a program (src/engine/link.h).
 */
#ifndef BACKENDS_PROGRAM_H
#define BACKENDS_PROGRAM_H

/* main() of probetui-node. Returns the exit status. */
int program_run(int count, char **words);

#endif
