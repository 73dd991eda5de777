/*
 * output: serves the request `output` for processes whose standard output and error are regular
 * files: sends the last output and, if the request says to follow, all new output. Events `output`
 * contain the file's bytes, cut only between characters. If a process prints too fast, or the pipe
 * is too slow, bytes are left out: an event of the category `important` reports the gap.
 */
#ifndef BACKENDS_OUTPUT_H
#define BACKENDS_OUTPUT_H

#include <stdbool.h>
#include <sys/types.h>

struct buffer;
struct message;
struct node;
struct outputs;
struct process;

struct outputs *outputs_new(struct node *node);
void outputs_free(struct outputs *outputs);
/* Remembers the files of the process, so that they can be read after its exit. */
void outputs_remember(struct outputs *outputs, const struct process *process);
/* Answers the request about an exited process. Returns false, without an answer, if the process is
 * not remembered. */
bool outputs_request_ended(struct outputs *outputs, pid_t pid, const struct message *request);
/*
 * Appends the last bytes, at most `maximum`, from a whole line on if one begins there, of standard
 * output (number 1) or error (2) of a process that is remembered, as it was then. Returns the
 * file's path, borrowed; NULL: there is no file.
 */
const char *outputs_read_last(struct outputs *outputs, pid_t pid, int number, size_t maximum,
			      struct buffer *out);
/* Answers the request about process. */
void outputs_request(struct outputs *outputs, const struct process *process,
		     const struct message *request);

#endif
