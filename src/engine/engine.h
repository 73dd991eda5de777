/*
 * engine: the session, the links to the nodes that feed the session, and the requests of commands.
 * The screen and a shell command drive the same engine.
 *
 * In one turn of the loop the links pass the lines that they read to the engine; the engine applies
 * these messages to the session, computes the verdict once, then calls changed() once.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/evidence.h"
#include "engine/jobs.h"
#include "engine/parameter-compare.h"
#include "engine/rank-query.h"
#include "engine/remote.h"
#include "engine/request.h"
#include "engine/settings.h"
#include "engine/tensor-compare.h"
#include "engine/tensor-requests.h"
#include "engine/timing.h"
#include "engine/watch-nan.h"
#include "model/session.h"

struct error;
struct link;
struct loop;
struct loop_timer;
struct message;
struct rank_answers;
struct record;
struct replay;
struct strmap;

/*
 * The requests that the engine_want_…() functions sent last: a repeated call does not send the same
 * request again within some seconds.
 */
#define WANTED_MAXIMUM 64
struct wanted_requests {
	struct wanted {
		char *key; /* command and arguments, as text */
		double at; /* session time of sending */
	} ring[WANTED_MAXIMUM];
	size_t count; /* number of entries ever written */
};

/* How a screen plays the recording. Only replay.c writes these members. */
struct playback {
	bool is_played; /* true: at the pace of the recording; false: all lines at once */
	bool is_paused;
	double offset;		  /* session time minus loop_now() */
	struct loop_timer *timer; /* NULL: paused, or at the end */
	const char *damage;	  /* why the time that is shown cannot be read; NULL: it can */
};

/* The recording that is being written. Only recorder.c writes these members. */
struct record_state {
	struct record *record;		/* NULL: nothing is recorded */
	struct loop_timer *timer;	/* flushes record periodically */
	struct strmap *sources;		/* source paths already requested; NULL: none */
	struct loop_signal *signals[3]; /* that end the program and the recording; NULL: none */
	bool has_failed; /* the file could not be written: what followed was not recorded */
};

/*
 * The commands of a screen that wait for ranks' answers. Only rank-answers.c writes these members.
 */
struct pending_answers {
	struct rank_answers **items;
	size_t count;
	size_t capacity;
	uint64_t newest; /* rank_answers.number of the newest command */
};

/* The job that probetui starts. */
struct started_job {
	uint64_t breakpoints; /* breakpoints.revision last sent to the node for the job */
	int rows;	      /* rows and columns of the job's terminal; 0: default */
	int columns;
	bool passes_input; /* probetui's standard input becomes the job's */
	/* Called with the job's output, in a shell; may be NULL. */
	void (*printed)(const char *text);
};

/* A message for the person that the screen has not shown yet. */
struct notice {
	char *text; /* NULL: none */
	bool is_error;
};

/* A process whose output or console the node sends as it is written. */
struct followed_process {
	size_t node;
	pid_t pid; /* 0: none */
};

struct engine {
	struct settings settings;
	struct session session;
	struct loop *loop;
	struct link **links; /* links[i] leads to session.nodes[i] */
	size_t link_count;
	struct replay *replay; /* replay of a recording in place of nodes; NULL: live */
	struct playback playback;
	struct record_state recording;
	struct remote remote;
	bool has_refused;		 /* a node of another version was refused */
	struct loop_timer *follow_timer; /* handles what several nodes have sent; NULL: nothing */
	struct requests requests;
	struct pending_answers pendings;
	struct rank_answers *connecting; /* a shell's open `connect` requests; NULL: none */
	bool is_unconnected;		 /* a target of --connect could not be connected to */
	/* Bits 1 << number of the signals that the running command handles by itself. */
	uint32_t handled_signals;
	struct notice notice;
	struct rank_query rank_query;	   /* the rank query that waits for answers */
	struct parameter_compare params;   /* the comparison of `diff-params` */
	struct parameter_compare parts;	   /* the comparison of the parts of values for `compare` */
	struct value_difference differing; /* element by element, for `compare` */
	struct tensor_asking tensor;
	struct rankset holds; /* ranks stopped at an exception by their agents, which were connected
			       * to */
	struct {
		bool stops_on_signal;
		bool stays_stopped;
	} sent;				 /* settings in the last `set` request to the node */
	uint64_t stops_seen;		 /* number of entries of session.stops already reported */
	struct request_group *discovery; /* the first discover requests; NULL: answers were taken */
	struct wanted_requests wanted;
	double started_at;	/* loop_now() at session time 0; not used in a replay */
	bool skips_names;	/* samples need no thread names */
	double sampling_period; /* seconds; 0: no periodic sampling */
	json_t *sampled; /* for each node the pids named in the last sample request; NULL: all */
	struct request_group *following; /* requests of collectives_follow(); NULL: none */
	double followed_at;		 /* session time of the last of them */
	struct evidence evidence;	 /* newest answers to `evidence` and `diagnose` */
	struct watch_nan watch_nan;
	struct users users;
	struct followed_process output;	 /* process whose output is followed */
	struct followed_process console; /* process whose debugger console is followed */
	struct timing timing;
	bool lists_jobs; /* the list of jobs is shown (jobs.h): all ranks of all jobs are sampled */
	struct started_job job;
	/*
	 * main() of the node, which is linked into this program; NULL: the node is a separate
	 * program.
	 */
	int (*node_program)(int count, char **words);
	bool is_screen; /* set before engine_start(): recordings play, new processes are followed */
	void (*changed)(void *data); /* called when the session has changed; may be NULL */
	void *changed_data;
};

/* For engine_wait(): seconds that no program runs. */
#define ENGINE_FOREVER (10 * 365 * 86400.0)

/* Takes ownership of the settings' contents. */
void engine_init(struct engine *engine, struct settings *owned_settings);
/* Frees everything. Returns false if a recording could not be written to its end. */
bool engine_clear(struct engine *engine);
/*
 * Starts the node, or opens the recording, and requests the ranks. Answers arrive through the loop.
 * With is_screen a recording plays; otherwise the whole recording is applied at once. Returns 0; -1
 * and *error.
 */
int engine_start(struct engine *engine, struct error *error);
/*
 * Sets the notice: one sentence for the person, about a result that a screen did not wait for. It
 * replaces a notice that was not taken yet.
 */
void engine_say(struct engine *engine, bool is_error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Returns the notice and removes it from the engine; free() it. NULL: there is no notice. */
char *engine_take_notice(struct engine *engine, bool *is_error);
/* Returns the session time now, in seconds. */
double engine_now(const struct engine *engine);
/*
 * Runs the loop until done(engine, data) returns true, `seconds` seconds have passed, or no node
 * can answer any more. Returns 0 if done() returned true, else -1. Shell commands wait this way; a
 * screen never waits.
 */
int engine_wait(struct engine *engine, bool (*done)(const struct engine *engine, void *data),
		void *data, double seconds);
/*
 * From now on the node looks for new processes every period seconds, and reports ended processes at
 * once.
 */
void engine_follow(struct engine *engine, double period);
/* Samples all chosen ranks every period seconds; 0 stops. */
void engine_sample_every(struct engine *engine, double period);
/* Turns native frames in stacks on or off, and takes a new sample if sampling is periodic. */
void engine_use_native(struct engine *engine, bool is_native);
/* Takes one sample of all chosen ranks now. */
void engine_sample_once(struct engine *engine);
/* These functions request data that the session lacks; a repeated call sends nothing. */
void engine_want_source(struct engine *engine, size_t node, pid_t pid, const char *path);
void engine_want_frame(struct engine *engine, size_t node, pid_t pid, pid_t tid, int depth);
void engine_want_children(struct engine *engine, size_t node, pid_t pid, uint64_t address,
			  int64_t start);
/*
 * From now on the node sends the output of this process, and no longer that of another process; pid
 * 0: of no process. A repeated call sends nothing.
 */
void engine_follow_output(struct engine *engine, size_t node, pid_t pid);
/* Like engine_follow_output(), for the debugger console of a process. */
void engine_follow_console(struct engine *engine, size_t node, pid_t pid);
/* Sends text unchanged to the debugger console of the process. */
void engine_type(struct engine *engine, size_t node, pid_t pid, const char *text);
/* Requests the last output lines of a process that has ended, unless they are known. */
void engine_want_output(struct engine *engine, size_t node, pid_t pid);
/* Requests the job's source files that the recording lacks, and waits for the answers. */
void engine_record_sources(struct engine *engine);
/*
 * Requests what --record-locals and --record-output ask for, as it is now, and waits for the
 * answers: the variables of all frames, and the last output of the ranks.
 */
void engine_record_extras(struct engine *engine);
/*
 * Records to a new file from now on. The file begins with what engine_keep() kept in memory and
 * with the present state. Data is written to the file within a second, so that a killed probetui
 * loses at most one second.
 */
int engine_record(struct engine *engine, const char *path, struct error *error);
/*
 * True if the recording that is replayed is damaged at the time that is shown, or its end is
 * missing and is shown.
 */
bool engine_replays_partly(const struct engine *engine);
/* From now on keeps the last `seconds` seconds in memory, for engine_record(). */
void engine_keep(struct engine *engine, double seconds);
/*
 * Ends the recording to a file, if there is one, by the signal `number`; 0: by no signal. Nothing
 * is recorded any more.
 */
void engine_record_end(struct engine *engine, int number);
/*
 * Copies the file that is being recorded, up to now, to the new file at path. Returns 0; -1 and
 * *error.
 */
int engine_record_copy(struct engine *engine, const char *path, struct error *error);
/* Like engine_record_end() without a signal; then another recording can be started. */
void engine_record_stop(struct engine *engine);
/*
 * Path of the file that is being recorded, borrowed; NULL: nothing is recorded, or only kept in
 * memory.
 */
const char *engine_record_path(const struct engine *engine);
/* In a replay: moves to a session time, limited to the times in the recording. */
void engine_seek(struct engine *engine, double time);
/*
 * In a replay: moves to the count-th change (replay_find_change) after the present time, or before
 * it if count is negative; if there are fewer changes, to the last one in that direction. Returns
 * false, and does not move, if there is no change.
 */
bool engine_seek_change(struct engine *engine, int count);
/* In a replay: pauses (is_held), or plays again. */
void engine_hold(struct engine *engine, bool is_held);

/*
 * Requests one sample of all chosen ranks from each node; pass the result to request_group_free().
 */
struct request_group *engine_ask_sample(struct engine *engine);
/*
 * True if `sample` must list pids (because of --ranks or --job), so that `discover` must be
 * answered first.
 */
bool engine_must_name_ranks(const struct engine *engine);
/* True if no node answers any more, or if the session is a replay. */
bool engine_is_deaf(const struct engine *engine);
/* For shell commands: computes the verdict and the classes from the present data. */
void engine_judge(struct engine *engine);

/* True if probetui started a job whose ranks may still appear. */
bool engine_awaits_ranks(const struct engine *engine);

/* The functions below are private to src/engine. */
/* Writes a line of the node, and its parsed message, to the recording, if there is one. */
void engine_record_line(struct engine *engine, const struct message *message, const char *line,
			size_t length);
/* Handles one line of a link: applies its message; ignores a line that is not a message. */
void engine_take_line(struct link *link, const char *line, size_t length, void *data);
void engine_apply(struct engine *engine, size_t node, const struct message *message, double now);
/* Call after a batch of messages: on a screen, computes the verdict and calls changed(). */
void engine_settle(struct engine *engine);
int engine_play(struct engine *engine, struct error *error);

#endif
