/*
 * evidence: data that nodes report of a job besides stacks: versions, memory, why a rank raised,
 * which processes the kernel killed. The newest answers are kept, from nodes or from a recording,
 * so that a report about a recording shows the data of the recorded time.
 *
 * The answers' bodies are described in docs/protocol.md (`evidence`, `diagnose`). They come from
 * outside and are not trusted.
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
struct rankset;
struct session;

struct evidence {
	/* Objects with the keys "NODE:PID:START_TIME": ranks, ways, asked, ended and kills. */
	json_t *ranks;	  /* the process's item of `evidence` */
	json_t *ways;	  /* the process's item of `diagnose` */
	json_t *asked;	  /* true: `evidence` was requested */
	json_t *ended;	  /* true: it was requested after the rank's end */
	json_t *kills;	  /* kills of its cgroup at the first answer about the process */
	json_t *cgroups;  /* "NODE:PATH" -> limits and use of the cgroup */
	json_t *disks;	  /* "NODE:PATH" -> type and free space of the file system */
	json_t *kernels;  /* "NODE" -> lines of the kernel log; NULL: none known */
	json_t *printers; /* "NODE:PATH" of standard output or error -> {rank as text: true} */
	char *kernel_error;
};

void evidence_clear(struct evidence *evidence);
/*
 * Keeps a node's answer to `evidence` or `diagnose` about the session's ranks; ignores other
 * messages.
 */
void evidence_take(struct evidence *evidence, const struct session *session, size_t node,
		   const struct message *message);
/* The process's item of `evidence`, borrowed; NULL: nothing is known of the process. */
const json_t *evidence_find(const struct evidence *evidence, const struct rank *rank);
/* Like evidence_find(), for the answer to `diagnose`. */
const json_t *evidence_ways(const struct evidence *evidence, const struct rank *rank);
/* Which of torchrun's attempts the rank belongs to. */
struct attempt {
	int number; /* from 1 */
	int total;  /* maximum: torchrun's --max-restarts plus 1 */
};

/* Returns false if the rank's environment, or torchrun's variables in it, are not known. */
bool evidence_attempt(const struct evidence *evidence, const struct rank *rank,
		      struct attempt *attempt);
/* The lines of the kernel log of the rank's machine, borrowed; NULL: none are known. */
const json_t *evidence_kernel_of(const struct evidence *evidence, const struct rank *rank);
/* Adds the numbers of all ranks of the rank's machine that print to this file. */
void evidence_add_printers(const struct evidence *evidence, const struct rank *rank,
			   const char *path, struct rankset *ranks);
/*
 * Finds the control group that limits the rank: its own, or an ancestor. Borrowed; NULL: it is not
 * known.
 */
const json_t *evidence_cgroup(const struct evidence *evidence, const struct rank *rank);
/*
 * How many processes of that control group, or of those below it, the kernel has killed for lack of
 * memory since the first answer about the rank; -1: unknown.
 */
int64_t evidence_kills(const struct evidence *evidence, const struct rank *rank);
/* A new array with the kernel log lines of all machines; JSON null: no kernel log was read. */
json_t *evidence_kernel(const struct evidence *evidence);
/*
 * Sends `evidence` for ranks that it was not sent for yet, and does not wait: the node then
 * remembers data that cannot be read any more once a rank has ended. Sends it again for each of
 * these that has ended since: why it ended may be known now.
 */
void evidence_follow(struct engine *engine);
/* In a shell: evidence_follow() for ranks that were not asked about, and waits for the answers. */
void evidence_await_new(struct engine *engine, double seconds);
/*
 * Sends `evidence` for all ranks, also ended ones; evidence_take() takes the answers. A shell can
 * wait for the answers with group; group may be NULL.
 */
void evidence_ask(struct engine *engine, struct request_group *group);
/* Like evidence_ask(), but sends `diagnose`, for ranks that have not exited. */
void evidence_ask_ways(struct engine *engine, struct request_group *group);

#endif
