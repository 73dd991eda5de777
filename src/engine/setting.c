#include "engine/setting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/nearest.h"
#include "engine/settings.h"

#define TIMEOUT_MINIMUM 0.001
#define TIMEOUT_MAXIMUM 86400.0
#define PERIOD_MINIMUM 0.05
#define PERIOD_MAXIMUM 3600.0

static int parse_switch(const char *value, bool *is_on, struct error *error)
{
	if (strcmp(value, "on") != 0 && strcmp(value, "off") != 0)
		return error_set(error, "'%.40s' is neither on nor off", value);
	*is_on = strcmp(value, "on") == 0;
	return 0;
}

static void show_switch(struct buffer *out, bool is_on)
{
	buffer_append_string(out, is_on ? "on" : "off");
}

static int parse_seconds(const char *value, double minimum, double maximum, double *seconds,
			 struct error *error)
{
	double parsed = text_seconds(value);

	if (!(parsed >= minimum && parsed <= maximum))
		return error_set(error, "'%.40s' is not a number of seconds between %g and %g",
				 value, minimum, maximum);
	*seconds = parsed;
	return 0;
}

static int setting_set_theme(struct settings *settings, const char *value, struct error *error)
{
	(void)error;
	free(settings->theme);
	settings->theme = xstrdup(value);
	return 0;
}

static void show_theme(const struct settings *settings, struct buffer *out)
{
	buffer_append_string(out, settings->theme ? settings->theme : "default");
}

static int setting_set_timeout(struct settings *settings, const char *value, struct error *error)
{
	return parse_seconds(value, TIMEOUT_MINIMUM, TIMEOUT_MAXIMUM, &settings->timeout, error);
}

static void show_timeout(const struct settings *settings, struct buffer *out)
{
	buffer_printf(out, "%g", settings->timeout);
}

static int set_step_timeout(struct settings *settings, const char *value, struct error *error)
{
	return parse_seconds(value, TIMEOUT_MINIMUM, TIMEOUT_MAXIMUM, &settings->step_timeout,
			     error);
}

static void show_step_timeout(const struct settings *settings, struct buffer *out)
{
	buffer_printf(out, "%g", settings->step_timeout);
}

static int set_tolerance(struct settings *settings, const char *value, struct error *error)
{
	char *end;
	double parsed = strtod(value, &end);

	if (end == value || *end != '\0' || !(parsed >= 0) || isinf(parsed))
		return error_set(error, "'%.40s' is not a tolerance: a number, 0 or more", value);
	settings->tolerance = parsed;
	return 0;
}

static void show_tolerance(const struct settings *settings, struct buffer *out)
{
	buffer_printf(out, "%g", settings->tolerance);
}

static int set_threads(struct settings *settings, const char *value, struct error *error)
{
	if (strcmp(value, "all") != 0 && strcmp(value, "one") != 0)
		return error_set(error, "'%.40s' is neither all nor one", value);
	settings->stops_one_thread = strcmp(value, "one") == 0;
	return 0;
}

static void show_threads(const struct settings *settings, struct buffer *out)
{
	buffer_append_string(out, settings->stops_one_thread ? "one" : "all");
}

/* A thread stopped at a Python line holds the GIL and cannot release it. */
static const char *warn_of_threads(const struct settings *settings)
{
	return settings->stops_one_thread
		       ? "the others run on only in C code without the GIL: I/O, collectives, BLAS"
		       : NULL;
}

static int set_stop_on_signal(struct settings *settings, const char *value, struct error *error)
{
	return parse_switch(value, &settings->stops_on_signal, error);
}

static void show_stop_on_signal(const struct settings *settings, struct buffer *out)
{
	show_switch(out, settings->stops_on_signal);
}

static const char *warn_of_signals(const struct settings *settings)
{
	return settings->stops_on_signal ? "a scheduler that ends the job kills a rank that stays "
					   "stopped: it writes no checkpoint"
					 : NULL;
}

static int set_hold(struct settings *settings, const char *value, struct error *error)
{
	if (strcmp(value, "automatic") != 0 && strcmp(value, "stay") != 0)
		return error_set(error, "'%.40s' is neither automatic nor stay", value);
	settings->stays_stopped = strcmp(value, "stay") == 0;
	return 0;
}

static void show_hold(const struct settings *settings, struct buffer *out)
{
	buffer_append_string(out, settings->stays_stopped ? "stay" : "automatic");
}

static const char *warn_of_hold(const struct settings *settings)
{
	return settings->stays_stopped
		       ? "a collective that waits for a stopped rank may time out and end the job"
		       : NULL;
}

static int set_period(struct settings *settings, const char *value, struct error *error)
{
	if (strcmp(value, "automatic") == 0) {
		settings->period = 0;
		return 0;
	}
	return parse_seconds(value, PERIOD_MINIMUM, PERIOD_MAXIMUM, &settings->period, error);
}

static void show_period(const struct settings *settings, struct buffer *out)
{
	if (settings->period > 0)
		buffer_printf(out, "%g", settings->period);
	else
		buffer_append_string(out, "automatic");
}

static int setting_set_ascii(struct settings *settings, const char *value, struct error *error)
{
	return parse_switch(value, &settings->is_ascii, error);
}

static void show_ascii(const struct settings *settings, struct buffer *out)
{
	show_switch(out, settings->is_ascii);
}

static int set_mouse(struct settings *settings, const char *value, struct error *error)
{
	bool is_on = true;

	if (parse_switch(value, &is_on, error) < 0)
		return -1;
	settings->has_no_mouse = !is_on;
	return 0;
}

static void show_mouse(const struct settings *settings, struct buffer *out)
{
	show_switch(out, !settings->has_no_mouse);
}

static int setting_set_read_only(struct settings *settings, const char *value, struct error *error)
{
	return parse_switch(value, &settings->is_read_only, error);
}

static void show_read_only(const struct settings *settings, struct buffer *out)
{
	show_switch(out, settings->is_read_only);
}

const struct setting setting_rows[] = {
	{ "theme", "THEME", "colours of the screen", true, setting_set_theme, show_theme, NULL },
	{ "mouse", "on | off", "whether probetui uses the mouse", true, set_mouse, show_mouse,
	  NULL },
	{ "ascii", "on | off", "draw with ASCII characters only", true, setting_set_ascii,
	  show_ascii, NULL },
	{ "period", "automatic | SECONDS", "time between two samples", true, set_period,
	  show_period, NULL },
	{ "timeout", "SECONDS", "how long an answer may take", true, setting_set_timeout,
	  show_timeout, NULL },
	{ "step-timeout", "SECONDS", "after this time a step offers to resume stopped ranks", true,
	  set_step_timeout, show_step_timeout, NULL },
	{ "tolerance", "NUMBER", "difference that compare takes for equal; 0: the same bits", true,
	  set_tolerance, show_tolerance, NULL },
	{ "threads", "all | one",
	  "stop all threads of a rank, or one; others then run C code without the GIL", true,
	  set_threads, show_threads, warn_of_threads },
	{ "stop-on-signal", "on | off", "whether a stopped rank that gets a signal stays stopped",
	  true, set_stop_on_signal, show_stop_on_signal, warn_of_signals },
	{ "hold", "automatic | stay", "stopped ranks resume before collectives time out, or stay",
	  true, set_hold, show_hold, warn_of_hold },
	{ "read-only", "on | off", "refuse what stops, writes or runs code", false,
	  setting_set_read_only, show_read_only, NULL },
};
const size_t setting_row_count = ARRAY_LENGTH(setting_rows);

const struct setting *setting_find(const char *name, struct error *error)
{
	struct buffer names = BUFFER_INIT;
	struct nearest nearest;

	nearest_init(&nearest, name);
	for (size_t i = 0; i < setting_row_count; i++) {
		if (strcmp(setting_rows[i].name, name) == 0) {
			buffer_clear(&names);
			return &setting_rows[i];
		}
		nearest_offer(&nearest, setting_rows[i].name);
		buffer_printf(&names, "%s%s", i > 0 ? ", " : "", setting_rows[i].name);
	}
	if (nearest.best)
		error_set(error, "there is no setting '%.40s'; did you mean %s?", name,
			  nearest.best);
	else
		error_set(error, "there is no setting '%.40s'; there are %s", name, names.data);
	buffer_clear(&names);
	return NULL;
}

void setting_append_all(struct buffer *out, const struct settings *settings)
{
	for (size_t i = 0; i < setting_row_count; i++) {
		struct buffer value = BUFFER_INIT;

		setting_rows[i].show(settings, &value);
		buffer_printf(out, "%-14s  %-13s  %s (%s)\n", setting_rows[i].name, value.data,
			      setting_rows[i].help, setting_rows[i].values);
		buffer_clear(&value);
	}
}
