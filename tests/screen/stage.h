/*
 * stage: the screen without a terminal, for tests: a recording applied to its
 * end, keys and command lines as a person gives them, and the canvas as text.
 */
#ifndef TESTS_SCREEN_STAGE_H
#define TESTS_SCREEN_STAGE_H

#include "engine/engine.h"
#include "ui/app.h"

struct buffer;
struct CMUnitTest;

struct stage {
	struct engine engine;
	struct app app;
};

/* What the screen is to look like: golden/NAME.txt. */
struct stage_picture {
	const char *name;
	const char *recording; /* names, as stage_open takes them */
	int row_count;
	int column_count;
	const char *keys; /* pressed before */
	bool is_ascii;
};

/*
 * names: one or more files of tests/recordings, looked at together as if they
 * were live. Fails the test when they cannot be read.
 */
void stage_open(struct stage *stage, const char *names);
void stage_close(struct stage *stage);
/*
 * The same for cmocka: *state is a stage of 24x80, made by one, ended by the
 * other.
 */
int stage_begin(void **state, const char *names);
int stage_begin_hung8(void **state);
int stage_end(void **state);
void stage_resize(struct stage *stage, int row_count, int column_count);
/* Keys with blanks between them: "M Down Enter". */
void stage_keys(struct stage *stage, const char *keys);
/* Draws and appends the canvas as text. */
void stage_draw(struct stage *stage, struct buffer *out);
/* Fails unless the screen that is drawn now has text in a line, or has not. */
/* After the loop has ended the requests: without a node, by an error. */
void stage_check_answered(struct stage *stage, const char *text);
void stage_check_shows(struct stage *stage, const char *text);
void stage_check_hides(struct stage *stage, const char *text);
/*
 * Fails unless golden/NAME.txt holds just this text; with UPDATE_GOLDEN in the
 * environment it does from now on.
 */
void stage_check_golden(const char *name, const struct buffer *drawn);
/* Makes count tests of a list of pictures; test is given one as *state. */
void stage_add_pictures(struct CMUnitTest *tests, const struct stage_picture *list, size_t count,
			void (*test)(void **state));
/* Where the sources of the tests are. */
const char *stage_folder(void);

#endif
