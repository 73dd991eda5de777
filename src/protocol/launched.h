/*
 * launched: the job that a node has started: the body of the event `job` and of the answer to
 * `launch`. The job's ranks are processes like all others (process.h).
 */
#ifndef PROTOCOL_LAUNCHED_H
#define PROTOCOL_LAUNCHED_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

struct error;

/*
 * probetui passes its own standard input to the job: the node's command line has this option and
 * the file descriptor.
 */
#define JOB_INPUT_OPTION "--job-input"

enum launched_state {
	LAUNCHED_NONE, /* no job was started */
	LAUNCHED_RUNNING,
	LAUNCHED_ENDED, /* the job's process has exited; its children may run on */
	LAUNCHED_LOST,	/* the job's supervisor has exited; error has details */
};

struct launched {
	enum launched_state state;
	pid_t pid;
	char *program;	 /* first word of the command */
	char *terminal;	 /* "/dev/pts/3" */
	char *log;	 /* path of the output file without a screen; NULL: none */
	char *error;	 /* NULL: none */
	int exit_code;	 /* -1: unknown */
	int exit_signal; /* 0: none */
	bool has_others; /* true: the process has exited, processes that it started have not */
	int rows;	 /* rows of the terminal; 0: unknown */
	int columns;
};

void launched_init(struct launched *launched);
void launched_clear(struct launched *launched);
json_t *launched_to_json(const struct launched *launched);
/* Replaces the contents of *launched. -1: *error is set; clear it nevertheless. */
int launched_from_json(struct launched *launched, const json_t *json, struct error *error);

#endif
