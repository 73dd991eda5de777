/*
 * socket-file: the files of debuggers' sockets: their names, the numbers in the names, their
 * folders, and the check of their owners. Only names and owners are read.
 */
#ifndef BACKENDS_PDB_SOCKET_FILE_H
#define BACKENDS_PDB_SOCKET_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

struct pdb_scan_state;
struct socket_dir_cache;

/* More files in one folder are ignored. */
#define SOCKET_FILES_MAXIMUM 4096

/* The numbers in a socket's name. */
struct socket_name {
	int rank;	 /* -1: none */
	pid_t pid;	 /* 0: none */
	bool has_folder; /* true: the folder is named pdb-UID */
	bool is_relay;	 /* true: a name of py_debug, "PID-HEX.RANK" */
};

/* Returns true if a path looks like a debugger's: "pdb" in its last part, or
 * ".../pdb-UID/NAME.sock". */
bool socket_file_is_debugger(const char *path);
/*
 * Reads the numbers of "pdb.sock.RANK", "pdb.sock.PID-HEX.RANK", "pdb-UID/RANK.sock" or
 * "pdb-UID/RANK.PID.sock".
 */
void socket_file_read_name(struct socket_name *name, const char *path);
/*
 * Returns why the socket at path (the node's path) cannot be of a process of uid: a sentence about
 * shown, the path for display; caller frees. NULL: the owner is right.
 */
char *socket_file_distrust(const char *path, const char *shown, uid_t uid);
/* Checks the folder of the socket in the same way, whatever its name. */
char *socket_file_distrust_folder(const char *path, const char *shown, uid_t uid);

struct socket_file {
	char *name; /* name without the folder */
	struct socket_name numbers;
};

/*
 * The sockets of debuggers in one folder, and links and other files with such names, as last read.
 */
struct socket_folder {
	char *path; /* path for the node */
	char *seen; /* path for the processes that have the folder */
	dev_t device;
	ino_t inode; /* 0: the folder does not exist */
	struct timespec changed;
	struct timespec read;
	struct socket_file *files;
	size_t count;
	size_t capacity;
};

/* Reads the folder if it has changed. A folder that cannot be read is empty. */
void socket_folder_read(struct socket_folder *folder);
void socket_folder_clear(struct socket_folder *folder);

/*
 * The folders with sockets of debuggers. Each folder is read at most once in a
 * scan, however many processes share it, and only if it has changed.
 */

struct socket_dir_cache *socket_dir_cache_new(void);
void socket_dir_cache_free(struct socket_dir_cache *cache);
/* Starts a new scan: each folder is checked again when it is next used. */
void socket_dir_cache_begin(struct socket_dir_cache *cache);
/*
 * Calls each(path of the node, path of the process, data) for the files whose names have the rank
 * or the pid: in /tmp, in TMPDIR of the process and of the node, and in their folders pdb-UID.
 */
void socket_dir_cache_each(struct socket_dir_cache *cache, const struct pdb_scan_state *state,
			   void (*each)(const char *path, const char *seen, void *data),
			   void *data);

/*
 * The notice of a rank with probetui's agent for the other ranks, while the rank
 * waits in pdb: "rank 1 raised RuntimeError: boom and waits in pdb at /tmp/pdb-0/1.sock", in
 * FOLDER/JOB.holding/RANK. The socket is not touched. Locks on such files also show which process
 * has the agent.
 */

/* Files in FOLDER/JOB.KIND that a rank with the agent keeps locked: */
#define SOCKET_NOTICE_LIFE ".ranks"    /* while the rank lives */
#define SOCKET_NOTICE_WAITS ".holding" /* while the rank waits in pdb */

/*
 * Returns the exception of the notice (caller frees); NULL: none, or unknown. path: the socket for
 * the node; name: the socket for the process. Only files owned by uid are read.
 */
char *socket_notice_read(const char *path, const char *name, uid_t uid);
/*
 * Returns true if the process has a lock on its file of this kind in folder (the node's path). Only
 * processes of the user can lock it, and a lock ends with its process.
 */
bool socket_notice_is_kept(const char *folder, const char *kind, int rank, pid_t pid, uid_t uid);

#endif
