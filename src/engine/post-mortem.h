/*
 * post-mortem: what the logs of a job say of its end, without the job: the folder of torchrun's
 * logs (attempt_N/RANK/stderr.log, error.json), files of Slurm, any file with tracebacks.
 */
#ifndef ENGINE_POST_MORTEM_H
#define ENGINE_POST_MORTEM_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "engine/cause.h"

struct buffer;
struct error;
struct strmap;

/* The last exception of one rank, by one file. */
struct post_mortem_end {
	char *run;     /* folder of one start of torchrun; NULL: the log is not in such a folder */
	int attempt;   /* number of torchrun's restarts before; -1: unknown */
	int rank;      /* by the prefix "[rank2]: ", else by the file's folder; -1: unknown */
	bool is_local; /* by the folder: the rank on its machine */
	double at; /* seconds since 1970: by the error file, else when the log was last written */
	char *path;
	char *text;	    /* masked */
	struct cause cause; /* .last -1: the log has no exception */
};

struct post_mortem {
	struct post_mortem_end *ends; /* by run and attempt, and in it the first failure first */
	size_t count;
	size_t capacity;
	size_t file_count;   /* files that were read */
	struct strmap *seen; /* "DEVICE:INODE" of these */
	char *unread;	     /* why a file or folder was not read, a clause; NULL: all were */
};

#define POST_MORTEM_INIT { .ends = NULL }

/*
 * Reads a file, or the logs below a folder; symbolic links below it are not followed. Of a file the
 * last 4 MiB are read. Returns 0; -1 and *error: the path cannot be read.
 */
int post_mortem_read(struct post_mortem *post_mortem, const char *path, struct error *error);
/* Sorts the ends; to be called when all is read. */
void post_mortem_judge(struct post_mortem *post_mortem);
void post_mortem_clear(struct post_mortem *post_mortem);
/* As text, and as a JSON document (a new reference). */
void post_mortem_append(struct buffer *out, const struct post_mortem *post_mortem);
json_t *post_mortem_to_json(const struct post_mortem *post_mortem);

#endif
