/*
 * agent-endpoint: the address of an agent: a Unix socket in /tmp/pdb-UID below the process's root
 * (in another folder if this folder cannot be used), or a TCP address with the user's token.
 */
#ifndef BACKENDS_HTTP_AGENT_ENDPOINT_H
#define BACKENDS_HTTP_AGENT_ENDPOINT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"

struct error;
struct process;
struct target;

struct agent_endpoint {
	char *base;   /* "http://localhost", "https://node7:9000" */
	char *path;   /* path of the Unix socket, below /proc/PID/root; NULL: TCP */
	char *target; /* the address as the user writes it, "agent:4183" */
	char *token;
	char *ca_file;
	pid_t pid; /* pid of the process; 0: on another machine */
	uid_t uid;
	bool is_address;      /* the address is a TCP address */
	struct stat file;     /* lstat(2) of the socket that the last search found */
	struct error refused; /* why agent_endpoint_check_peer() returned -1 */
};

/* target NULL: the process's own Unix socket. Returns 0, or -1 and sets error. *way must be cleared
 * in both cases. */
int agent_endpoint_init(struct agent_endpoint *way, const struct process *process,
			const struct target *target, struct error *error);
void agent_endpoint_clear(struct agent_endpoint *way);
/* Repeats the search for the socket. Returns -1 and sets error if there is none or it is not the
 * process's socket. */
int agent_endpoint_find(struct agent_endpoint *way, struct error *error);
/* Whether another socket has replaced the socket that the last search found. */
bool agent_endpoint_has_another(const struct agent_endpoint *way);
/* Checks the peer of a connected socket. Returns -1 and sets way->refused if the peer is not the
 * process. */
int agent_endpoint_check_peer(struct agent_endpoint *way, int fd);
/* The result of a search for an agent's socket. */
struct agent_endpoint_found {
	bool is_there;
	char path[128]; /* path as the process sees it; without a socket: the path where it would
			 * be */
};

/* Searches for the socket. Returns -1 and sets error if there is none or it is not the process's
 * socket. */
int agent_endpoint_look(struct agent_endpoint_found *found, pid_t pid, uid_t uid,
			struct error *error);
/* Whether a process has an agent's socket. Takes a few system calls, or a search through /proc if
 * /tmp/pdb-UID cannot be used. */
bool agent_endpoint_exists(pid_t pid, uid_t uid);

/* agent_probe: one blocking GET to the agent of a process, without libcurl; for `doctor`. */

/*
 * Sends GET path to the agent's Unix socket. Returns the JSON of the answer. Returns NULL and sets
 * error if there is no agent, or no answer with status 200 within `seconds`.
 */
json_t *agent_probe(const struct process *process, const char *path, double seconds,
		    struct error *error);

#endif
