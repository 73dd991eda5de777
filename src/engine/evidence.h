/*
 * evidence: what a node says of a job besides stacks: versions, memory, why a
 * rank raised, what the kernel killed. The newest answers are kept, those of a
 * recording too, so a report of it has what was asked while it was made.
 *
 * The bodies are those of `evidence` and `diagnose` (docs/protocol.md); all of
 * it comes from outside.
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
	/* By process: node, pid and start time tell one from another. */
	json_t *ranks;	 /* its part of `evidence` */
	json_t *ways;	 /* its part of `diagnose` */
	json_t *asked;	 /* true */
	json_t *cgroups; /* "NODE:PATH" -> its limits and use */
	json_t *kernels; /* "NODE" -> its "kernel"; NULL: none is known */
	char *kernel_error;
};

void evidence_clear(struct evidence *evidence);
/*
 * Keeps what a node's answer says of the session's ranks; other messages are
 * left alone.
 */
void evidence_take(struct evidence *evidence, const struct session *session, size_t node,
		   const struct message *message);
/* Lends; NULL: nothing is known of the process. */
const json_t *evidence_find(const struct evidence *evidence, const struct rank *rank);
const json_t *evidence_ways(const struct evidence *evidence, const struct rank *rank);
/* A new array of all machines' lines; null: no kernel's log was read. */
json_t *evidence_kernel(const struct evidence *evidence);
/*
 * Asks about ranks that were not asked about yet and waits for nothing: the
 * node then remembers what can still be read when they have ended.
 */
void evidence_follow(struct engine *engine);
/*
 * Asks about all ranks, also those that have ended. The session takes the
 * answers; group: a shell waits for them, too; NULL: nothing does.
 */
void evidence_ask(struct engine *engine, struct request_group *group);
/* The same for `diagnose`, of the ranks that live. */
void evidence_ask_ways(struct engine *engine, struct request_group *group);

#endif
