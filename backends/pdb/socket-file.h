/*
 * socket-file: the files of debuggers' sockets: their names, the numbers in
 * them, the folders they lie in, and whether the right user put them there.
 * Only names and owners are looked at.
 */
#ifndef BACKENDS_PDB_SOCKET_FILE_H
#define BACKENDS_PDB_SOCKET_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* What is more in one folder is not looked at. */
#define SOCKET_FILES_MAXIMUM 4096

/* The numbers that a name has. */
struct socket_name {
	int rank;	 /* -1: none */
	pid_t pid;	 /* 0: none */
	bool has_folder; /* it lies in a folder pdb-UID */
	bool is_relay;	 /* py_debug's: "PID-HEX.RANK" */
};

/*
 * Whether a path looks like a debugger's: "pdb" in its last part, or
 * ".../pdb-UID/NAME.sock".
 */
bool socket_file_is_debugger(const char *path);
/*
 * The numbers of "pdb.sock.RANK", "pdb.sock.PID-HEX.RANK", "pdb-UID/RANK.sock",
 * "pdb-UID/RANK.PID.sock".
 */
void socket_file_read_name(struct socket_name *name, const char *path);
/*
 * Why a socket at the path, as we reach it, is not one of a process that uid
 * runs: a sentence about shown (free() it); NULL: it is as it should be.
 */
char *socket_file_distrust(const char *path, const char *shown, uid_t uid);
/* The same of the folder that the socket lies in, whatever it is called. */
char *socket_file_distrust_folder(const char *path, const char *shown, uid_t uid);

struct socket_file {
	char *name; /* without its folder */
	struct socket_name numbers;
};

/* The debuggers' sockets, links and such in one folder, as last read. */
struct socket_folder {
	char *path; /* as we reach it */
	char *seen; /* as the processes see it that have it */
	dev_t device;
	ino_t inode; /* 0: it is not there */
	struct timespec changed;
	struct timespec read;
	struct socket_file *files;
	size_t count;
	size_t capacity;
};

/* Reads it again where it has changed. One that cannot be read is empty. */
void socket_folder_read(struct socket_folder *folder);
void socket_folder_clear(struct socket_folder *folder);

#endif
