/*
 * listening-sockets: the sockets that listen in one network namespace, as its
 * /proc/PID/net/unix, tcp and tcp6 tell, and which of them a process holds.
 * Nothing is connected to for it.
 *
 * Paths were chosen by strangers: they may hold any byte but NUL. The kernel
 * does not escape them, so a newline in one can forge a line: what is said
 * here of who listens where holds only together with the file at the path
 * (its owner) and, once connected, SO_PEERCRED.
 */
#ifndef BACKENDS_PDB_LISTENING_SOCKETS_H
#define BACKENDS_PDB_LISTENING_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct map;
struct procfs;

/* What is more in one namespace is not looked at. */
#define LISTENING_SOCKETS_MAXIMUM 65536

struct listener {
	uint64_t inode; /* as in "socket:[INODE]" */
	char *path;	/* as it was bound, "@NAME" when abstract; NULL: TCP */
	char host[48];	/* TCP: an address to reach it here by; "" */
	int port;
	uid_t uid;	     /* TCP: who made it; -1 unknown */
	size_t client_count; /* connections that it has accepted */
	uint64_t client;     /* Unix: the newest of those */
	pid_t holder;	     /* whose it is, once pdb-networks.h has found it; 0 unknown */
};

struct listening_sockets {
	struct listener *items;
	size_t count;
	size_t capacity;
};

#define LISTENING_SOCKETS_INIT { .items = NULL }

/*
 * Adds those of the namespace that pid is in; of Unix sockets, those whose
 * path wants() is true for (NULL: all). -1 and errno: they cannot be seen.
 */
int listening_sockets_add_unix(struct listening_sockets *listeners, struct procfs *procfs,
			       pid_t pid, bool (*wants)(const char *path));
int listening_sockets_add_tcp(struct listening_sockets *listeners, struct procfs *procfs,
			      pid_t pid);
void listening_sockets_clear(struct listening_sockets *listeners);
/* The same from the bytes of the file; exported for tests. */
void listening_sockets_parse_unix(struct listening_sockets *listeners, char *lines,
				  bool (*wants)(const char *path));
void listening_sockets_parse_tcp(struct listening_sockets *listeners, char *lines);

/*
 * The sockets among the descriptors of a process, by inode; map_free() it.
 * The values say nothing. NULL and errno: they cannot be seen.
 */
struct map *listening_sockets_held(struct procfs *procfs, pid_t pid);
/*
 * Whether a thread of the process waits in accept(), or polls, for a client of
 * that socket; is_thorough: not only its first thread is looked at.
 */
bool listening_sockets_is_accepting(struct procfs *procfs, pid_t pid, uint64_t inode,
				    bool is_thorough);

#endif
