/*
 * editor: another program that has the terminal for a while.
 *
 * It is the user's editor, started as git starts it: $VISUAL, else $EDITOR,
 * else vi, its words for the shell to split.
 */
#ifndef UI_EDITOR_H
#define UI_EDITOR_H

#include <sys/types.h>

struct error;
struct source;

/* Lends what is to be run. */
const char *editor_command(void);
/*
 * The path here of the file that a stack names: free() it. NULL and a
 * sentence where there is none, or where it is another file than the node saw
 * (its rank runs in a container). source is what was read of it, or NULL.
 */
char *editor_find(const char *path, const struct source *source, struct error *error);
/*
 * Starts it on the terminal fd at a line of a file; the caller waits for its
 * end. -1 and a sentence.
 */
pid_t editor_start(int terminal, const char *path, int line, struct error *error);
/* A sentence about a status of waitpid(); -1 when it ended badly. */
int editor_judge(int status, struct error *error);

#endif
