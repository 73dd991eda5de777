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

/* More files in one folder are ignored. */
#define SOCKET_FILES_MAXIMUM 4096

/* The numbers in a socket's name. */
struct socket_name {
	int rank;	 /* -1: none */
	pid_t pid;	 /* 0: none */
	bool has_folder; /* true: the folder is named pdb-UID */
	bool is_relay;	 /* true: a name of py_debug, "PID-HEX.RANK" */
};

/* True if a path looks like a debugger's: "pdb" in its last part, or ".../pdb-UID/NAME.sock". */
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

#endif
