/*
 * record: the log of the pipe, one line a message with the time since the
 * session began, packed. Others cannot read the file, and nothing is
 * overwritten.
 *
 * A recording is a row of segments (engine/recording-segment.h). Each begins with a
 * snapshot of the session and names its stacks anew, so that it can be read
 * alone: what is sought is found without reading all that is before it, and
 * a recording may begin at any time, or keep only the last segments. A
 * recorder that is killed loses what came after the last record_flush().
 *
 * Local variables are left out unless somebody asked for them. Of those, a
 * value is masked when the variable's name or the value itself tells of a
 * secret (base/secret.h), and what is in it when it is opened; a secret that
 * nothing tells of is written.
 * What processes print is left out in the same way, and is never masked.
 */
#ifndef ENGINE_RECORD_H
#define ENGINE_RECORD_H

#include <stdbool.h>
#include <stddef.h>

struct error;
struct message;
struct record;
struct session;

/* Makes the file at path, which must not exist. NULL and a sentence. */
struct record *record_new(const char *path, struct error *error);
/*
 * No file: keeps at least the last seconds in memory, until record_save()
 * writes them; less where they take more than maximum bytes, packed.
 */
struct record *record_new_ring(double seconds, size_t maximum);
/*
 * Writes what a ring keeps to a new file, and goes on there as a recording
 * that was made by record_new(). On failure the ring stays as it is.
 */
int record_save(struct record *record, const char *path, struct error *error);
void record_free(struct record *record);
/* From now on variables are recorded as well. */
void record_want_variables(struct record *record);
/* And what processes print, while somebody looks at it. */
void record_want_output(struct record *record);
/* Whether variables were asked for. */
bool record_has_variables(const struct record *record);
/* Lends the file's path; NULL: it is a ring. */
const char *record_path(const struct record *record);
/*
 * The first segment begins with what the session is at that time; without it
 * with the first line, to which nothing was before.
 */
void record_begin(struct record *record, const struct session *session, double time);
/*
 * Writes a line of the first node's pipe (without newline) whose message is
 * given, at session time time; the session has applied it already. -1 and a
 * sentence once when the file cannot be written any more.
 */
int record_line(struct record *record, const struct session *session, const struct message *message,
		const char *line, size_t length, double time, struct error *error);
/*
 * What was written so far is in the file afterwards; costs nothing when it is
 * already. Fails as record_line does.
 */
int record_flush(struct record *record, struct error *error);

#endif
