/*
 * link: one node's process and the pipe to it.
 *
 * The node is the child of this program, in a session of its own; its
 * standard input and output are pipes. It is a program of its own, or a part
 * of this one, which saves the start of a program: a fifth of a verdict's time.
 * What is sent waits in a queue when the pipe is full; what comes is cut into
 * lines and handed out from the loop. A line longer than a message may be ends
 * the link.
 */
#ifndef ENGINE_LINK_H
#define ENGINE_LINK_H

#include <stdbool.h>
#include <stddef.h>

struct error;
struct link;
struct loop;

/* Called from the loop; none may free the link. */
struct link_handlers {
	/* One line, without its newline. */
	void (*line)(struct link *link, const char *line, size_t length, void *data);
	/* All lines that could be read in this turn were handed out. */
	void (*drained)(struct link *link, void *data);
	/* The pipe ended; why is a sentence. Nothing comes any more. */
	void (*closed)(struct link *link, const char *why, void *data);
	void *data;
};

/*
 * The program to start, free() it: PROBETUI_NODE, else probetui-node beside
 * this program, else the installed one. NULL and a sentence if there is none.
 */
char *link_find_node(struct error *error);
/*
 * Starts the program at path. With is_quiet its standard error goes nowhere:
 * a screen is there. job_input is a descriptor that a job of the node is to
 * have as its standard input; -1: none. NULL and a sentence on failure.
 */
struct link *link_new(const char *path, bool is_quiet, int job_input, struct error *error);
/* What main() is of a program. */
typedef int link_program(int count, char **words);
/* Whether only exec gives a node at path the rights that it has. */
bool link_needs_exec(const char *path);
/*
 * The same with a node that is part of this program: the child runs program.
 * Nothing may be open but what is for a program that is started, too, and no
 * loop be there.
 */
struct link *link_fork(const char *path, link_program *program, struct error *error);
/* From now on the loop reads and hands out. */
void link_watch(struct link *link, struct loop *loop, const struct link_handlers *handlers);
/* Sends a line, newline included. What a closed link is sent is dropped. */
void link_send(struct link *link, const char *line, size_t length);
bool link_is_open(const struct link *link);
/*
 * Closes the pipe, which ends the node, and lets it go; waits for its end a
 * few milliseconds at most.
 */
void link_free(struct link *link);

#endif
