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

struct agent_endpoint {
	char *base;   /* "http://localhost", "https://node7:9000" */
	char *path;   /* of the Unix socket, as we reach it; NULL: TCP */
	char *target; /* what a person calls it */
	char *token;
	char *ca_file;
	pid_t pid; /* of the process, where it is here; else 0 */
	uid_t uid;
	bool is_address;      /* TCP */
	struct stat file;     /* the socket that was found last */
	struct error refused; /* why agent_endpoint_check_peer() gave -1 */
};

/* target NULL: by the process's own socket. -1 and a sentence; clear it then,
 * too. */
int agent_endpoint_init(struct agent_endpoint *way, const struct process *process,
			const struct target *target, struct error *error);
void agent_endpoint_clear(struct agent_endpoint *way);
/* Looks for the socket again; -1: there is none, or it is not the process's. */
int agent_endpoint_find(struct agent_endpoint *way, struct error *error);
/* Whether there is a socket now, and it is not the one that was found last. */
bool agent_endpoint_has_another(const struct agent_endpoint *way);
/* Who is at its other end. -1: not the process; way->refused says so. */
int agent_endpoint_check_peer(struct agent_endpoint *way, int fd);
/* What was found of an agent's socket. */
struct agent_endpoint_found {
	bool is_there;
	char path[128]; /* as the process sees it; where it would be */
};

/* Looks for it; -1 and a sentence: there is none, or it is not the process's. */
int agent_endpoint_look(struct agent_endpoint_found *found, pid_t pid, uid_t uid,
			struct error *error);
/* Whether a process has the socket of an agent. Costs a few system calls,
 * unless the folder of its user's name belongs to another user. */
bool agent_endpoint_exists(pid_t pid, uid_t uid);

#endif
