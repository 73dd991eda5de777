/*
 * listening-sockets: the listening sockets of a network namespace, read from /proc/PID/net/unix,
 * tcp and tcp6, and the sockets that a process has open. Nothing is connected to.
 *
 * Paths come from other users: they may have any byte but NUL. The kernel does not escape a newline
 * in a path, so a path can forge a line: trust a listener only after a check of the file's owner
 * and, once connected, of SO_PEERCRED.
 */
#ifndef BACKENDS_PDB_LISTENING_SOCKETS_H
#define BACKENDS_PDB_LISTENING_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct map;
struct procfs;

/* More sockets in one namespace are ignored. */
#define LISTENING_SOCKETS_MAXIMUM 65536

struct listener {
	uint64_t inode; /* as in "socket:[INODE]" */
	char *path;	/* bound path, "@NAME": abstract; NULL: TCP */
	char host[48];	/* TCP: local address to connect to; "": Unix */
	int port;
	uid_t uid;	     /* TCP: user who created the socket; -1: unknown */
	size_t client_count; /* accepted connections that are open */
	uint64_t client;     /* Unix: inode of the newest accepted connection */
	/* pid of the process that has it open, set by pdb-finder.c; 0: unknown */
	pid_t holder;
};

struct listening_sockets {
	struct listener *items;
	size_t count;
	size_t capacity;
};

#define LISTENING_SOCKETS_INIT { .items = NULL }

/*
 * Adds the listening sockets of the namespace of pid; of Unix sockets only those whose path passes
 * wants() (NULL: all). -1 and errno: the files cannot be read.
 */
int listening_sockets_add_unix(struct listening_sockets *listeners, struct procfs *procfs,
			       pid_t pid, bool (*wants)(const char *path));
int listening_sockets_add_tcp(struct listening_sockets *listeners, struct procfs *procfs,
			      pid_t pid);
void listening_sockets_clear(struct listening_sockets *listeners);
/* Adds the sockets in the text of the files; exported for tests. */
void listening_sockets_parse_unix(struct listening_sockets *listeners, char *lines,
				  bool (*wants)(const char *path));
void listening_sockets_parse_tcp(struct listening_sockets *listeners, char *lines);

/*
 * Returns the inodes of the sockets that a process has open; free with map_free(). The map's values
 * have no meaning. NULL and errno: the descriptors cannot be read.
 */
struct map *listening_sockets_held(struct procfs *procfs, pid_t pid);
/*
 * Returns true if a thread of the process waits in accept(2) or poll(2) for a client of the socket;
 * is_thorough false: only the main thread is checked.
 */
bool listening_sockets_is_accepting(struct procfs *procfs, pid_t pid, uint64_t inode,
				    bool is_thorough);

/*
 * Facts on a Unix socket of our network namespace that only the kernel knows
 * (sock_diag(7)), by its inode; -1: unknown.
 */

/*
 * 1: the socket is bound to the file with that inode; 0: not. If two sockets were bound to one
 * path, one after the other, the path leads to the later one.
 */
int unix_diag_is_bound(uint64_t socket_inode, uint64_t file);
/* 1: the peer has closed the connection; 0: open. */
int unix_diag_is_left(uint64_t socket_inode);

#endif
