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
	char *path;   /* NULL: the rank has no error file */
	int folder;   /* O_PATH descriptor of its folder, below the process's root; -1: none */
	json_t *last; /* the error file's content read after the process ended; NULL: not read */
};

void error_file_init(struct error_file *file);
void error_file_clear(struct error_file *file);
/* Reads the path from the process's environment and opens its folder, once. */
void error_file_find(struct error_file *file, struct procfs *procfs, const struct process *process);
/*
 * Returns {path, message, callstack, timestamp, written, error}: each null if the
 * file does not have it; secrets are masked; error says why the file cannot be
 * read. JSON null: the file does not exist (yet).
 */
json_t *error_file_read(const struct error_file *file);
/*
 * Call it after the process's exit: reads the file for the last time, keeps the
 * result, and closes the folder.
 */
void error_file_settle(struct error_file *file);
/* For tests: parses the text of an error file; `written` is null. */
json_t *error_file_parse(const char *path, const char *text);

#endif
