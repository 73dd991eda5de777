/* options: the command line options, one row each. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/configfile.h"
#include "engine/replay-time.h"
#include "engine/settings.h"
#include "engine/transport.h"
#include "model/rankselect.h"

#define PID_MAXIMUM 4194304 /* PID_MAX_LIMIT, linux/threads.h */
#define CONNECT_MAXIMUM 4096
#define BREAKS_MAXIMUM 256

static void options_set_string(char **string, const char *value)
{
	free(*string);
	*string = xstrdup(value);
}

static int set_ranks(struct settings *settings, const char *value, struct error *error)
{
	struct rankselect select = RANKSELECT_INIT;
	char *joined;

	if (rankselect_parse(&select, value, error) < 0)
		return error_prefix(error, "--ranks");
	rankselect_clear(&select);
	joined = settings->ranks ? xasprintf("%s,%s", settings->ranks, value) : xstrdup(value);
	free(settings->ranks);
	settings->ranks = joined;
	return 0;
}

static int options_add_pid(struct settings *settings, const char *text, size_t length,
			   struct error *error)
{
	char digits[16] = "";
	char *end = digits;
	long pid = 0;

	if (length < sizeof(digits)) {
		memcpy(digits, text, length);
		errno = 0;
		pid = strtol(digits, &end, 10);
	}
	if (length == 0 || end != digits + length || errno || pid < 1 || pid > PID_MAXIMUM)
		return error_set(error, "--pid: '%.*s' is not a pid (try --pid 4183,4184)",
				 (int)(length < 40 ? length : 40), text);
	settings_add_pid(settings, (pid_t)pid);
	return 0;
}

static int set_pid(struct settings *settings, const char *value, struct error *error)
{
	for (;;) {
		size_t length = strcspn(value, ",");

		if (options_add_pid(settings, value, length, error) < 0)
			return -1;
		if (value[length] == '\0')
			return 0;
		value += length + 1;
	}
}

static int set_job(struct settings *settings, const char *value, struct error *error)
{
	if (value[0] == '\0')
		return error_set(error,
				 "--job needs a port (MASTER_PORT) or the pid of a launcher");
	options_set_string(&settings->job, value);
	return 0;
}

static int add_break(struct settings *settings, const char *value, struct error *error)
{
	if (settings->break_count >= BREAKS_MAXIMUM)
		return error_set(error, "--break was given more than %d times", BREAKS_MAXIMUM);
	settings->breaks = xrealloc(settings->breaks, (settings->break_count + 1) * sizeof(char *));
	settings->breaks[settings->break_count++] = xstrdup(value);
	return 0;
}

static int set_replay(struct settings *settings, const char *value, struct error *error)
{
	(void)error;
	settings_add_replay(settings, value);
	return 0;
}

static int set_connect(struct settings *settings, const char *value, struct error *error)
{
	if (settings->connect_count >= CONNECT_MAXIMUM)
		return error_set(error, "--connect was given more than %d times", CONNECT_MAXIMUM);
	settings->connect =
		xrealloc(settings->connect, (settings->connect_count + 1) * sizeof(char *));
	settings->connect[settings->connect_count++] = xstrdup(value);
	if (strncmp(value, "ptrace:", 7) == 0)
		return set_pid(settings, value + 7, error);
	if (strncmp(value, "replay:", 7) == 0)
		return set_replay(settings, value + 7, error);
	if (settings_is_target(value))
		return 0;
	return error_set(error,
			 "--connect: '%.80s' is not a target; targets are agent:PID, "
			 "http://HOST:PORT, https://HOST:PORT, pdb:unix:PATH, pdb:tcp:HOST:PORT, "
			 "ptrace:PID and replay:FILE",
			 value);
}

static int add_machines(struct settings *settings, const char *value, struct error *error)
{
	if (settings->machine_count >= MACHINES_MAXIMUM)
		return error_set(error, "--on was given more than %d times", MACHINES_MAXIMUM);
	if (transport_check(value, error) < 0)
		return error_prefix(error, "--on");
	settings->machines =
		xrealloc(settings->machines, (settings->machine_count + 1) * sizeof(char *));
	settings->machines[settings->machine_count++] = xstrdup(value);
	return 0;
}

static int set_record(struct settings *settings, const char *value, struct error *error)
{
	(void)error;
	options_set_string(&settings->record, value);
	return 0;
}

static int set_record_locals(struct settings *settings, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	settings->wants_locals = true;
	return 0;
}

static int set_record_output(struct settings *settings, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	settings->wants_output = true;
	return 0;
}

static int set_at(struct settings *settings, const char *value, struct error *error)
{
	struct replay_time time;

	if (replay_time_parse(&time, value) < 0)
		return error_set(error, "--at: '%.40s' is not a time: use " REPLAY_TIME_FORMS,
				 value);
	options_set_string(&settings->at, value);
	return 0;
}

static int options_set_theme(struct settings *settings, const char *value, struct error *error)
{
	(void)error;
	options_set_string(&settings->theme, value);
	settings->theme_line = 0;
	return 0;
}

static int set_config(struct settings *settings, const char *value, struct error *error)
{
	(void)error;
	options_set_string(&settings->config, value);
	return 0;
}

static int set_script(struct settings *settings, const char *value, struct error *error)
{
	(void)error;
	options_set_string(&settings->script, value);
	return 0;
}

static int options_set_timeout(struct settings *settings, const char *value, struct error *error)
{
	if (setting_find("timeout", error)->set(settings, value, error) < 0)
		return error_prefix(error, "--timeout");
	settings->has_timeout = true;
	return 0;
}

static int set_json(struct settings *settings, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	settings->is_json = true;
	return 0;
}

static int options_set_read_only(struct settings *settings, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	settings->is_read_only = true;
	return 0;
}

static int set_yes(struct settings *settings, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	settings->is_yes = true;
	return 0;
}

static int options_set_ascii(struct settings *settings, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	settings->is_ascii = true;
	return 0;
}

static int set_no_mouse(struct settings *settings, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	settings->has_no_mouse = true;
	return 0;
}

static int set_tty(struct settings *settings, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	settings->wants_tty = true;
	return 0;
}

static int set_help(struct settings *settings, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	settings->wants_help = true;
	return 0;
}

static int set_version(struct settings *settings, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	settings->wants_version = true;
	return 0;
}

static int set_agent_path(struct settings *settings, const char *value, struct error *error)
{
	(void)value;
	(void)error;
	settings->wants_agent_path = true;
	return 0;
}

const struct setting_option setting_options[] = {
	{ "ranks", 0, "SET", "use only these ranks: 0-7,16 or 0-63/8", set_ranks },
	{ "pid", 0, "LIST", "use only these processes: 4183,4184", set_pid },
	{ "job", 0, "PORT", "use only the job of this MASTER_PORT or launcher pid", set_job },
	{ "on", 0, "MACHINES", "look at other machines: ssh:HOSTS, slurm:JOB", add_machines },
	{ "connect", 0, "TARGET", "connect to agent:PID or http://HOST:PORT (%r: rank)",
	  set_connect },
	{ "break", 0, "PLACE", "set a breakpoint in the started job: train.py:42", add_break },
	{ "replay", 0, "FILE", "replay a recording, or several as one job", set_replay },
	{ "at", 0, "TIME", "show the recording at this time (default: its end)", set_at },
	{ "record", 0, "FILE", "record the job, and its source files, to a new file", set_record },
	{ "record-locals", 0, NULL, "also record variables; secrets are masked",
	  set_record_locals },
	{ "record-output", 0, NULL, "also record the output of ranks that is shown",
	  set_record_output },
	{ "json", 0, NULL, "print one JSON document on standard output", set_json },
	{ "timeout", 0, "SECONDS", "set the time limit for an answer (default: 5)",
	  options_set_timeout },
	{ "theme", 0, "THEME", "use default, light, mono, high-contrast or your own",
	  options_set_theme },
	{ "config", 0, "FILE", "read this config file instead of the default one", set_config },
	{ "read-only", 0, NULL, "refuse to stop or change ranks, or run code in them",
	  options_set_read_only },
	{ "yes", 0, NULL, "answer yes to all confirmations", set_yes },
	{ "ascii", 0, NULL, "draw with ASCII characters only", options_set_ascii },
	{ "no-mouse", 0, NULL, "do not use the mouse", set_no_mouse },
	{ "script", 'x', "FILE", "run a script of commands (- reads standard input)", set_script },
	{ "tty", 0, NULL, "with -x: give the started job a terminal to read", set_tty },
	{ "agent-path", 0, NULL, "print the folder of the agent, for PYTHONPATH", set_agent_path },
	{ "version", 'V', NULL, "print the version", set_version },
	{ "help", 'h', NULL, "print this help", set_help },
};
const size_t setting_option_count = ARRAY_LENGTH(setting_options);
