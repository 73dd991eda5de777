/*
 * displays: expressions that are evaluated at each stop of the rank looked
 * at, and what came out. A part of the session's choice; the engine asks.
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
	int id; /* from 1 on */
	char *expression;
	/* The newest answer, and where it was asked: */
	char *value;	  /* NULL: none came yet, or error */
	char *error;	  /* why there is none; NULL */
	bool has_changed; /* from the answer before, of the same rank */
	pid_t pid;
	size_t node;
	uint64_t stops; /* debugger.stops of the process then */
	int depth;	/* of the frame */
	bool is_asked;	/* the answer is to come */
};

struct displays {
	struct display *items; /* by id */
	size_t count;
	size_t capacity;
	int last_id;
};

void displays_clear(struct displays *displays);
/* The id; -1 and a sentence when there are too many. */
int displays_add(struct displays *displays, const char *expression, struct error *error);
/* False: there is none with this id. */
bool displays_remove(struct displays *displays, int id);
/* The answer of the rank it was asked of; one of the two is NULL. */
/* Lends; NULL: there is none. */
struct display *displays_find(struct displays *displays, int id);
void display_answer(struct display *display, const char *value, const char *error);

#endif
