/*
 * pdb-finder: the debuggers that processes offer on sockets, found only through /proc and names of
 * files. The finder never connects: a waiting pdb often takes one client, and its program ends or
 * hangs when that client disconnects.
 *
 * A listening socket belongs to the process that has it open. A socket file without a listener, or
 * of another user, is assigned to a rank by the number in its name, if the rank itself does not
 * listen. A process with a connected debugger is skipped.
 */
#ifndef BACKENDS_PDB_PDB_FINDER_H
#define BACKENDS_PDB_PDB_FINDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct debugger;
struct error;
struct listening_sockets;
struct map;
struct networks;
struct node;
struct pdb_finder;
struct pdb_programs;
struct pdb_scan_state;
struct process;
struct procfs;
struct stack_files;
struct target;

struct pdb_finder *pdb_finder_new(struct node *node);
void pdb_finder_free(struct pdb_finder *finder);
/*
 * Scans all processes of the process table, and sends `debugger` events for the debuggers that
 * changed (is_asked: for all).
 */
void pdb_finder_look(struct pdb_finder *finder, bool is_asked);
/*
 * A stack of the process was sampled: if a debug server with a port appears in it for the first
 * time, its debugger is searched and reported.
 */
void pdb_finder_note(struct pdb_finder *finder, pid_t pid);
/* Fills an initialised debugger with the state of one process's debugger; sends no event. */
void pdb_finder_describe(struct node *node, const struct process *process,
			 struct debugger *debugger);

/* Returns true if the sockets of a process can be read; false and errno: they cannot. */
bool pdb_finder_can_see(struct node *node, pid_t pid);

/*
 * Finds the process that listens at target, rank or not; *owner 0: not on this machine. -1, *error:
 * no such socket, no listener, or another user's.
 */
int pdb_finder_owner(struct node *node, const struct target *target, pid_t *owner,
		     struct error *error);
/*
 * Checks, after connect() and before the first byte is sent, that the peer is expected_pid (0: any)
 * of expected_uid. -1, *error: another peer.
 */
int pdb_finder_check_peer(int fd, uid_t expected_uid, pid_t expected_pid, struct error *error);

/*
 * The listening sockets in the network namespaces of processes, and the process that
 * has each socket open (its holder).
 *
 * A holder is kept by the socket's inode as long as the socket listens and the process lives.
 * Descriptors are read only for a new socket, or for a socket without a holder when a new process
 * has appeared.
 */

struct networks *networks_new(struct procfs *procfs);
void networks_free(struct networks *networks);
/*
 * Reads the sockets in the namespaces of the states (pid -> struct pdb_scan_state) and finds their
 * holders; has_new: a state is new since the last call.
 */
void networks_read(struct networks *networks, const struct map *states, bool has_new);
/*
 * Returns the sockets in the namespace of a state (borrowed until the next networks_read()); a Unix
 * socket has its holder if one of the states has it open.
 */
const struct listening_sockets *networks_find(const struct networks *networks,
					      const struct pdb_scan_state *state);

/*
 * Facts about one process's pdb sockets that the finder keeps between scans:
 * network, temporary folders, server program, reported socket. Facts that need a read of /proc are
 * read once, and not in the first scan, because requests wait for the first scan.
 */

struct pdb_scan_state {
	pid_t pid;
	uint64_t start_time;
	uid_t uid;
	int rank; /* -1: a child, or no rank */
	unsigned looks;
	bool is_learnt;
	uint64_t network; /* namespace number; 0: the node's own, or not read */
	bool is_rooted;	  /* another mount namespace or root: reach files by /proc/PID/root */
	dev_t device;	  /* device of /tmp in the process; 0: not read */
	ino_t inode;
	char *folder;			   /* TMPDIR of the process; NULL: none */
	char *prefix;			   /* IPDB_SOCK_PATH; NULL: none */
	const struct pdb_programs *server; /* server program; NULL: unknown */
	/* number of the process's files when server was searched */
	size_t file_count;
	unsigned idle_looks; /* scans in a row in which the server took no client */
	uint64_t reported;   /* inode of the last reported socket */
	uint64_t taken;	     /* inode of the socket that was connected to; 0: none */
	char *told;	     /* last event, as text; NULL: none */
	bool is_waiting;     /* true: the last event was DEBUGGER_WAITING */
};

/* Initialises *state. */
void pdb_scan_state_init(struct pdb_scan_state *state, const struct process *process);
void pdb_scan_state_clear(struct pdb_scan_state *state);
/* Updates rank and server. */
void pdb_scan_state_update(struct pdb_scan_state *state, const struct process *process,
			   const struct stack_files *files);
/* Reads network and temporary folders; only the first call has an effect. */
void pdb_scan_state_learn(struct pdb_scan_state *state, struct procfs *procfs);
/* Writes the node's path for a path of the process to out. False: longer than size. */
bool pdb_scan_state_reach(const struct pdb_scan_state *state, const char *path, char *out,
			  size_t size);

#endif
