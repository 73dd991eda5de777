/*
 * record: writes a recording: one compressed line per message of the node, with the session time.
 * Only the owner can read the file (mode 0600), and no existing file is overwritten.
 *
 * A recording is a sequence of segments (engine/recording.h). Each segment begins with a
 * snapshot of the session and defines the stacks that it uses, so that it can be read without the
 * segments before it: seeking is quick, and a recording may begin at any time, or keep only the
 * last segments. A recorder that is killed loses the lines after the last record_flush().
 *
 * Local variables are left out unless they were asked for (record_want_variables). A recorded value
 * is masked if its variable's name or the value itself looks like a secret (base/secret.h), and so
 * are the members of a masked object; a secret that looks like any other value is written. Output
 * of processes is left out likewise (record_want_output), and masked like other text.
 */
#ifndef ENGINE_RECORD_H
#define ENGINE_RECORD_H

#include <stdbool.h>
#include <stddef.h>

struct error;
struct message;
struct record;
struct session;

/* Makes the file at path, which must not exist. NULL and *error on failure. */
struct record *record_new(const char *path, struct error *error);
/*
 * A recording without a file: keeps at least the last `seconds` seconds in memory until
 * record_save() writes them to a file; fewer seconds if their packed size exceeds maximum bytes.
 */
struct record *record_new_ring(double seconds, size_t maximum);
/*
 * Writes the segments in memory to a new file; later lines go to this file, as with record_new().
 * Returns 0; -1 and *error: the recording in memory is unchanged.
 */
int record_save(struct record *record, const char *path, struct error *error);
void record_free(struct record *record);
/* From now on answers with variables are recorded as well. */
void record_want_variables(struct record *record);
/* From now on output of processes that a view or a command follows is recorded as well. */
void record_want_output(struct record *record);
/* True if record_want_variables() was called. */
bool record_has_variables(const struct record *record);
/* The file's path, borrowed; NULL: the recording is in memory. */
const char *record_path(const struct record *record);
/*
 * Begins the first segment with a snapshot of the session at session time `time`. Without this call
 * the first record_line() does the same.
 */
void record_begin(struct record *record, const struct session *session, double time);
/*
 * Writes a line (without newline) of the first node; message is the parsed line, which the session
 * has already applied; time is the session time. Returns 0; -1 and *error, only once, when the file
 * cannot be written any more.
 */
int record_line(struct record *record, const struct session *session, const struct message *message,
		const char *line, size_t length, double time, struct error *error);
/*
 * Writes all lines so far to the file; does nothing if the file has them already. Fails as
 * record_line() does, and if the file was removed.
 */
int record_flush(struct record *record, struct error *error);
/*
 * Ends the recording at session time `time`, after a line with the name of the signal that ends the
 * program; NULL: none does. Later lines are not recorded. Fails as record_flush() does.
 */
int record_end(struct record *record, const char *signal, double time, struct error *error);
/*
 * Ends the current segment and copies the file to the new file at path. Returns 0; -1 and *error.
 */
int record_copy(struct record *record, const char *path, struct error *error);

#endif
