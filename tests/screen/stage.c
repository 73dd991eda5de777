#include "stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

void stage_open(struct stage *stage, const char *name)
{
	struct error error = ERROR_INIT;
	struct settings settings;

	settings_init(&settings);
	settings.replay =
		xasprintf("%s/tests/recordings/%s", stage_folder(), name);
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
