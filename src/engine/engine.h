/*
 * engine: the session, the pipes that feed it, and the commands that act on
 * it. The screen and a shell command drive the same engine.
 *
 * One turn of the loop: links append what they read, the engine applies it to
 * the session and judges once, then calls changed() once.
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "engine/evidence.h"
#include "engine/parameter-compare.h"
#include "engine/rank-query.h"
#include "engine/request.h"
#include "engine/settings.h"
#include "engine/tensor-requests.h"
#include "engine/timing.h"
#include "engine/users.h"
#include "engine/value-difference.h"
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

/* What engine_want_ asked for lately, so that asking twice is free. */
#define WANTED_MAXIMUM 64
struct wanted {
	char *key;
	double at;
};

struct engine {
	struct settings settings;
	struct session session;
	struct loop *loop;
	struct link **links; /* one a node; index = session node */
	size_t link_count;
	struct replay *replay; /* in place of a node; NULL: live */
	bool is_played;	       /* the recording plays at its pace */
	struct loop_timer *replay_timer;
	bool is_held;			 /* the recording stands still */
	double replay_offset;		 /* session time of a playing recording
					  * less the clock's */
	struct record *record;		 /* NULL: nothing is recorded */
	struct loop_timer *record_timer; /* writes it now and then */
	struct requests requests;
	struct rank_answers **pendings; /* a screen's, answers to come */
	size_t pending_count;
	size_t pending_capacity;
	uint64_t pending_number;	 /* of the last one */
	struct rank_answers *connecting; /* --connect's, of a shell; NULL */
	bool is_unconnected;		 /* some of these were not connected to */
	char *notice;			 /* said, and not yet taken; NULL: nothing */
	bool is_notice_error;
	struct rank_query rank_query;	   /* answers to it are to come */
	struct parameter_compare params;   /* asked for by diff-params */
	struct parameter_compare parts;	   /* of what compare asked for */
	struct value_difference differing; /* of its answers, being compared */
	struct tensor_asking tensor;
	struct rankset holds; /* held by agents that we have asked for */
	/* The node's settings, as `set` has sent them last. */
	bool node_stops_on_signal;
	bool node_stays_stopped;
	uint64_t stops_seen;		      /* of session.stops, for resumes to be said */
	char *gone_why;			      /* the last node that went; NULL */
	struct request *discovery;	      /* the first discover; NULL: taken */
	struct wanted wanted[WANTED_MAXIMUM]; /* ring */
	size_t wanted_count;		      /* ever written */
	double started_at;		      /* session time 0, live */
	bool skips_names;		      /* samples need no names of threads */
	double sampling_period;		      /* 0: none running */
	json_t *sampled;		      /* pids named in the last sample request; NULL: all */
	struct strmap *recorded_sources;      /* paths asked for; NULL: none */
	struct evidence evidence;	      /* newest answers */
	struct watch_nan watch_nan;
	struct users users;
	size_t printing_node; /* whose output is followed */
	pid_t printing_pid;   /* 0: none */
	size_t console_node;  /* whose debugger's session is followed */
	pid_t console_pid;    /* 0: none */
	struct timing timing;
	bool lists_jobs;	  /* jobs.h; all ranks are sampled */
	uint64_t job_breakpoints; /* the revision that its node has */
	int job_rows;		  /* of the terminal of a job that is started; 0: any */
	int job_columns;
	/* What it prints, for a shell; may be NULL. */
	void (*job_printed)(const char *text);
	/* main() of a node that is part of this program; NULL: none is. */
	int (*node_program)(int count, char **words);
	bool passes_input;	     /* our standard input is the job's */
	bool is_screen;		     /* set before engine_start: a
				      * recording plays, ranks are
				      * followed */
	void (*changed)(void *data); /* the session changed; may be NULL */
	void *changed_data;
};

/* Takes the settings over. */
void engine_init(struct engine *engine, struct settings *owned_settings);
void engine_clear(struct engine *engine);
/*
 * Starts the node, or opens the recording, and asks for the ranks. Answers
 * arrive through the loop. For a screen (is_screen) a recording plays; else it
 * is applied to its end at once.
 */
int engine_start(struct engine *engine, struct error *error);
/*
 * One sentence for the person, in place of what was not taken yet: what became
 * of something that a screen did not wait for.
 */
void engine_say(struct engine *engine, bool is_error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Passes it out, free() it; NULL: there is none. */
char *engine_take_notice(struct engine *engine, bool *is_error);
/* Session time now. */
double engine_now(const struct engine *engine);
/*
 * Runs the loop until done(engine, data), the time is over, or nobody is there
 * any more who could change something. 0 done, -1 not.
 * Shell commands wait so; a screen never does.
 */
int engine_wait(struct engine *engine, bool (*done)(const struct engine *engine, void *data),
		void *data, double seconds);
/*
 * From now on the node tells of what comes, every period seconds, and at once
 * of what goes.
 */
void engine_follow(struct engine *engine, double period);
/* Samples all chosen ranks every period seconds; 0 stops. */
void engine_sample_every(struct engine *engine, double period);
/* From now on stacks come, and are shown, with native frames, or without. */
void engine_use_native(struct engine *engine, bool is_native);
/* One sample of all chosen ranks now. */
void engine_sample_once(struct engine *engine);
/* Asks for what the session lacks; asking twice is free. */
void engine_want_source(struct engine *engine, size_t node, pid_t pid, const char *path);
void engine_want_frame(struct engine *engine, size_t node, pid_t pid, pid_t tid, int depth);
void engine_want_children(struct engine *engine, size_t node, pid_t pid, uint64_t address,
			  int64_t start);
/*
 * What this process prints is followed from now on, and no other's any more;
 * pid 0: nobody's. Asking again is free.
 */
void engine_follow_output(struct engine *engine, size_t node, pid_t pid);
/*
 * The session of this process's debugger is followed from now on, and no
 * other's any more; pid 0: nobody's. Asking again is free.
 */
void engine_follow_console(struct engine *engine, size_t node, pid_t pid);
/* Types text there, as it is. */
void engine_type(struct engine *engine, pid_t pid, const char *text);
/* The last lines of a process that has ended, if they are not known. */
void engine_want_output(struct engine *engine, size_t node, pid_t pid);
/* What a recording lacks of the user's files; waits for the answers. */
void engine_record_sources(struct engine *engine);
/*
 * Records to a new file from now on, beginning with what is known; what
 * engine_keep() kept stands before it. It is in the file within a second, so
 * that no more is lost if this program is killed.
 */
int engine_record(struct engine *engine, const char *path, struct error *error);
/* Keeps the last seconds in memory until engine_record() wants them. */
void engine_keep(struct engine *engine, double seconds);
/* Ends the recording, if there is one. */
void engine_record_stop(struct engine *engine);
/* Lends the path of what is being recorded; NULL: nothing, or only kept. */
const char *engine_record_path(const struct engine *engine);
/* Replays: moves to a session time, or the nearest end. */
void engine_seek(struct engine *engine, double time);
/*
 * Replays: moves to the count-th change (replay_find_change) after now, or
 * before it where count is negative; the last there is if there are fewer.
 * False: there is none, and nothing was moved.
 */
bool engine_seek_change(struct engine *engine, int count);
/* Replays: stands still, or plays on. */
void engine_hold(struct engine *engine, bool is_held);

/* Asks for one sample of all chosen ranks; request_take() it. */
struct request *engine_ask_sample(struct engine *engine);
/* True when sampling must name its processes, so needs discover's answer. */
bool engine_must_name_ranks(const struct engine *engine);
/* No node answers any more (or it is a replay). */
bool engine_is_deaf(const struct engine *engine);
/* Makes verdict and classes anew, for commands of a shell. */
void engine_judge(struct engine *engine);

/* A job is started by us, and ranks of it may still come. */
bool engine_awaits_ranks(const struct engine *engine);

/* Between the engine's own files: */
void engine_record_line(struct engine *engine, const struct message *message, const char *line,
			size_t length);
/* Which of the nodes a link is to. */
size_t engine_node_of(const struct engine *engine, const struct link *link);
/* A link's line: a message of its node, or nothing that is one. */
void engine_take_line(struct link *link, const char *line, size_t length, void *data);
void engine_apply(struct engine *engine, size_t node, const struct message *message, double now);
/* After a batch: judges and calls changed(), where a screen is there. */
void engine_settle(struct engine *engine);
int engine_play(struct engine *engine, struct error *error);

#endif
