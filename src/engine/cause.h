/*
 * cause: why the ranks of a job ended: the exception of each, where it is known, and which rank was
 * the first to fail by itself, not because another one had exited.
 */
#ifndef ENGINE_CAUSE_H
#define ENGINE_CAUSE_H

#include <jansson.h>
#include <stdbool.h>

#include "model/traceback.h"
#include "protocol/rankset.h"

struct buffer;
struct engine;
struct rank;

enum cause_source {
	CAUSE_UNKNOWN,	  /* no exception is known */
	CAUSE_ERROR_FILE, /* the rank wrote it into torchrun's error file */
	CAUSE_PROCESS,	  /* sys.last_value of the process, read before its end */
	CAUSE_STDERR,	  /* the last traceback in the rank's standard error */
	CAUSE_THREAD,	  /* the last one of a thread there: the rank is alive, the thread is not */
	CAUSE_LAUNCHER,	  /* no exception: torchrun's own words, "SIGKILL" or "exit code 1" */
};

/* The exception of one rank. Strings are borrowed from the engine. */
struct cause {
	enum cause_source source;
	const char *path;	/* of the file; NULL: the source is no file */
	const char *text;	/* text of the file; NULL: the source is no file */
	struct rankset sharers; /* other ranks that print to the same file */
	struct traceback_list tracebacks;
	int last;   /* index of the exception in tracebacks; -1: it is not there */
	char *kill; /* clause behind "was killed by SIGKILL", why; NULL: not known, or it was not */
};

/*
 * Finds the exception of a rank that has ended or is shutting down, or of a thread of one that is
 * alive; for cause_clear().
 */
void cause_find(struct cause *cause, const struct engine *engine, const struct rank *rank);
void cause_clear(struct cause *cause);
/*
 * Appends how the rank ended: "raised ValueError: bad batch (data.py:12), and exited with code 1";
 * "exited with code 1; its last traceback: ValueError: …"; "was killed by SIGKILL"; of one that is
 * alive, "has lost its thread saver: OSError: …".
 */
void cause_append(struct buffer *out, const struct cause *cause, const struct rank *rank);
/* Appends the exception and what led to it; it must be known. */
void cause_append_exception(struct buffer *out, const struct cause *cause);
/* Returns a new object, or null: type, message, file, line, func, source, path, chain. */
json_t *cause_to_json(const struct cause *cause);

/*
 * Tells the session's ranks in a node's answer to `evidence` which exception has ended them, where
 * that is certain.
 */
void cause_learn(struct engine *engine, size_t node, const json_t *body);
/* True if the rank exited with a code above 0, or by a signal. */
bool cause_has_failed(const struct rank *rank);
/* For a rank that has exited: "exited with code 1"; "has exited" if the reason is not known. */
const char *cause_end(const struct rank *rank);

/* What the exception of a rank says of others. */
enum traceback_blame cause_blame(const struct engine *engine, const struct rank *rank);
/*
 * True if SIGTERM or SIGINT ended the rank, which launchers pass on or send to the ranks that are
 * left, and no exception says more.
 */
bool cause_was_ended(const struct engine *engine, const struct rank *rank);
/*
 * Returns the rank that failed first: one that failed by itself before one that says that it has
 * lost or waited for another, one that was killed by SIGTERM or SIGINT last; then by the time at
 * which the node saw the exit. One that waited too long comes before one that has lost another a
 * moment earlier. NULL: no rank has failed.
 */
const struct rank *cause_first_failed(const struct engine *engine);
/* True if the launcher of the rank was seen and has exited. */
bool cause_has_launcher_ended(const struct engine *engine, const struct rank *rank);
/*
 * Returns the rank that exited first, with code 0 or by SIGTERM or SIGINT, before `failed` lost a
 * connection or waited too long; NULL: none did.
 */
const struct rank *cause_first_gone(const struct engine *engine, const struct rank *failed);

#endif
