/*
 * displays: expressions that are evaluated at each stop of the selected rank, and their
 * values. A part of the session's choice; the engine sends the requests.
 */
#ifndef MODEL_DISPLAYS_H
#define MODEL_DISPLAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

#define DISPLAYS_MAXIMUM 50

struct display {
	int id; /* counts from 1 */
	char *expression;
	/* The newest answer, and the frame in which it was evaluated: */
	char *value;	  /* NULL: no answer yet, or error is set */
	char *error;	  /* NULL: no error */
	bool has_changed; /* value differs from the answer before, of the same rank */
	pid_t pid;
	size_t node;
	uint64_t stops; /* the process's debugger.stops at that time */
	int depth;	/* depth of the frame */
	bool is_asked;	/* a request is under way */
};

struct displays {
	struct display *items; /* sorted by id */
	size_t count;
	size_t capacity;
	int last_id;
};

void displays_clear(struct displays *displays);
/* Returns the id; -1 and *error: there are too many. */
int displays_add(struct displays *displays, const char *expression, struct error *error);
/* False: no such id. */
bool displays_remove(struct displays *displays, int id);
/* Returns a borrowed display; NULL: no such id. */
struct display *displays_find(struct displays *displays, int id);
/* Stores a new answer; either value or error is NULL. */
void display_answer(struct display *display, const char *value, const char *error);

#endif
