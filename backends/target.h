/*
 * target: the process or address that a user connects to: "ptrace:4183",
 * "agent:4183", "http://node7:9000", "pdb:unix:/tmp/pdb.sock.1",
 * "pdb:tcp:127.0.0.1:4444".
 */
#ifndef BACKENDS_TARGET_H
#define BACKENDS_TARGET_H

#include <stdbool.h>
#include <sys/types.h>

struct error;

enum target_kind {
	TARGET_PTRACE,
	TARGET_PDB_UNIX,
	TARGET_PDB_TCP,
	TARGET_AGENT,
	TARGET_HTTP,
};

struct target {
	enum target_kind kind;
	char *text; /* the whole target */
	char *path; /* path of a unix socket, or "@NAME" of an abstract one; NULL: none */
	char *host; /* NULL: no TCP */
	int port;   /* 0: no TCP */
	pid_t pid;  /* of ptrace:PID and agent:PID; 0: other kinds */
};

/* Fills *target, which may be uninitialised. Returns 0, or -1 if text is not a valid target:
 * *target is then cleared and error is set. */
int target_parse(struct target *target, const char *text, struct error *error);
/* Returns the name of the backend that opens the target: "ptrace", "pdb", "http". */
const char *target_backend(const struct target *target);
/* Copies into an uninitialised *to. */
void target_copy(struct target *to, const struct target *from);
void target_clear(struct target *target);

#endif
