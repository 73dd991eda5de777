/*
 * agent-endpoint: how an agent is reached: on its socket below /tmp as the process sees
 * it, on another one that the process listens on where another user has that
 * folder, or at an address with the person's token.
 */
#ifndef BACKENDS_HTTP_AGENT_ENDPOINT_H
#define BACKENDS_HTTP_AGENT_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"

struct process;
struct target;

struct way {
	char *base;   /* "http://localhost", "https://node7:9000" */
	char *path;   /* of the Unix socket, as we reach it; NULL: TCP */
	char *target; /* what a person calls it */
	char *token;
	char *ca_file;
	pid_t pid; /* of the process, where it is here; else 0 */
	uid_t uid;
	bool is_address;      /* TCP */
	struct stat file;     /* the socket that was found last */
	struct error refused; /* why way_check_peer() gave -1 */
};

/* target NULL: by the process's own socket. -1 and a sentence; clear it then,
 * too. */
int way_init(struct way *way, const struct process *process, const struct target *target,
	     struct error *error);
void way_clear(struct way *way);
/* Looks for the socket again; -1: there is none, or it is not the process's. */
int way_find(struct way *way, struct error *error);
/* Whether there is a socket now, and it is not the one that was found last. */
bool way_has_another(const struct way *way);
/* Who is at its other end. -1: not the process; way->refused says so. */
int way_check_peer(struct way *way, int fd);
/* What was found of an agent's socket. */
struct way_found {
	bool is_there;
	char path[128]; /* as the process sees it; where it would be */
};

/* Looks for it; -1 and a sentence: there is none, or it is not the process's. */
int way_look(struct way_found *found, pid_t pid, uid_t uid, struct error *error);
/* Whether a process has the socket of an agent. Costs a few system calls,
 * unless the folder of its user's name belongs to another user. */
bool way_exists(pid_t pid, uid_t uid);

#endif
