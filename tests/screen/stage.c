#include "stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "ui/view.h"

const char *stage_folder(void)
{
	/* automake sets it. */
	const char *folder = getenv("srcdir");

	return folder != NULL ? folder : ".";
}

static void add_recording(struct settings *settings, const char *name)
{
	char *path = xasprintf("%s/tests/recordings/%s", stage_folder(), name);

	/* What is not checked in was made in the build folder. */
	if (access(path, R_OK) != 0) {
		free(path);
		path = xasprintf("tests/recordings/%s", name);
	}
	settings_add_replay(settings, path);
	free(path);
}

void stage_open(struct stage *stage, const char *names)
{
	struct error error = ERROR_INIT;
	struct settings settings;
	char *copy = xstrdup(names);
	char *state = NULL;

	settings_init(&settings);
	for (char *name = strtok_r(copy, " ", &state); name != NULL;
	     name = strtok_r(NULL, " ", &state))
		add_recording(&settings, name);
	free(copy);
	engine_init(&stage->engine, &settings);
	if (engine_start(&stage->engine, &error) < 0)
		fail_msg("%s", error.message);
	/* The pictures are those of a live session. */
	engine_judge(&stage->engine);
	stage->engine.session.is_replay = false;
	app_init(&stage->app, &stage->engine);
	stage->app.period = 0.25;
	stage->app.view.period = 0.25;
}

void stage_close(struct stage *stage)
{
	app_clear(&stage->app);
	engine_clear(&stage->engine);
}

int stage_begin(void **state, const char *names)
{
	struct stage *stage = xcalloc(1, sizeof(*stage));

	stage_open(stage, names);
	stage_resize(stage, 24, 80);
	*state = stage;
	return 0;
}

int stage_begin_hung8(void **state)
{
	return stage_begin(state, "hung8.jsonl");
}

int stage_end(void **state)
{
	stage_close(*state);
	free(*state);
	return 0;
}

void stage_resize(struct stage *stage, int row_count, int column_count)
{
	stage->app.view.row_count = row_count;
	stage->app.view.column_count = column_count;
}

void stage_keys(struct stage *stage, const char *keys)
{
	char *copy = xstrdup(keys);
	char *state = NULL;

	for (char *key = strtok_r(copy, " ", &state); key != NULL;
	     key = strtok_r(NULL, " ", &state))
		app_key(&stage->app, key);
	free(copy);
}

void stage_draw(struct stage *stage, struct buffer *out)
{
	app_draw(&stage->app);
	canvas_append(out, &stage->app.canvas);
}

void stage_check_answered(struct stage *stage, const char *text)
{
	requests_complete(&stage->engine);
	stage_check_shows(stage, text);
}

void stage_check_shows(struct stage *stage, const char *text)
{
	struct buffer drawn = BUFFER_INIT;

	stage_draw(stage, &drawn);
	if (strstr(drawn.data, text) == NULL)
		fail_msg("'%s' is not on the screen:\n%s", text, drawn.data);
	buffer_clear(&drawn);
}

void stage_check_hides(struct stage *stage, const char *text)
{
	struct buffer drawn = BUFFER_INIT;

	stage_draw(stage, &drawn);
	if (strstr(drawn.data, text) != NULL)
		fail_msg("'%s' is on the screen:\n%s", text, drawn.data);
	buffer_clear(&drawn);
}

static void write_golden(const char *path, const struct buffer *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text->data, 1, text->length, file), text->length);
	assert_int_equal(fclose(file), 0);
}

static void read_golden(const char *path, struct buffer *text)
{
	FILE *file = fopen(path, "r");
	char bytes[4096];
	size_t length;

	if (file == NULL)
		fail_msg("there is no %s; make it with UPDATE_GOLDEN=1", path);
	while ((length = fread(bytes, 1, sizeof(bytes), file)) > 0)
		buffer_append(text, bytes, length);
	fclose(file);
}

void stage_check_golden(const char *name, const struct buffer *drawn)
{
	char *path = xasprintf("%s/tests/screen/golden/%s.txt", stage_folder(), name);
	struct buffer golden = BUFFER_INIT;

	if (getenv("UPDATE_GOLDEN") != NULL) {
		write_golden(path, drawn);
	} else {
		read_golden(path, &golden);
		if (strcmp(drawn->data, golden.data) != 0)
			fail_msg("%s differs. Drawn now:\n%s", path, drawn->data);
	}
	buffer_clear(&golden);
	free(path);
}

void stage_add_pictures(struct CMUnitTest *tests, const struct stage_picture *list, size_t count,
			void (*test)(void **state))
{
	for (size_t i = 0; i < count; i++)
		tests[i] = (struct CMUnitTest){
			.name = list[i].name,
			.test_func = test,
			.initial_state = (void *)&list[i],
		};
}
