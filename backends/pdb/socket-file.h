/*
 * socket-file: the socket files of debuggers: finds them in their folders, reads the numbers in
 * their names, and checks their owners. The sockets themselves are not touched.
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

/* Files of one folder that are read, at most; further files are ignored. */
#define SOCKET_FILES_MAXIMUM 4096

/* The numbers in a socket's name. */
struct socket_name {
	int rank;	 /* rank in the name; -1: none */
	pid_t pid;	 /* pid in the name; 0: none */
	bool has_folder; /* the folder is named pdb-UID */
	bool is_relay;	 /* the name is one of py_debug's, "PID-HEX.RANK" */
};

/* Returns true if a path looks like that of a debugger's socket: "pdb" is in its last component, or
 * it is ".../pdb-UID/NAME.sock". */
bool socket_file_is_debugger(const char *path);
/*
 * Reads the numbers of "pdb.sock.RANK", "pdb.sock.PID-HEX.RANK", "pdb-UID/RANK.sock" or
 * "pdb-UID/RANK.PID.sock".
 */
void socket_file_read_name(struct socket_name *name, const char *path);
/*
 * Returns a sentence why the socket at path (the node's path) cannot belong to a process of uid,
 * which the caller frees; NULL: the owner is right. shown: the path that the sentence shows.
 */
char *socket_file_distrust(const char *path, const char *shown, uid_t uid);
/* Like socket_file_distrust(), for the folder that contains the socket, whatever the folder's name
 * is. */
char *socket_file_distrust_folder(const char *path, const char *shown, uid_t uid);

struct socket_file {
	char *name; /* file name without the folder */
	struct socket_name numbers;
};

/*
 * The sockets of debuggers in one folder, and links and other files with such names, as of the last
 * read.
 */
struct socket_folder {
	char *path; /* path of the folder for the node */
	char *seen; /* path of the folder for the processes that have it */
	dev_t device;
	ino_t inode; /* 0: the folder does not exist */
	struct timespec changed;
	struct timespec read;
	struct socket_file *files;
	size_t count;
	size_t capacity;
};

/* Reads the folder if it has changed. A folder that cannot be read counts as empty. */
void socket_folder_read(struct socket_folder *folder);
void socket_folder_clear(struct socket_folder *folder);

/*
 * socket_dir_cache: the folders with sockets of debuggers. However many processes share a folder,
 * it is read at most once per scan, and only if it has changed.
 */

struct socket_dir_cache *socket_dir_cache_new(void);
void socket_dir_cache_free(struct socket_dir_cache *cache);
/* Starts a new scan, in which each folder is checked for changes at its first use. */
void socket_dir_cache_begin(struct socket_dir_cache *cache);
/*
 * Calls each(path for the node, path for the process, data) for the files whose names contain the
 * rank or the pid of the process. Searches /tmp, TMPDIR of the process and of the node, and the
 * folders pdb-UID in these.
 */
void socket_dir_cache_each(struct socket_dir_cache *cache, const struct pdb_scan_state *state,
			   void (*each)(const char *path, const char *seen, void *data),
			   void *data);

/*
 * socket_notice: a rank with probetui's agent that waits in pdb leaves a notice for the other ranks
 * in the file FOLDER/JOB.holding/RANK: "rank 1 raised RuntimeError: boom and waits in pdb at
 * /tmp/pdb-0/1.sock". Locks on such files also show which process has the agent.
 */

/* KINDs of the files FOLDER/JOB.KIND/RANK that a rank with the agent keeps locked: */
#define SOCKET_NOTICE_LIFE ".ranks"    /* while the rank lives */
#define SOCKET_NOTICE_WAITS ".holding" /* while the rank waits in pdb */

/*
 * Returns the exception in the notice about a socket, which the caller frees; NULL: no notice, or
 * unknown. path: the socket's path for the node; name: its path for the process. Reads only files
 * owned by uid.
 */
char *socket_notice_read(const char *path, const char *name, uid_t uid);
/*
 * Returns true if the process has a lock on its file of this kind in folder (the node's path). Only
 * processes of the user can lock the file, and a lock ends with its process.
 */
bool socket_notice_is_kept(const char *folder, const char *kind, int rank, pid_t pid, uid_t uid);

#endif
