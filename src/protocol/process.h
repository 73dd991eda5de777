/*
 * process: data about the process of a rank, or of a child of a rank, that does not change from
 * sample to sample. struct process is the body of the events `rankAdded`, `rankChanged` and
 * `rankRemoved`.
 *
 * A process is identified by its pid on its node. If the kernel has reused a pid, as start_time
 * shows, the node sends rankRemoved for the old process first. A pid above 4,194,304
 * (PID_MAX_LIMIT), which Linux never assigns, stands for a process on another machine whose
 * debugger is connected (a stand-in).
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
	PROCESS_STOPPED,    /* stopped by SIGSTOP or a tracer */
	PROCESS_EXITED,	    /* exited, or a zombie */
	PROCESS_UNREADABLE, /* cannot be read; error has the reason and a remedy */
};

/* First pid of stand-ins for processes on other machines: greater than Linux's PID_MAX_LIMIT. */
#define PROCESS_FIRST_STANDIN 4194305

struct process {
	pid_t pid;
	pid_t parent_pid; /* of a child: pid of its rank's process; 0: not a child */
	int rank;	  /* rank number; a child has the number of its rank */
	int local_rank;	  /* local_rank, group_rank and world_size are -1 if unknown */
	int group_rank;
	int world_size;
	uid_t uid;
	uint64_t start_time; /* clock ticks since boot, from /proc/PID/stat */
	double age;	     /* seconds from the start to the sending of this data */
	char *host;
	char *job;	    /* "MASTER_ADDR:MASTER_PORT"; "": no job */
	pid_t launcher_pid; /* pid of the launcher that started the ranks; 0: unknown */
	char *launcher;	    /* name of the launcher: "torchrun", "mpirun", "python" … */
	char *script;	    /* "train.py", "-c", "-m package"; "": unknown */
	char *script_path;  /* absolute path of the script; "": unknown */
	char *cwd;
	/*
	 * NULL: a rank. Of a rank's child: "dataloader", "checkpoint", "compile", "joblib" or
	 * "child". Without a parent_pid: a process that the user has named, and that is no rank;
	 * "launcher", "helper" or "ray", too.
	 */
	char *role;
	char *python; /* version, "3.11.7"; "": unknown */
	enum process_state state;
	int exit_code;	   /* -1: unknown */
	int exit_signal;   /* 0: none or unknown */
	char *error;	   /* NULL: none */
	char *slurm_job;   /* number of the Slurm job that it belongs to; NULL: none */
	char *slurm_nodes; /* that job's machines, "n[1-4]"; NULL: unknown */
};

/*
 * Sets all members to unknown: numbers to -1 or 0, strings to "" or NULL. Strings are on the heap:
 * free a string before it is replaced.
 */
void process_init(struct process *process);
/* Frees the strings and sets them to NULL; call process_init() before using *process again. */
void process_clear(struct process *process);
/* Replaces the contents of *to (after process_init() or process_clear()). */
void process_copy(struct process *to, const struct process *from);
/* Returns true if both are known by the same address, launcher and user: ranks of one job, on one
 * node. */
bool process_is_same_job(const struct process *a, const struct process *b);
/* Returns the pid to show to a person; 0: no process, or a stand-in for one on another machine. */
pid_t process_shown_pid(const struct process *process);
json_t *process_to_json(const struct process *process);
/*
 * Replaces the contents of *process. Returns 0; -1 and *error. Call process_clear() in both cases.
 */
int process_from_json(struct process *process, const json_t *json, struct error *error);

/*
 * launched: the job that a node has started. struct launched is the body of the event `job` and of
 * the answer to `launch`. The job's ranks are processes like those of other jobs.
 */

/*
 * Option of the node's command line, followed by a file descriptor: the standard input that
 * probetui passes on to the job.
 */
#define JOB_INPUT_OPTION "--job-input"

enum launched_state {
	LAUNCHED_NONE, /* no job was started */
	LAUNCHED_RUNNING,
	LAUNCHED_ENDED, /* the job's process has exited; its children may still run */
	LAUNCHED_LOST,	/* the job's supervisor has exited; error has details */
};

struct launched {
	enum launched_state state;
	pid_t pid;
	char *program;	 /* first word of the command */
	char *terminal;	 /* "/dev/pts/3" */
	char *log;	 /* path of the file with the job's output, if there is no screen; NULL:
			  * none */
	char *error;	 /* NULL: none */
	int exit_code;	 /* -1: unknown */
	int exit_signal; /* 0: none */
	bool has_others; /* true: the process has exited, but processes that it started have not */
	int rows;	 /* rows of the terminal; 0: unknown */
	int columns;
};

void launched_init(struct launched *launched);
void launched_clear(struct launched *launched);
json_t *launched_to_json(const struct launched *launched);
/*
 * Replaces the contents of *launched. Returns 0; -1 and *error. Call launched_clear() in both
 * cases.
 */
int launched_from_json(struct launched *launched, const json_t *json, struct error *error);

#endif
