/*
 * target: one way to a process, as a person names it: "ptrace:4183",
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
	char *text; /* all of it */
	char *path; /* a socket's file, "@NAME" of one without; or NULL */
	char *host; /* NULL: no TCP */
	int port;   /* 0: no TCP */
	pid_t pid;  /* of ptrace and agent; 0: neither */
};

/* Replaces nothing: *target is uninitialised, and cleared after -1. */
int target_parse(struct target *target, const char *text, struct error *error);
/* The name of the backend that takes it: "ptrace", "pdb", "http". */
const char *target_backend(const struct target *target);
/* Into an uninitialised one. */
void target_copy(struct target *to, const struct target *from);
void target_clear(struct target *target);

#endif
