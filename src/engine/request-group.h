/*
 * request_group: requests to several ranks that belong together, and two
 * functions: answered() for each answer as it comes, done() after the last
 * one. Without answered() the answers are kept for request_group_take(), in
 * the order in which they were asked for.
 *
 * answered() may add requests, and then done() comes after these; it must not
 * free the group. done() may free the group, or add requests for another
 * round. Neither is called from within request_group_add().
 */
#ifndef ENGINE_REQUEST_GROUP_H
#define ENGINE_REQUEST_GROUP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct engine;
struct request_group;

struct group_answer {
	int rank;     /* as request_group_add() got it */
	void *tag;    /* likewise; the group frees it after answered() */
	json_t *body; /* as request_done() gets them */
	const char *error;
	bool is_late; /* no answer came in time: error says so */
};

typedef void group_answered(struct engine *engine, const struct group_answer *answer, void *data);
typedef void group_done(struct engine *engine, void *data);

/* All functions may be NULL. */
struct request_group *request_group_new(struct engine *engine, group_answered *answered,
					group_done *done, void *data);
/* Cancels the requests that are open. NULL is fine. */
void request_group_free(struct request_group *group);
/* owned_tag: free()d with the request; may be NULL. */
void request_group_add(struct request_group *group, int rank, const char *command,
		       json_t *owned_arguments, void *owned_tag);
/* Requests without an answer. */
size_t request_group_open_count(const struct request_group *group);
/* All that were added and are not taken; of a group with answered() the open ones. */
size_t request_group_count(const struct request_group *group);
int request_group_rank(const struct request_group *group, size_t i);
/*
 * In a shell: runs the loop until all are answered, or until seconds are over.
 * What is late then is answered by an error. Calls answered() and done().
 */
void request_group_wait(struct request_group *group, double seconds);
/* All open requests are answered by this error now. The group may be gone then. */
void request_group_expire(struct request_group *group, const char *error);
/* The next kept answer, lent until the next call; false: all were taken. */
bool request_group_take(struct request_group *group, struct group_answer *answer);

#endif
