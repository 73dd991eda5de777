/*
 * link: the process of one node and the pipes to it.
 *
 * The node is a child process in a session (setsid) of its own; its standard input and output are
 * pipes. The node is a program of its own, or part of this program: fork() without exec saves a
 * fifth of a verdict's time. Lines to send wait in a queue while the pipe is full; received bytes
 * are cut into lines and passed to a handler from the loop. A line longer than a message may be
 * closes the link.
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
	/* All lines that were readable in this turn were passed to line(). */
	void (*drained)(struct link *link, void *data);
	/* The link was closed; why: a sentence. No handler is called afterwards. */
	void (*closed)(struct link *link, const char *why, void *data);
	void *data;
};

/*
 * Path of the node's program, free() it: PROBETUI_NODE, else probetui-node beside this program,
 * else the installed program. NULL and a sentence if there is none.
 */
char *link_find_node(struct error *error);
/*
 * Starts the program at path. is_quiet: standard error goes to /dev/null, as a screen is shown.
 * job_input: descriptor that becomes standard input of a job that the node starts; -1: none. NULL
 * and a sentence on failure.
 */
struct link *link_new(const char *path, bool is_quiet, int job_input, struct error *error);
/* A main() function. */
typedef int link_program(int count, char **words);
/*
 * True if a node at path must be started with exec to get its rights: set-user-ID, set-group-ID or
 * file capabilities.
 */
bool link_needs_exec(const char *path);
/*
 * Like link_new(), with a node that is part of this program: forks, and the child calls program.
 * Call before a loop exists, and with no descriptors open that a program started with exec would
 * not get.
 */
struct link *link_fork(const char *path, link_program *program, struct error *error);
/* From now on the loop reads from the node and calls handlers. */
void link_watch(struct link *link, struct loop *loop, const struct link_handlers *handlers);
/* Sends a line, newline included; a line for a closed link is dropped. */
void link_send(struct link *link, const char *line, size_t length);
bool link_is_open(const struct link *link);
/*
 * Closes the pipes, which makes the node exit, and frees the link; waits a few milliseconds at most
 * for the node's exit.
 */
void link_free(struct link *link);

#endif
