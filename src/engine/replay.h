/*
 * replay: a recording in place of a node: the messages of its lines, in
 * order, up to a time.
 *
 * The file is read once, completely, and is not opened again; nothing that it
 * names is opened at all. Each line was parsed when it was loaded, so later
 * only what the model refuses can fail. A last line without its newline is
 * where a recorder was killed and is left out.
 */
#ifndef ENGINE_REPLAY_H
#define ENGINE_REPLAY_H

#include <stdbool.h>
#include <stddef.h>

struct error;
struct message;
struct replay;

/* NULL and a sentence (with the line's number) for a broken file. */
struct replay *replay_new(const char *path, struct error *error);
void replay_free(struct replay *replay);
/*
 * Gives the next line's message when its time is not after until; the caller
 * clears it. False: there is none.
 */
bool replay_next(struct replay *replay, double until, struct message *message);
/* True when the last line was left out. */
bool replay_is_cut(const struct replay *replay);
/* Time of the next line, -1 at the end. */
double replay_next_time(const struct replay *replay);
/* Time of the last line. */
double replay_end_time(const struct replay *replay);
/* Back to the first line. */
void replay_rewind(struct replay *replay);

#endif
