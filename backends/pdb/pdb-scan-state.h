/*
 * pdb-scan-state: facts about one process's pdb sockets that the finder keeps between scans:
 * network, temporary folders, server program, reported socket. Facts that need a read of /proc are
 * read once, and not in the first scan, because requests wait for the first scan.
 */
#ifndef BACKENDS_PDB_SCAN_STATE_H
#define BACKENDS_PDB_SCAN_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct stack_files;
struct process;
struct procfs;
struct pdb_programs;

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
