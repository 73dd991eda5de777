/*
 * error-file: the file that a rank of torchrun writes when it raises, named by
 * TORCHELASTIC_ERROR_FILE in its environment, as JSON: torch's
 * distributed/elastic/multiprocessing/errors/error_handler.py.
 */
#ifndef BACKENDS_DISCOVER_ERROR_FILE_H
#define BACKENDS_DISCOVER_ERROR_FILE_H

#include <jansson.h>

struct process;
struct procfs;

struct error_file {
	char *path;   /* NULL: it has none */
	int folder;   /* O_PATH, of the folder as the process saw it; -1 */
	json_t *last; /* the error file's content read after the process ended; NULL: not read */
};

void error_file_init(struct error_file *file);
void error_file_clear(struct error_file *file);
/* Looks it up in the environment and opens its folder, once. */
void error_file_find(struct error_file *file, struct procfs *procfs, const struct process *process);
/*
 * {path, message, callstack, timestamp, written, error}: each null where the
 * file does not say it, values of secrets masked; error says why the file
 * cannot be read. null: it was not written (yet).
 */
json_t *error_file_read(const struct error_file *file);
/*
 * The process has ended: what it left is read for the last time and kept, and
 * the folder is let go.
 */
void error_file_settle(struct error_file *file);
/* For tests: what the text of such a file says, without `written`. */
json_t *error_file_parse(const char *path, const char *text);

#endif
