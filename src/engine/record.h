/*
 * record: the log of the pipe, one line a message with the time since the
 * recording began. Others cannot read the file, and nothing is overwritten.
 *
 * Local variables are left out unless somebody asked for them. Of those, a
 * value is masked when the variable's name or the value itself contains token,
 * key, secret, password or auth; a secret that neither tells of is written.
 */
#ifndef ENGINE_RECORD_H
#define ENGINE_RECORD_H

#include <stdbool.h>
#include <stddef.h>

struct error;
struct message;
struct record;

/* Makes the file at path, which must not exist. NULL and a sentence. */
struct record *record_new(const char *path, struct error *error);
void record_free(struct record *record);
/* From now on variables are recorded as well. */
void record_want_variables(struct record *record);
/*
 * Writes a line of the pipe (without newline) whose message is given, at
 * time. -1 and a sentence once when the file cannot be written any more.
 */
int record_line(struct record *record, const struct message *message,
		const char *line, size_t length, double time,
		struct error *error);

#endif
