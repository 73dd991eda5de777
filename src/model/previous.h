/*
 * previous: the values of stopped frames' variables at the stop before, as far as they
 * were requested then, to mark changed values. Values are stored as hashes, for a limited
 * number of frames.
 */
#ifndef MODEL_PREVIOUS_H
#define MODEL_PREVIOUS_H

struct previous;
struct session;
struct variables;

struct previous *previous_new(void);
void previous_free(struct previous *previous);
/*
 * Sets stops and is_changed of newly received variables: true for a variable that is new
 * or has another value than at the last stop for which the frame was requested.
 */
void previous_compare(struct session *session, struct variables *variables);

#endif
