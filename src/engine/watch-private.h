/*
 * watch-private: the state of a watch, which watching (watch.c) and writing about its outcome
 * (watch-report.c) share. Private to these two files.
 */
#ifndef ENGINE_WATCH_PRIVATE_H
#define ENGINE_WATCH_PRIVATE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/blame.h"
#include "engine/report.h"

struct command_context;
struct error;
struct watch_options;

enum outcome {
	OUTCOME_NONE, /* the wait continues */
	OUTCOME_STUCK,
	OUTCOME_FAILED,
	OUTCOME_ENDED,
	OUTCOME_ENDED_UNSEEN, /* exit codes are unknown */
};

struct watch {
	struct command_context *context;
	struct engine *engine;
	const struct watch_options *options;
	double period;
	/* session time until which samples are taken every HURRY_PERIOD; 0: every period */
	double hurry_until;
	size_t leaving;	   /* number of ranks that exit, at the last sample */
	uint64_t revision; /* session.revision at the last judgement */
	enum outcome outcome;
	int signal;   /* signal that asks probetui to exit; 0: none */
	char *before; /* newest verdict while all ranks were alive; NULL: none */
	struct blame blame;
	char *base;	 /* common part of the files' paths; NULL: no files */
	char *recording; /* path of the recording; NULL: none */
	struct report report;
	double began_at;  /* session time of the first sample */
	bool looks_less;  /* new ranks are searched for every LOOK_SECONDS */
	double stood;	  /* seconds without progress at the last judgement */
	json_t *attempts; /* documents of the attempts that failed before; NULL: none did */
	double failed_at; /* session time at which the report on the last failed attempt was
			     complete */
};

/* Writes one line to standard error at once; text that may come from outside is escaped. */
void watch_say(struct watch *watch, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Sets the report's event, headline, and the verdict before the event. */
void watch_describe(struct watch *watch);
/*
 * Writes the last minutes to a file, and continues to record into the file. An error is only
 * reported: the report is then written without the recording.
 */
void watch_begin_recording(struct watch *watch);
/*
 * Writes the report, the paths of both files or the document, and one line on standard error; of an
 * attempt that is not the last, keeps the document. Returns 0; -1 and *error: there is no report.
 */
int watch_finish(struct watch *watch, bool is_last, struct error *error);
/* Prints the document of the attempt that failed last: no other one followed. */
void watch_end_attempts(struct watch *watch);

#endif
