/*
 * evidence: data that nodes report of a job besides stacks: versions, memory, why a rank raised,
 * which processes the kernel killed. The newest answers are kept, also those in a recording, so
 * that a report of a recording has the answers from recording time.
 *
 * The bodies are those of `evidence` and `diagnose` (docs/protocol.md) and come from outside: not
 * trusted.
 */
#ifndef ENGINE_EVIDENCE_H
#define ENGINE_EVIDENCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct request_group;
struct message;
struct rank;
struct session;

struct evidence {
	/* Keys of ranks, ways and asked: "NODE:PID:START_TIME". */
	json_t *ranks;	 /* the process's item of `evidence` */
	json_t *ways;	 /* the process's item of `diagnose` */
	json_t *asked;	 /* true: `evidence` was requested */
	json_t *cgroups; /* "NODE:PATH" -> limits and use of the cgroup */
	json_t *kernels; /* "NODE" -> lines of the kernel log; NULL: none known */
	char *kernel_error;
};

void evidence_clear(struct evidence *evidence);
/*
 * Keeps a node's answer to `evidence` or `diagnose` about the session's ranks; ignores other
 * messages.
 */
void evidence_take(struct evidence *evidence, const struct session *session, size_t node,
		   const struct message *message);
/* Borrowed; NULL: nothing is known of the process. */
const json_t *evidence_find(const struct evidence *evidence, const struct rank *rank);
/* Like evidence_find(), for the answer to `diagnose`. */
const json_t *evidence_ways(const struct evidence *evidence, const struct rank *rank);
/* A new array with the kernel log lines of all machines; JSON null: no kernel log was read. */
json_t *evidence_kernel(const struct evidence *evidence);
/*
 * Sends `evidence` for ranks not requested yet and does not wait: the node then remembers data that
 * can no longer be read once a rank has ended.
 */
void evidence_follow(struct engine *engine);
/*
 * Sends `evidence` for all ranks, including ended ones. The session takes the answers; group: a
 * shell can wait for them with it; NULL: nobody waits.
 */
void evidence_ask(struct engine *engine, struct request_group *group);
/* Like evidence_ask(), for `diagnose` and ranks that have not exited. */
void evidence_ask_ways(struct engine *engine, struct request_group *group);

#endif
