/*
 * evidence: what a node says of a job besides stacks: versions, memory, why a
 * rank raised, what the kernel killed. The newest answers are kept, those of a
 * recording too, so a report of it has what was asked while it was made.
 *
 * The bodies are those of `evidence` and `diagnose` (doc/protocol.md); all of
 * it comes from outside.
 */
#ifndef ENGINE_EVIDENCE_H
#define ENGINE_EVIDENCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct engine;
struct message;

struct evidence {
	json_t *ranks;	 /* "PID" -> its part of `evidence` */
	json_t *cgroups; /* "PATH" -> its limits and use */
	json_t *kernel;	 /* the newest body's "kernel"; NULL: not known */
	json_t *ways;	 /* "PID" -> its part of `diagnose` */
	json_t *asked;	 /* "PID" -> true */
	char *kernel_error;
};

void evidence_clear(struct evidence *evidence);
/* Keeps what an answer says; others are left alone. */
void evidence_take(struct evidence *evidence, const struct message *message);
/* Lends; NULL: nothing is known of the process. */
const json_t *evidence_find(const struct evidence *evidence, pid_t pid);
const json_t *evidence_ways(const struct evidence *evidence, pid_t pid);
/*
 * Asks about ranks that were not asked about yet and waits for nothing: the
 * node then remembers what can still be read when they have ended.
 */
void evidence_follow(struct engine *engine);
/*
 * Asks about all ranks, also those that have ended. The number of the first
 * request, for evidence_await; 0: there is no rank.
 */
int64_t evidence_ask(struct engine *engine);
/* The same for `diagnose`, of the ranks that live. */
int64_t evidence_ask_ways(struct engine *engine);
/* Waits for the answers from first on, if first is not 0. */
void evidence_await(struct engine *engine, int64_t first, double seconds);

#endif
