/*
 * program: what probetui-node is, from its words to its exit status. probetui
 * runs it in a child of its own, too, where a program of its own would start
 * no sooner than it has looked (src/engine/link.h).
 */
#ifndef BACKENDS_PROGRAM_H
#define BACKENDS_PROGRAM_H

/* main() of probetui-node: the exit status. */
int program_run(int count, char **words);

#endif
