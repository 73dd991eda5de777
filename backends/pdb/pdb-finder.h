/*
 * pdb-finder: finds the debuggers that processes offer on sockets, only by /proc and by the names
 * of files. The finder never connects: a waiting pdb often accepts one client only, and its program
 * ends or hangs when that client disconnects.
 *
 * A listening socket belongs to the process that has it open. A socket file that has no listener,
 * or belongs to another user, is assigned to the rank whose number is in the file's name, if that
 * rank itself does not listen. A process with a connected debugger is skipped.
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
struct process_sample;
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
 * Scans all processes of the process table, and sends `debugger` events for debuggers that have
 * changed. is_asked: sends events for all debuggers.
 */
void pdb_finder_look(struct pdb_finder *finder, bool is_asked);
/*
 * To be called with each sample of a process: if a debug server with a port appears in a stack for
 * the first time, or begins to wait in accept(2), searches for the server's socket and reports the
 * debugger.
 */
void pdb_finder_note(struct pdb_finder *finder, const struct process_sample *sample);
/* Fills an initialised debugger with the state of one process's debugger; sends no event. */
void pdb_finder_describe(struct node *node, const struct process *process,
			 struct debugger *debugger);

/* Returns true if the sockets of a process can be read; else returns false and sets errno. */
bool pdb_finder_can_see(struct node *node, pid_t pid);

/*
 * Finds the process that listens at target, whether it is a rank or not. Sets *owner to its pid, or
 * to 0 if the process is not on this machine. Returns -1 and sets error if there is no such socket,
 * no listener, or the socket is another user's.
 */
int pdb_finder_owner(struct node *node, const struct target *target, pid_t *owner,
		     struct error *error);
/*
 * Checks that the peer of a connected socket is the process expected_pid (0: any) of the user
 * expected_uid. To be called before the first byte is sent. Returns -1 and sets error if it is
 * another peer.
 */
int pdb_finder_check_peer(int fd, uid_t expected_uid, pid_t expected_pid, struct error *error);

/*
 * networks: the listening sockets in the network namespaces of processes, and for each socket the
 * process that has it open (the holder).
 *
 * The holder of a socket is remembered by the socket's inode as long as the socket listens and the
 * process lives. Descriptors are read only for a new socket, or for a socket without a holder when
 * a new process has appeared.
 */

struct networks *networks_new(struct procfs *procfs);
void networks_free(struct networks *networks);
/*
 * Reads the sockets in the namespaces of the processes in states (pid -> struct pdb_scan_state) and
 * finds their holders. has_new: states has a process that it did not have at the last call.
 */
void networks_read(struct networks *networks, const struct map *states, bool has_new);
/*
 * Returns the sockets in the namespace of a process (borrowed until the next networks_read()). The
 * holder of a Unix socket is known only if it is one of the processes in states.
 */
const struct listening_sockets *networks_find(const struct networks *networks,
					      const struct pdb_scan_state *state);

/*
 * pdb_scan_state: facts about one process's pdb sockets that the finder keeps between scans:
 * network, temporary folders, server program, reported socket. Facts that are read from /proc are
 * read once, but not in the first scan, because requests wait for the first scan.
 */

struct pdb_scan_state {
	pid_t pid;
	uint64_t start_time;
	uid_t uid;
	int rank; /* rank number; -1: a child, or not a rank */
	unsigned looks;
	bool is_learnt;
	uint64_t network; /* namespace number; 0: the node's own, or not read */
	bool is_rooted;	  /* the process has another mount namespace or root: its files are
			   * reached by /proc/PID/root */
	dev_t device;	  /* device of /tmp in the process; 0: not read */
	ino_t inode;
	char *folder;			   /* TMPDIR of the process; NULL: none */
	char *prefix;			   /* IPDB_SOCK_PATH; NULL: none */
	const struct pdb_programs *server; /* server program; NULL: unknown */
	/* number of the process's source files when server was last searched for */
	size_t file_count;
	unsigned idle_looks; /* number of consecutive scans in which the server accepted no
			      * client */
	uint64_t reported;   /* inode of the last reported socket */
	uint64_t taken;	     /* inode of the socket to which this node has connected; 0: none */
	char *told;	     /* text of the last event; NULL: none */
	bool is_waiting;     /* the last event was DEBUGGER_WAITING */
	bool is_accepting;   /* in the newest sample a thread was in accept(2) */
};

/* Initialises *state. */
void pdb_scan_state_init(struct pdb_scan_state *state, const struct process *process);
void pdb_scan_state_clear(struct pdb_scan_state *state);
/* Updates rank and server. */
void pdb_scan_state_update(struct pdb_scan_state *state, const struct process *process,
			   const struct stack_files *files);
/* Reads the network and the temporary folders. Only the first call has an effect. */
void pdb_scan_state_learn(struct pdb_scan_state *state, struct procfs *procfs);
/* Converts a path as the process sees it to a path for this node. Returns false if that is longer
 * than size. */
bool pdb_scan_state_reach(const struct pdb_scan_state *state, const char *path, char *out,
			  size_t size);

#endif
