/*
 * listening-sockets: the listening sockets of a network namespace, read from /proc/PID/net/unix,
 * tcp and tcp6, and the sockets that a process has open. No connection is made.
 *
 * Other users may have chosen the paths, which may contain any byte but NUL. The kernel does not
 * escape a newline in a path, so a path can forge a line: a listener is trusted only after a check
 * of the file's owner and, once connected, of SO_PEERCRED.
 */
#ifndef BACKENDS_PDB_LISTENING_SOCKETS_H
#define BACKENDS_PDB_LISTENING_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct map;
struct procfs;

/* Sockets of one namespace that are read, at most; further sockets are ignored. */
#define LISTENING_SOCKETS_MAXIMUM 65536

struct listener {
	uint64_t inode; /* inode of the socket, as in "socket:[INODE]" */
	char *path;	/* Unix: bound path; "@NAME": abstract; NULL: TCP */
	char host[48];	/* TCP: address to which clients on this machine connect; "": Unix */
	int port;
	uid_t uid;	     /* TCP: user who created the socket; -1: unknown */
	size_t client_count; /* number of accepted connections that are open */
	uint64_t client;     /* Unix: inode of the newest accepted connection */
	/* pid of the process that has the socket open, set by pdb-finder.c; 0: unknown */
	pid_t holder;
};

struct listening_sockets {
	struct listener *items;
	size_t count;
	size_t capacity;
};

#define LISTENING_SOCKETS_INIT { .items = NULL }

/*
 * Add the listening Unix and TCP sockets, respectively, of the network namespace of pid. wants():
 * whether to add a Unix socket with this path; NULL: all are added. Return 0, or -1 and set errno
 * if the files cannot be read.
 */
int listening_sockets_add_unix(struct listening_sockets *listeners, struct procfs *procfs,
			       pid_t pid, bool (*wants)(const char *path));
int listening_sockets_add_tcp(struct listening_sockets *listeners, struct procfs *procfs,
			      pid_t pid);
void listening_sockets_clear(struct listening_sockets *listeners);
/* Add the sockets in the text of the files. Public for tests. */
void listening_sockets_parse_unix(struct listening_sockets *listeners, char *lines,
				  bool (*wants)(const char *path));
void listening_sockets_parse_tcp(struct listening_sockets *listeners, char *lines);

/*
 * Returns a map whose keys are the inodes of the sockets that a process has open, to be freed by
 * map_free(); the values have no meaning. Returns NULL and sets errno if the descriptors cannot be
 * read.
 */
struct map *listening_sockets_held(struct procfs *procfs, pid_t pid);
/*
 * Returns true if a thread of the process waits in accept(2) or poll(2) for a client of the socket.
 * is_thorough false: checks only the main thread.
 */
bool listening_sockets_is_accepting(struct procfs *procfs, pid_t pid, uint64_t inode,
				    bool is_thorough);

/*
 * unix_diag: facts about a Unix socket of this process's network namespace that only the kernel
 * knows (sock_diag(7)). socket_inode: the inode of the socket. The functions return -1 if the fact
 * is unknown.
 */

/*
 * Returns 1 if the socket is bound to the file with the inode `file`, else 0. If two sockets were
 * bound to one path, one after the other, the path leads to the later socket.
 */
int unix_diag_is_bound(uint64_t socket_inode, uint64_t file);
/* Returns 1 if the peer has closed the connection, 0 if the connection is open. */
int unix_diag_is_left(uint64_t socket_inode);

#endif
