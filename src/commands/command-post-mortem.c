/* command-post-mortem: what the logs of a job say of its end, without the job. */
#include <stdio.h>

#include "banned.h"
#include "base/buffer.h"
#include "base/error.h"
#include "commands/commands.h"
#include "engine/arguments.h"
#include "engine/collect.h"
#include "engine/command.h"
#include "engine/format.h"
#include "engine/post-mortem.h"

static int say_nothing(struct command_context *context, const struct post_mortem *found,
		       struct error *error)
{
	context->status = STATUS_NOTHING;
	if (found->unread)
		return error_set(error, "cannot read %s", found->unread);
	if (found->file_count == 0)
		return error_set(error, "no log found: give a file, or a folder with files *.log, "
					"*.err, *.out or error.json");
	return error_set(error, "no exception found in %zu file%s", found->file_count,
			 found->file_count == 1 ? "" : "s");
}

static int show(struct command_context *context, const struct post_mortem *found,
		struct error *error)
{
	bool has_exception = false;

	for (size_t i = 0; i < found->count; i++)
		has_exception |= found->ends[i].cause.last >= 0;
	if (!has_exception)
		return say_nothing(context, found, error);
	if (context->is_json)
		format_document(context->out, post_mortem_to_json(found));
	else
		post_mortem_append(context->out, found);
	context->status = STATUS_FINDING;
	if (found->unread && context->notes) {
		buffer_append_string(context->notes, "probetui: cannot read ");
		format_text(context->notes, found->unread);
		buffer_append_char(context->notes, '\n');
		context->status = STATUS_PARTIAL;
	}
	return 0;
}

static int post_mortem_run(struct command_context *context, const struct arguments *arguments,
			   struct error *error)
{
	struct post_mortem found = POST_MORTEM_INIT;
	int result = 0;

	for (size_t i = 0; i < arguments->count && result == 0; i++)
		result = post_mortem_read(&found, arguments->words[i], error);
	if (result < 0) {
		context->status = STATUS_USAGE;
	} else {
		post_mortem_judge(&found);
		result = show(context, &found, error);
	}
	post_mortem_clear(&found);
	return result;
}

const struct command command_post_mortem = {
	.name = "post-mortem",
	.synopsis = "PATH...",
	.help = "print which rank failed first, and why, by the logs of a job that has ended: "
		"torchrun's folder, Slurm's files",
	.flags = COMMAND_SHELL | COMMAND_ALONE,
	.run = post_mortem_run,
};
