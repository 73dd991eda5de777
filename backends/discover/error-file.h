/*
 * error-file: the file that a rank of torchrun writes when it raises, named by
 * TORCHELASTIC_ERROR_FILE in its environment (protocol/error-text.h).
 */
#ifndef BACKENDS_DISCOVER_ERROR_FILE_H
#define BACKENDS_DISCOVER_ERROR_FILE_H

#include <jansson.h>

struct process;
struct procfs;

struct error_file {
	char *path;   /* NULL: the rank has no error file */
	int folder;   /* O_PATH descriptor of the file's folder, opened below /proc/PID/root; -1:
		       * none */
	json_t *last; /* the error file's content read after the process ended; NULL: not read */
};

void error_file_init(struct error_file *file);
void error_file_clear(struct error_file *file);
/* Reads the path from the process's environment and opens the file's folder. Does nothing if the
 * path is known already. */
void error_file_find(struct error_file *file, struct procfs *procfs, const struct process *process);
/*
 * Returns the object of error_text_parse(); error: why the file cannot be read or parsed. Returns
 * JSON null if the file does not exist (yet).
 */
json_t *error_file_read(const struct error_file *file);
/*
 * To be called after the process's exit: reads the file for the last time, keeps the result for
 * error_file_read(), and closes the folder.
 */
void error_file_settle(struct error_file *file);

#endif
