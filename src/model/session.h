/*
 * session: all data that the screen shows. Messages of nodes change the session (only by
 * session_apply()), commands change its selection and focus; panes read it.
 *
 * Times are the session's own clock in seconds: of the running program, or of the
 * recording that is replayed.
 */
#ifndef MODEL_SESSION_H
#define MODEL_SESSION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/answers.h"
#include "model/choice.h"
#include "model/joblist.h"
#include "model/paramdiff.h"
#include "model/rank.h"
#include "model/stops.h"
#include "model/tensorview.h"
#include "model/verdict.h"
#include "protocol/rankset.h"
#include "protocol/variable.h"

struct buffer;
struct code;
struct error;
struct map;
struct message;
struct output;
struct previous;
struct source;
struct stack_table;
struct strmap;
struct transcript;

/* Limits for all nodes together; further processes are refused. */
#define RANKS_MAXIMUM 65536
#define JOBS_MAXIMUM 256

/* A Python process that is not a rank; shown when no rank was found. */
struct bystander {
	pid_t pid;
	char *name;
	char *script;
	char *why;
};

/* Progress of a node's long operation. */
struct progress {
	int64_t done;
	int64_t total; /* 0: no operation */
	char title[32];
	char message[128];
};

struct session_node {
	char *name; /* name of the host */
	struct stack_table *stacks;
	struct progress progress;
	struct rankset wanted; /* if several recordings are replayed: ranks selected when this one
				* was made; empty: all */
	bool is_known;	       /* the node has reported processes, or has searched without finding
				* any */
	bool is_gone;
	char *gone_why;	     /* why the connection ended, a sentence; NULL: it did not end */
	bool is_named;	     /* the user has named the machine, whatever it calls itself */
	bool is_silent;	     /* the node does not answer, though the connection has not ended */
	double output_at;    /* when its output was read last; -1: never, or in a replay */
	char *recording_end; /* "SIGTERM": what ended the recorder; NULL: not known, or no signal */
	char *unread;  /* why not all of the node's processes could be searched; NULL: all were */
	size_t hidden; /* number of this user's Python processes that cannot be read */
};

/* The variables of one frame, or the children of one object, from one answer. */
struct variables {
	size_t node;
	pid_t pid;
	pid_t tid;
	int depth; /* -1: the children of address */
	/*
	 * The frame's code when the variables were read; NULL: unknown, or children of an object.
	 * Only for comparison: the frame may have returned since.
	 */
	const struct code *code;
	uint64_t address;
	uint64_t epoch;	 /* epoch of the sample that the variables belong to */
	int64_t start;	 /* index of the first variable of this page */
	char *exactness; /* "exact", "consistent" … */
	struct variable_list list;
	char *error;	  /* NULL: no error */
	double time;	  /* session time of the answer */
	uint64_t stops;	  /* debugger.stops when the variables were read; 0: not stopped */
	uint64_t touched; /* rank.touched when the variables were read */
	bool *is_changed; /* for each variable: changed since the stop before; NULL: unknown */
};

void variables_free(struct variables *variables);

/* The verdict on a job, for the list of jobs. */
struct job_finding {
	char *sentence; /* NULL: not judged yet */
	enum verdict_state state;
	bool has_outliers;
};

struct job {
	size_t node; /* node of the rank that was found first */
	int world_size;
	char *name; /* "127.0.0.1:29500", or "": unknown */
	pid_t launcher_pid;
	char *launcher;
	uid_t uid;
	size_t rank_count; /* number of live ranks */
	char *script;
	char *user; /* name of uid; NULL: not looked up */
	struct job_finding finding;
};

struct session {
	struct session_node *nodes;
	size_t node_count;
	struct rank **ranks; /* ranks of the chosen job, sorted by number */
	size_t rank_count, rank_capacity;
	struct rank **others; /* all other ranks: of other jobs, or not selected by --ranks */
	size_t other_count, other_capacity;
	struct job *jobs; /* all jobs that were found */
	size_t job_count;
	int job; /* index of the chosen job; -1: none */
	struct bystander *bystanders;
	size_t bystander_count;
	struct map *by_pid; /* live processes of ranks, others and their children, by node and
			     * pid */
	size_t looked_at;   /* number of processes that `discover` searched */
	uid_t uid;	    /* user whose processes were searched */
	size_t other_users; /* number of other users' Python processes */
	bool is_discovered; /* the first `discover` request was answered */
	bool is_replay;
	struct verdict verdict;
	struct choice choice;
	double now;
	uint64_t revision; /* incremented by each change */
	uint64_t step;	   /* incremented when a rank is added or removed, its state changes, or its
			    * main thread's stack changes */
	struct strmap *sources;	      /* maps "NODE:PID:PATH" to struct source */
	struct variables **variables; /* newest last, limited number */
	size_t variables_count;
	struct previous *previous; /* values of variables at earlier stops */
	struct output **outputs;   /* output of processes; limited number */
	size_t output_count;
	struct stops stops;		  /* stops of all ranks */
	struct answers answers;		  /* answers to the last question to several ranks */
	struct paramdiff paramdiff;	  /* result of the last diff-params */
	struct eval_history eval_history; /* code that was run, and its answers */
	struct launching launching;	  /* the job that probetui started */
	struct tensorview tensorview;	  /* the selected tensor */
	struct transcript **transcripts;  /* terminal sessions of debuggers; limited number */
	size_t transcript_count;
};

void session_init(struct session *session);
void session_clear(struct session *session);
/* Adds a node and returns its index. */
size_t session_add_node(struct session *session, const char *name);
/*
 * Applies one message of a node at session time now. Returns 0; -1 and *error: the message is
 * invalid, and the session is unchanged.
 */
int session_apply(struct session *session, size_t node, const struct message *message, double now,
		  struct error *error);
/* The connection to the node ended: its ranks become unreadable. */
void session_lose_node(struct session *session, size_t node, const char *why);
/*
 * Notes whether the node answers. While it does not, nothing of its ranks counts as known: what is
 * stored may have changed since.
 */
void session_set_silent(struct session *session, size_t node, bool is_silent);
/*
 * True if every node has finished its first search for processes, or is gone or silent: no more
 * ranks are expected.
 */
bool session_is_searched(const struct session *session);
/* Computes verdict and classes; call it after a batch of messages. */
void session_judge(struct session *session);

/*
 * Chooses the job session->jobs[index]. The choice is remembered: if the job disappears and is
 * found again, it is chosen again.
 */
void session_choose_job(struct session *session, size_t index);

/* True if the rank is in the focus, the set of ranks that commands act on. */
bool session_is_focused(const struct session *session, const struct rank *rank);
/* Adds the numbers of the session's ranks to *set. */
void session_add_ranks(const struct session *session, struct rankset *set);
/* Returns a borrowed rank; NULL: no such rank. */
struct rank *session_find_rank(const struct session *session, int rank);
/* Finds a live process by its node and pid: a rank of any job, or a child of a rank; NULL: none. */
struct rank *session_find_pid(const struct session *session, size_t node, pid_t pid);
/* session_find_pid() that also finds exited ranks. */
const struct rank *session_find_any_pid(const struct session *session, size_t node, pid_t pid);
/* Code of the frame at depth in the thread's newest sample; NULL: no such frame, or not sampled. */
const struct code *session_find_code(const struct session *session, size_t node, pid_t pid,
				     pid_t tid, int depth);
/*
 * Number (debugger.stops) of the current stop of a thread; tid 0: of any thread. Returns 0 if it is
 * not stopped in a debugger that probetui is connected to. Variables stay valid until the next
 * stop, unless the user runs code in the rank (session_touch()).
 */
uint64_t session_find_stop(const struct session *session, size_t node, pid_t pid, pid_t tid);
/* Notes that the user ran code in the rank. */
void session_touch(struct session *session, int rank);
/* Returns rank.touched; 0: no such process. */
uint64_t session_find_touched(const struct session *session, size_t node, pid_t pid);
/* The selected rank; else the first outlier; else the first rank; NULL: no ranks. */
const struct rank *session_selected(const struct session *session);
/* The selected process: the selected rank, or a child of it; NULL: no ranks. */
const struct rank *session_looked_at(const struct session *session);
/* True if commands can act on the rank: rank is not NULL, and no recording is replayed. */
bool session_controls(const struct session *session, const struct rank *rank);
/* The selected thread of the selected process; NULL: none. */
const struct thread *session_selected_thread(const struct session *session);
/*
 * The stack shown for a thread: its Python stack, or the stack merged with native frames; NULL:
 * none. A selected depth always counts the frames of the Python stack.
 */
const struct stack *session_shown_stack(const struct session *session, const struct thread *thread);
/*
 * Appends the progress of a node's long operation: "symbols 3/8 · libtorch_cpu.so". Returns false
 * if there is none.
 */
bool session_append_progress(struct buffer *out, const struct session *session);
/* Index of the selected frame in the selected thread's stack; -1: none. */
int session_selected_depth(const struct session *session);
/*
 * Pid of the process through which the source files of process pid are read: pid itself; if that
 * has exited, a live rank of the same machine.
 */
pid_t session_source_pid(const struct session *session, size_t node, pid_t pid);
/*
 * The source file at path in the process, borrowed; NULL: not read yet. In a replay, and if the
 * process has ended, a file that was read through another rank of the machine is returned, too.
 */
const struct source *session_find_source(const struct session *session, size_t node, pid_t pid,
					 const char *path);
/*
 * Newest variables of a frame, or, with depth -1, of the object at address; NULL: none. The
 * variables may be of an older epoch, but not of another function than the one that is now at
 * depth.
 */
const struct variables *session_find_variables(const struct session *session, size_t node,
					       pid_t pid, pid_t tid, int depth, uint64_t address,
					       int64_t start);

/*
 * Removes the ranks of the chosen job that exited until session time at, as ranks of a restart
 * replace them.
 */
void session_forget_ended(struct session *session, double at);
/* For src/model only: true if a machine that the user has named may still tell its processes. */
bool session_awaits_machine(const struct session *session);
/* For src/model only: chooses a job once no machine is awaited. */
void session_note_searched(struct session *session);
/* For src/model only: add the rank to the index by pid, and remove it, respectively. */
void session_note_pid(struct session *session, struct rank *rank);
void session_forget_pid(struct session *session, const struct rank *rank);
/* Returns the rank that the child process belongs to, borrowed; NULL and *error: there is none. */
struct rank *session_find_parent(const struct session *session, size_t node,
				 const struct process *process, struct error *error);
/*
 * Takes a node's answer to `discover`; chooses a job if only one can be meant. Returns 0; -1 and
 * *error.
 */
int session_discovered(struct session *session, size_t node, const json_t *body,
		       struct error *error);

/*
 * Handles the event `stacksDropped` for session_apply(): the node's stack ids begin again from 1.
 */
void session_drop_stacks(struct session *session, size_t node);
/* Add an answer for session_apply(); the answer replaces older answers to the same question. */
void session_add_variables(struct session *session, struct variables *owned_variables);
void session_add_source(struct session *session, size_t node, pid_t pid,
			struct source *owned_source);
/* Calls each() for every source file that was read. */
void session_each_source(const struct session *session,
			 void (*each)(size_t node, pid_t pid, const struct source *source,
				      void *data),
			 void *data);
void session_clear_bystanders(struct session *session);

#endif
