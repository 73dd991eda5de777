/*
 * session: everything the screen knows. Messages from nodes change it (only
 * session_apply), commands change its selection and focus; panes read it.
 *
 * Time is the session's own clock in seconds: of the running program, or of
 * the recording that is replayed.
 */
#ifndef MODEL_SESSION_H
#define MODEL_SESSION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/answers.h"
#include "model/choice.h"
#include "model/eval-history.h"
#include "model/launching.h"
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

/* Processes and jobs of all messages; what comes after is refused. */
#define RANKS_MAXIMUM 65536
#define JOBS_MAXIMUM 256

/* A process that was looked at and is no rank, for "Nothing found". */
struct bystander {
	pid_t pid;
	char *name;
	char *script;
	char *why;
};

/* Long work of a node, to show its progress. */
struct progress {
	int64_t done;
	int64_t total; /* 0: there is none */
	char title[32];
	char message[128];
};

struct session_node {
	char *name; /* host */
	struct stack_table *stacks;
	struct progress progress;
	struct rankset wanted; /* one of several recordings was to show
				* these; empty: all */
	bool is_known;	       /* it told of processes, or was looked through */
	bool is_gone;
	char *unread;  /* why not all of its processes could be looked at, or
			* NULL */
	size_t hidden; /* its Python processes that this user may not read */
};

/* The variables of one frame or object, as they came. */
struct variables {
	size_t node;
	pid_t pid;
	pid_t tid;
	int depth; /* -1: the children of address */
	/* Of the frame when they came; NULL: not known, or by address. Only
	 * compared, since the frame may have gone. */
	const struct code *code;
	uint64_t address;
	uint64_t epoch; /* of the sample they belong to */
	int64_t start;
	char *exactness; /* "exact" … */
	struct variable_list list;
	char *error;	  /* NULL: fine */
	double time;	  /* session time they came */
	uint64_t stops;	  /* at which stop of the thread's debugger; 0: it was
			   * at none */
	uint64_t touched; /* of the rank, when they came */
	bool *is_changed; /* each, since the stop before; NULL: not known */
};

void variables_free(struct variables *variables);

/* The verdict on a job in the list of jobs. */
struct job_finding {
	char *sentence; /* NULL: it was not judged */
	enum verdict_state state;
	bool has_outliers;
};

struct job {
	size_t node; /* of the rank that was found first */
	int world_size;
	char *name; /* "127.0.0.1:29500" or "" */
	pid_t launcher_pid;
	char *launcher;
	uid_t uid;
	size_t rank_count; /* live */
	char *script;
	char *user; /* NULL: not looked up */
	struct job_finding finding;
};

struct session {
	struct session_node *nodes;
	size_t node_count;
	struct rank **ranks; /* of the chosen job, by number */
	size_t rank_count, rank_capacity;
	struct rank **others; /* processes of other jobs */
	size_t other_count, other_capacity;
	struct job *jobs; /* all that were found */
	size_t job_count;
	int job; /* index of the chosen one; -1 none */
	struct bystander *bystanders;
	size_t bystander_count;
	struct map *by_pid; /* live ranks, others, their children, by
			     * node and pid */
	size_t looked_at;   /* processes looked at by discover */
	uid_t uid;	    /* whose */
	size_t other_users; /* Python processes of other users */
	bool is_discovered; /* the first discover was answered */
	bool is_replay;
	struct verdict verdict;
	struct choice choice;
	double now;
	uint64_t revision;	      /* raised by each change */
	uint64_t step;		      /* raised when a rank comes, goes, changes its
				       * state, or its main thread's stack does */
	struct strmap *sources;	      /* "PID:PATH" -> struct source */
	struct variables **variables; /* newest last, bounded */
	size_t variables_count;
	struct previous *previous; /* what variables were at earlier stops */
	struct output **outputs;   /* what processes print; bounded */
	size_t output_count;
	struct stops stops;		  /* of all ranks */
	struct answers answers;		  /* to the last question to several ranks */
	struct paramdiff paramdiff;	  /* of the last diff-params */
	struct eval_history eval_history; /* code that was run, and the answers */
	struct launching launching;	  /* the job that we started */
	struct tensorview tensorview;	  /* the tensor that is looked at */
	struct transcript **transcripts;  /* sessions of debuggers; bounded */
	size_t transcript_count;
};

void session_init(struct session *session);
void session_clear(struct session *session);
/* Adds a node, returns its index. */
size_t session_add_node(struct session *session, const char *name);
/*
 * Applies one message of a node at session time now. Bad messages are
 * refused with a sentence and change nothing.
 */
int session_apply(struct session *session, size_t node, const struct message *message, double now,
		  struct error *error);
/* The node's pipe ended: its ranks become unreadable. */
void session_lose_node(struct session *session, size_t node, const char *why);
/* Makes verdict and classes anew; call after a batch of messages. */
void session_judge(struct session *session);

/*
 * Another job's ranks become the session's; index into session->jobs. It is
 * remembered, and chosen again when it comes again.
 */
void session_choose_job(struct session *session, size_t index);

/* Commands act on the rank. */
bool session_is_focused(const struct session *session, const struct rank *rank);
/* Adds the numbers of the session's ranks to *set. */
void session_add_ranks(const struct session *session, struct rankset *set);
/* Lends; NULL if there is none. */
struct rank *session_find_rank(const struct session *session, int rank);
/*
 * A process is named by its pid on its node. Also others and children; not
 * what has exited.
 */
struct rank *session_find_pid(const struct session *session, size_t node, pid_t pid);
/* The same, and ranks that have exited. */
const struct rank *session_find_any_pid(const struct session *session, size_t node, pid_t pid);
/* What runs in a frame now; NULL: there is none, or it was not read. */
const struct code *session_find_code(const struct session *session, size_t node, pid_t pid,
				     pid_t tid, int depth);
/*
 * The stop (debugger.h's count) at which a debugger of ours has this thread
 * (0: whichever it has); 0: none has it. Until the next one its variables stay
 * what they are, unless a person has something run there (session_touch).
 */
uint64_t session_find_stop(const struct session *session, size_t node, pid_t pid, pid_t tid);
/* A person had something run in this rank. */
void session_touch(struct session *session, int rank);
uint64_t session_find_touched(const struct session *session, size_t node, pid_t pid);
const struct rank *session_selected(const struct session *session);
/* The process that is looked at: the selected rank, or a child of it. */
const struct rank *session_looked_at(const struct session *session);
/* Commands reach the rank: there is one, and the session is not a recording's. */
bool session_controls(const struct session *session, const struct rank *rank);
/* One of that process's. */
const struct thread *session_selected_thread(const struct session *session);
/*
 * What is shown of a thread: its Python stack, or the one merged with native
 * frames. Depths count in the Python stack. NULL: there is none.
 */
const struct stack *session_shown_stack(const struct session *session, const struct thread *thread);
/* Appends "symbols 3/8 · libtorch_cpu.so"; false: no node is at work. */
bool session_append_progress(struct buffer *out, const struct session *session);
/* Index of the selected frame in that thread's stack; -1 none. */
int session_selected_depth(const struct session *session);
/*
 * Whose files to read for a process: its own; those of another rank of its
 * machine when it is gone. A recording has each file once a machine, so there
 * session_find_source takes that of any rank of the same machine.
 */
pid_t session_source_pid(const struct session *session, size_t node, pid_t pid);
const struct source *session_find_source(const struct session *session, size_t node, pid_t pid,
					 const char *path);
/*
 * depth -1: by address. The newest that came; may be of an older epoch, but
 * not of another function than the one at that depth now.
 */
const struct variables *session_find_variables(const struct session *session, size_t node,
					       pid_t pid, pid_t tid, int depth, uint64_t address,
					       int64_t start);

/* For the model's own files: adds / removes the rank in the index by pid. */
void session_note_pid(struct session *session, struct rank *rank);
void session_forget_pid(struct session *session, const struct rank *rank);
/* Lends the rank that a child belongs to; NULL and a sentence. */
struct rank *session_find_parent(const struct session *session, size_t node,
				 const struct process *process, struct error *error);
/* What a node's answer to `discover` says; the job may be clear then. */
int session_discovered(struct session *session, size_t node, const json_t *body,
		       struct error *error);

/* For session_apply: the node gives ids of stacks anew (stack-table-reset.c). */
void session_drop_stacks(struct session *session, size_t node);
/* For session_apply: the newest answer replaces an older one. */
void session_add_variables(struct session *session, struct variables *owned_variables);
void session_add_source(struct session *session, size_t node, pid_t pid,
			struct source *owned_source);
/* All files that were read. */
void session_each_source(const struct session *session,
			 void (*each)(size_t node, pid_t pid, const struct source *source,
				      void *data),
			 void *data);
void session_clear_bystanders(struct session *session);

#endif
