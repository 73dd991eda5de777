/*
 * pdb-programs: the programs that put a pdb on a socket, by the file that their
 * frames name, and what becomes of the process when a client leaves them.
 * Nothing is asked of them: it is known from their source.
 */
#ifndef BACKENDS_PDB_PDB_PROGRAMS_H
#define BACKENDS_PDB_PDB_PROGRAMS_H

#include <stdbool.h>

struct stack_files;

struct pdb_programs {
	const char *file;    /* a part of the path of its file */
	const char *dialect; /* as in protocol/debugger.h */
	bool takes_one;	     /* its first client is its last one */
	bool has_port;	     /* it may listen on TCP */
	bool is_relay;	     /* "pdb.sock.PID-HEX.RANK" is its */
	const char *leaving; /* a sentence; NULL: nothing */
	const char *after;   /* what follows even when it continues; NULL: nothing */
};

/* The one that the stacks of a process have named; NULL: none that is known. */
const struct pdb_programs *pdb_programs_of_files(const struct stack_files *files);
/*
 * The same, else by how it names its socket; files NULL: nothing was seen of
 * the process; path (or a target that ends in it) NULL: it has none.
 */
const struct pdb_programs *pdb_programs_find(const struct stack_files *files, const char *path);
/* The one of that dialect; NULL: there is none. */
const struct pdb_programs *pdb_programs_named(const char *dialect);
/* What is to be said of one that is not known (NULL), or of this one. */
const char *pdb_programs_leaving(const struct pdb_programs *server);

#endif
