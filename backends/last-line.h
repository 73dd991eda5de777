/*
 * last-line: the line that a process has printed last, which mostly says which step it was at.
 *
 * Programs print steps on standard output. Progress bars (tqdm) draw one line again and again on
 * standard error, each time behind a carriage return.
 */
#ifndef BACKENDS_LAST_LINE_H
#define BACKENDS_LAST_LINE_H

#include <jansson.h>
#include <sys/types.h>

struct buffer;
struct outputs;

/*
 * Returns a new object {line, progress} of a process that outputs remembers: the last line of its
 * standard output, and what a progress bar has drawn last on its standard error, each {path, line},
 * masked and cut; null where there is none, or the output goes to no file.
 */
json_t *last_line_to_json(struct outputs *outputs, pid_t pid);
/*
 * Appends the last line of text that is not blank, of one that was drawn again the last part;
 * without colours, and blanks around it. out is empty before.
 */
void last_line_append(struct buffer *out, const char *text);
/* Appends the last part of the last line of text that has a carriage return. */
void last_line_append_progress(struct buffer *out, const char *text);

#endif
