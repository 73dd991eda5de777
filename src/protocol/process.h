/*
 * process: what is known of a rank's process, or of a child of one, without
 * reading its memory. The body of the events `rankAdded`, `rankChanged` and
 * `rankRemoved`.
 *
 * A process is named by its pid on its node; pids do not repeat in a session
 * (start_time tells a reused one apart, and the node then sends rankRemoved
 * first). A pid above 4,194,304, which Linux never gives, only stands for a
 * process on another machine whose debugger is connected.
 */
#ifndef PROTOCOL_PROCESS_H
#define PROTOCOL_PROCESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

enum process_state {
	PROCESS_LIVE,
	PROCESS_STOPPED,    /* by SIGSTOP or a tracer */
	PROCESS_EXITED,	    /* gone, or a zombie */
	PROCESS_UNREADABLE, /* error says why and what would help */
};

/* No process has such a number (PID_MAX_LIMIT): it only stands for one that
 * is on another machine. */
#define PROCESS_FIRST_STANDIN 4194305

struct process {
	pid_t pid;
	pid_t parent_pid; /* the rank it is a child of; 0 for a rank */
	int rank;	  /* its number; a child has its rank's */
	int local_rank;	  /* -1 unknown, as below */
	int group_rank;
	int world_size;
	uid_t uid;
	uint64_t start_time; /* clock ticks since boot, /proc/PID/stat */
	double age;	     /* seconds since it was started, when sent */
	char *host;
	char *job;	    /* "MASTER_ADDR:MASTER_PORT", or "" */
	pid_t launcher_pid; /* the process above the ranks; 0 unknown */
	char *launcher;	    /* its name: "torchrun", "mpirun", "python" … */
	char *script;	    /* "train.py", "-c", "-m package"; "" unknown */
	char *script_path;  /* absolute path of the script, "" unknown */
	char *cwd;
	char *role;   /* NULL for a rank; "dataloader", "checkpoint",
		       * "compile", "child" */
	char *python; /* "3.11.7", "" unknown */
	enum process_state state;
	int exit_code;	 /* -1 unknown */
	int exit_signal; /* 0: none or unknown */
	char *error;	 /* NULL: none */
};

/*
 * All unknown: numbers -1 or 0, strings "" or NULL as above. Every string is
 * on the heap: free() the one you replace.
 */
void process_init(struct process *process);
/* Frees the strings, which are NULL then: process_init before it is filled. */
void process_clear(struct process *process);
/* Replaces what *to (made by process_init, or cleared) held. */
void process_copy(struct process *to, const struct process *from);
/* For a person; 0: it has none, or it is on another machine. */
pid_t process_shown_pid(const struct process *process);
json_t *process_to_json(const struct process *process);
/* Replaces what *process (as above) held; clear it after a failure too. */
int process_from_json(struct process *process, const json_t *json, struct error *error);

#endif
