/*
 * agent-endpoint: the address of an agent: its Unix socket in /tmp/pdb-UID below the
 * process's root, a socket in another folder if that one cannot be used, or a TCP
 * address with the user's token.
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
	char *path;   /* of the Unix socket, below /proc/PID/root; NULL: TCP */
	char *target; /* as the user writes it, "agent:4183" */
	char *token;
	char *ca_file;
	pid_t pid; /* of the process; 0: on another machine */
	uid_t uid;
	bool is_address;      /* TCP */
	struct stat file;     /* lstat(2) of the socket that was found last */
	struct error refused; /* why agent_endpoint_check_peer() returned -1 */
};

/* target NULL: the process's own socket. -1: error is set; *way must be cleared in
 * this case, too. */
int agent_endpoint_init(struct agent_endpoint *way, const struct process *process,
			const struct target *target, struct error *error);
void agent_endpoint_clear(struct agent_endpoint *way);
/* Searches for the socket again. -1: none, or not the process's; error is set. */
int agent_endpoint_find(struct agent_endpoint *way, struct error *error);
/* Whether another socket has replaced the one that was found last. */
bool agent_endpoint_has_another(const struct agent_endpoint *way);
/* Checks the peer of a connected socket. -1: not the process; way->refused is set. */
int agent_endpoint_check_peer(struct agent_endpoint *way, int fd);
/* The result of a search for an agent's socket. */
struct agent_endpoint_found {
	bool is_there;
	char path[128]; /* as the process sees it; if there is none: the path it would have */
};

/* Searches for the socket. -1: none, or not the process's; error is set. */
int agent_endpoint_look(struct agent_endpoint_found *found, pid_t pid, uid_t uid,
			struct error *error);
/* Whether a process has an agent's socket. Costs a few system calls, or a search of
 * /proc if /tmp/pdb-UID cannot be used. */
bool agent_endpoint_exists(pid_t pid, uid_t uid);

/*
 * One blocking GET to the agent of a process (`doctor`). Does not load
 * libcurl.
 */

/*
 * Sends GET path to the agent's Unix socket. Returns the JSON of the answer; NULL: no
 * agent, or no answer with status 200 within `seconds`; error is set.
 */
json_t *agent_probe(const struct process *process, const char *path, double seconds,
		    struct error *error);

#endif
