/*
 * seat: one process for which a debugger is looked for, and what is kept of
 * it between looks: its network, where it sees its temporary files, and what
 * serves its debugger. What costs a reading of its own is learnt once, and
 * not in the first look, which many wait for.
 */
#ifndef BACKENDS_PDB_SEAT_H
#define BACKENDS_PDB_SEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct files;
struct process;
struct procfs;
struct server;

struct seat {
	pid_t pid;
	uint64_t start_time;
	uid_t uid;
	int rank; /* -1: a child, or no rank */
	unsigned looks;
	bool is_learnt;
	uint64_t network; /* 0: ours, or not learnt */
	bool is_rooted;	  /* its files are not ours: /proc/PID/root has them */
	dev_t device;	  /* of its /tmp; 0 not learnt */
	ino_t inode;
	char *folder;		     /* its TMPDIR; NULL: none of its own */
	char *prefix;		     /* its IPDB_SOCK_PATH; NULL: none */
	const struct server *server; /* NULL: none that is known */
	size_t file_count;	     /* when that was looked for */
	unsigned idle_looks;	     /* in a row that its server took no client */
	uint64_t offered;	     /* the socket that was told of last */
	uint64_t taken;		     /* the one that we had; 0 none */
	char *told;		     /* what was told last, as text; NULL: nothing */
	bool is_waiting;	     /* that it waits for a client was told */
};

/* Replaces nothing: *seat is uninitialised. */
void seat_init(struct seat *seat, const struct process *process);
void seat_clear(struct seat *seat);
/* What may have changed since: its rank, and what serves its debugger. */
void seat_update(struct seat *seat, const struct process *process, const struct files *files);
/* Reads what is not known yet of its network and its files. */
void seat_learn(struct seat *seat, struct procfs *procfs);
/*
 * The path as we reach it of what the process sees there, cut to size. False:
 * it is longer.
 */
bool seat_reach(const struct seat *seat, const char *path, char *out, size_t size);

#endif
