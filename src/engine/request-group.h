/*
 * request_group: requests to several ranks that belong together, and two functions: answered() is
 * called for each answer, done() after the last answer. Without answered() the answers are kept for
 * request_group_take(), in the order of the requests.
 *
 * answered() may add requests; done() is then called after their answers; answered() must not free
 * the group. done() may free the group, or add requests for another round. Neither is called from
 * within request_group_add().
 */
#ifndef ENGINE_REQUEST_GROUP_H
#define ENGINE_REQUEST_GROUP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct engine;
struct request_group;

struct group_answer {
	int rank;     /* as passed to request_group_add() */
	void *tag;    /* as passed to request_group_add(); freed after answered() */
	json_t *body; /* as passed to request_done() */
	const char *error;
	bool is_late; /* no answer came in time; error says so */
};

typedef void group_answered(struct engine *engine, const struct group_answer *answer, void *data);
typedef void group_done(struct engine *engine, void *data);

/* answered and done may be NULL. */
struct request_group *request_group_new(struct engine *engine, group_answered *answered,
					group_done *done, void *data);
/* Cancels the open requests. group may be NULL. */
void request_group_free(struct request_group *group);
/* owned_tag: free()d with the request; may be NULL. */
void request_group_add(struct request_group *group, int rank, const char *command,
		       json_t *owned_arguments, void *owned_tag);
/* Number of requests without an answer. */
size_t request_group_open_count(const struct request_group *group);
/* Number of requests that were not taken; with answered(), of the open ones. */
size_t request_group_count(const struct request_group *group);
/* Rank of request i of these, from 0. */
int request_group_rank(const struct request_group *group, size_t i);
/*
 * Shell: runs the loop until all requests are answered, or seconds are over. Late requests are then
 * answered with an error. Calls answered() and done().
 */
void request_group_wait(struct request_group *group, double seconds);
/* Answers all open requests with this error now. done() may free the group. */
void request_group_expire(struct request_group *group, const char *error);
/* The next kept answer, borrowed until the group is freed; false: all answers were taken. */
bool request_group_take(struct request_group *group, struct group_answer *answer);

#endif
