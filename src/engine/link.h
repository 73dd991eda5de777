/*
 * link: the process of one node and the pipes to it.
 *
 * The node is a child process in a session (setsid) of its own; its standard input and output are
 * pipes. The node is a separate program, or part of this program: fork() without exec saves a fifth
 * of the time of `probetui verdict`. For a node on another machine, the child process is a client,
 * such as ssh, that starts the node there and passes the bytes on. Lines to send wait in a queue
 * while the pipe is full; received bytes are cut into lines and passed to a handler from the loop.
 * A line that is longer than the maximum of a message closes the link.
 */
#ifndef ENGINE_LINK_H
#define ENGINE_LINK_H

#include <stdbool.h>
#include <stddef.h>

struct error;
struct link;
struct loop;
struct machine;

/* Called from the loop. A handler must not free the link. */
struct link_handlers {
	/* Called for each line; line has no newline. */
	void (*line)(struct link *link, const char *line, size_t length, void *data);
	/* Called when all lines that were readable in this turn were passed to line(). */
	void (*drained)(struct link *link, void *data);
	/* Called when the link was closed; why is a sentence. No handler is called afterwards. */
	void (*closed)(struct link *link, const char *why, void *data);
	void *data;
};

/*
 * Returns the path of the node's program: $PROBETUI_NODE, else probetui-node beside this program,
 * else the installed program; free() it. NULL and *error: there is no such program.
 */
char *link_find_node(struct error *error);
/*
 * Starts the program at path. is_quiet: its standard error goes to /dev/null, because a screen is
 * shown. job_input: descriptor that becomes the standard input of a job that the node starts; -1:
 * none. NULL and *error on failure.
 */
struct link *link_new(const char *path, bool is_quiet, int job_input, struct error *error);
/*
 * Starts the client that starts a node on another machine. What the client writes to standard error
 * is not shown: if the client ends, its last line says why. NULL and *error on failure.
 */
struct link *link_start_client(const struct machine *machine, struct error *error);
/* A main() function. */
typedef int link_program(int count, char **words);
/*
 * True if the program at path gets rights by exec (set-user-ID, set-group-ID or file capabilities),
 * so that link_fork() cannot replace it.
 */
bool link_needs_exec(const char *path);
/*
 * Like link_new(), for a node that is part of this program: forks, and the child calls program().
 * Call it before a loop exists, and while only descriptors are open that survive exec (no
 * O_CLOEXEC).
 */
struct link *link_fork(const char *path, link_program *program, struct error *error);
/* The number is the caller's; 0 at first. */
void link_set_number(struct link *link, size_t number);
size_t link_number(const struct link *link);
/* From now on the loop reads from the node and calls handlers. */
void link_watch(struct link *link, struct loop *loop, const struct link_handlers *handlers);
/* Sends a line, newline included; a line for a closed link is dropped. */
void link_send(struct link *link, const char *line, size_t length);
bool link_is_open(const struct link *link);
/*
 * Closes the link, as if the node had ended for this reason, when all lines of this turn were
 * passed to line().
 */
void link_refuse(struct link *link, const char *why);
/* Closes the pipes, which makes the node exit. */
void link_end(struct link *link);
/*
 * link_end(), then waits a few milliseconds at most for the exit, and frees the link. A client that
 * does not exit is ended by SIGTERM; the node, which may have to resume processes first, never is.
 */
void link_free(struct link *link);

#endif
