/*
 * command-set: lists the settings and their values, and changes those that can change at run time.
 */
#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/configfile.h"
#include "engine/debuggers.h"
#include "engine/engine.h"

static int set_run(struct command_context *context, const struct arguments *arguments,
		   struct error *error)
{
	struct settings *settings = &context->engine->settings;
	const struct setting *setting;
	const char *warning;

	if (arguments->count == 0) {
		setting_append_all(context->out, settings);
		return 0;
	}
	setting = setting_find(arguments->words[0], error);
	if (!setting)
		return -1;
	if (arguments->count == 1) {
		buffer_printf(context->out, "%s ", setting->name);
		setting->show(settings, context->out);
		buffer_append_char(context->out, '\n');
		return 0;
	}
	if (!setting->is_live)
		return error_set(
			error,
			"%s cannot be changed while probetui runs: set %s in the config file "
			"or with --%s",
			setting->name, setting->name, setting->name);
	if (setting->set(settings, arguments->words[1], error) < 0)
		return error_prefix(error, "%s", setting->name);
	debuggers_send_settings(context->engine);
	warning = setting->warn ? setting->warn(settings) : NULL;
	if (warning)
		buffer_printf(context->out, "%s\n", warning);
	collect_undone(context, "the setting is reset", ":set", "it");
	return 0;
}

const struct command command_set = {
	.name = "set",
	.synopsis = "[SETTING [VALUE]]",
	.help = "show or change settings",
	.flags = COMMAND_SHELL | COMMAND_SCREEN | COMMAND_TEXT | COMMAND_ALONE,
	.run = set_run,
};
