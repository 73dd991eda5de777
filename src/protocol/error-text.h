/*
 * error-text: what a rank of torchrun writes into its error file when it raises, as JSON: torch's
 * distributed/elastic/multiprocessing/errors/error_handler.py.
 */
#ifndef PROTOCOL_ERROR_TEXT_H
#define PROTOCOL_ERROR_TEXT_H

#include <jansson.h>

/*
 * Returns {path, message, callstack, timestamp, written, error}. Values that the text does not have
 * are null, and so is written; secrets are masked; error: why the text is no such file's.
 */
json_t *error_text_parse(const char *path, const char *text);
/* The same for a file that cannot be read. */
json_t *error_text_failed(const char *path, const char *error);

#endif
