/*
 * previous: what the variables of stopped frames were at the stop before, as
 * far as somebody looked at them then, so that what changed since can be told.
 * Values are kept as hashes; the frames looked at last are kept, so many.
 */
#ifndef MODEL_PREVIOUS_H
#define MODEL_PREVIOUS_H

struct previous;
struct session;
struct variables;

struct previous *previous_new(void);
void previous_free(struct previous *previous);
/*
 * Sets stops and is_changed of variables that have just come: new ones, and
 * those that have another value than at the last stop at which they came.
 */
void previous_compare(struct session *session, struct variables *variables);

#endif
