/*
 * launched: the job that a node has started, as the event `job` tells it and
 * the answer to `launch`. Its ranks are processes like all others
 * (process.h).
 */
#ifndef PROTOCOL_LAUNCHED_H
#define PROTOCOL_LAUNCHED_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

struct error;

/*
 * How probetui hands its own standard input to the job: the node is started
 * with this word and the number of the descriptor.
 */
#define JOB_INPUT_OPTION "--job-input"

enum launched_state {
	LAUNCHED_NONE, /* no job was started */
	LAUNCHED_RUNNING,
	LAUNCHED_ENDED, /* its process has; others of it may run on */
	LAUNCHED_LOST,	/* what kept it has ended: error says more */
};

struct launched {
	enum launched_state state;
	pid_t pid;
	char *program;	 /* its first word */
	char *terminal;	 /* "/dev/pts/3" */
	char *log;	 /* where its output goes without a screen; NULL: none */
	char *error;	 /* NULL: none */
	int exit_code;	 /* -1: unknown */
	int exit_signal; /* 0: none */
	bool has_others; /* it has ended, but others that it started have not */
	int rows;	 /* of its terminal; 0: unknown */
	int columns;
};

void launched_init(struct launched *launched);
void launched_clear(struct launched *launched);
json_t *launched_to_json(const struct launched *launched);
/* Replaces what *launched held; clear it after a failure, too. */
int launched_from_json(struct launched *launched, const json_t *json, struct error *error);

#endif
