/*
 * The scripts for bash and zsh share their middle part: a `case` over the option before the cursor,
 * then a `case` over the command, whose branches call functions named _probetui_KIND. The head and
 * tail of each script define those functions and read the words from the shell. A command's
 * arguments are known only from its synopsis (engine/synopsis.h).
 */
#include "commands/shell-completion.h"

#include <stdbool.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "engine/command.h"
#include "engine/configfile.h"
#include "engine/settings.h"
#include "engine/synopsis.h"

struct shell {
	const char *name;
	const char *head;
	const char *tail;
	bool has_help; /* true: the shell shows a help text beside each word */
};

/* clang-format off */
static const char bash_head[] =
"# bash completion for probetui; made by `probetui completion bash`.\n"
"\n"
"_probetui_words()\n"
"{\n"
"\tlocal each\n"
"\tfor each; do\n"
"\t\t[[ $each == \"$word\"* ]] && COMPREPLY+=(\"$each\")\n"
"\tdone\n"
"}\n"
"\n"
"_probetui_files()\n"
"{\n"
"\tcompopt -o filenames 2>/dev/null\n"
"\tmapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
"}\n"
"\n"
"_probetui_themes()\n"
"{\n"
"\tlocal folder path\n"
"\tfor folder in \"${XDG_CONFIG_HOME:-$HOME/.config}/probetui/themes\" \\\n"
"\t\t\"${PROBETUI_THEMES:-}\" \"" PROBETUI_DATADIR "/themes\"; do\n"
"\t\t[ -n \"$folder\" ] || continue\n"
"\t\tfor path in \"$folder\"/*; do\n"
"\t\t\t[[ -f $path && ${path##*/} =~ ^[A-Za-z0-9_-]+$ ]] &&\n"
"\t\t\t\t_probetui_words \"${path##*/}\"\n"
"\t\tdone\n"
"\tdone\n"
"}\n"
"\n"
"_probetui()\n"
"{\n"
"\tlocal word=${COMP_WORDS[COMP_CWORD]} at=$COMP_CWORD i=1\n"
"\tlocal previous command= step\n"
"\tCOMPREPLY=()\n"
"\t# readline splits --option=value at the sign.\n"
"\t[ \"$word\" = = ] && word= && at=$((at + 1))\n"
"\t[ \"${COMP_WORDS[at - 1]}\" = = ] && at=$((at - 1))\n"
"\tprevious=${COMP_WORDS[at - 1]}\n"
"\twhile [ $i -lt $COMP_CWORD ]; do\n"
"\t\t_probetui_is_before \"${COMP_WORDS[i]}\" || break\n"
"\t\t[ \"${COMP_WORDS[i + 1]}\" = = ] && step=3\n"
"\t\ti=$((i + step))\n"
"\tdone\n"
"\t[ $i -lt $COMP_CWORD ] && command=${COMP_WORDS[i]}\n"
"\t[ $i -eq $((at - 1)) ] && previous=\n"
"\t_probetui_arguments\n"
"}\n"
"\n";

static const char bash_tail[] =
"\n"
"complete -F _probetui probetui\n";

static const char zsh_head[] =
"#compdef probetui\n"
"# zsh completion for probetui; made by `probetui completion zsh`.\n"
"\n"
"_probetui_words()\n"
"{\n"
"\tlocal -a entries\n"
"\tentries=(\"$@\")\n"
"\t_describe probetui entries\n"
"}\n"
"\n"
"_probetui_files()\n"
"{\n"
"\t_files\n"
"}\n"
"\n"
"_probetui_themes()\n"
"{\n"
"\tlocal folder\n"
"\tlocal -a entries\n"
"\tfor folder in \"${XDG_CONFIG_HOME:-$HOME/.config}/probetui/themes\" \\\n"
"\t\t\"${PROBETUI_THEMES:-}\" \"" PROBETUI_DATADIR "/themes\"; do\n"
"\t\t[ -n \"$folder\" ] || continue\n"
"\t\tentries+=(\"$folder\"/[A-Za-z0-9_-]##(.N:t))\n"
"\tdone\n"
"\tcompadd -- $entries\n"
"}\n"
"\n"
"_probetui()\n"
"{\n"
"\temulate -L zsh\n"
"\tsetopt extended_glob\n"
"\tlocal word=$words[CURRENT] previous=$words[CURRENT-1] command= i=2 step\n"
"\t# An option's value may stand behind a sign.\n"
"\tif [[ $word == --*=* ]]; then\n"
"\t\tprevious=${word%%=*}\n"
"\t\tcompset -P '*='\n"
"\tfi\n"
"\twhile [ $i -lt $CURRENT ]; do\n"
"\t\t_probetui_is_before \"$words[i]\" || break\n"
"\t\ti=$((i + step))\n"
"\tdone\n"
"\t[ $i -lt $CURRENT ] && command=$words[i]\n"
"\t[ $i -eq $((CURRENT - 1)) ] && previous=\n"
"\t_probetui_arguments\n"
"}\n"
"\n";

static const char zsh_tail[] =
"\n"
"if [ \"$funcstack[1]\" = _probetui ]; then\n"
"\t_probetui \"$@\"\n"
"else\n"
"\tcompdef _probetui probetui\n"
"fi\n";
/* clang-format on */

static const struct shell shells[] = {
	{ "bash", bash_head, bash_tail, false },
	{ "zsh", zsh_head, zsh_tail, true },
};

/* A script that is being written. */
struct script {
	struct buffer *out;
	const struct shell *shell;
	const struct command_tables *tables;
};

/* Appends one quoted word as an argument; for zsh with a colon and the word's help. */
static void shell_completion_append_word(const struct script *script, const char *prefix,
					 const char *word, const char *help)
{
	struct buffer *out = script->out;

	buffer_printf(out, " \\\n\t\t\t'%s%s", prefix, word);
	if (script->shell->has_help && help) {
		buffer_append_char(out, ':');
		for (; *help; help++) {
			if (*help == '\'')
				buffer_append_string(out, "'\\''");
			else
				buffer_append_char(out, *help);
		}
	}
	buffer_append_char(out, '\'');
}

static void begin_words(const struct script *script)
{
	buffer_append_string(script->out, "\t\t_probetui_words");
}

static void end_call(const struct script *script)
{
	buffer_append_char(script->out, '\n');
}

static void shell_completion_append_options(const struct script *script)
{
	begin_words(script);
	for (size_t i = 0; i < setting_option_count; i++)
		shell_completion_append_word(script, "--", setting_options[i].name,
					     setting_options[i].help);
	end_call(script);
}

static void append_settings(const struct script *script)
{
	begin_words(script);
	for (size_t i = 0; i < setting_row_count; i++)
		shell_completion_append_word(script, "", setting_rows[i].name,
					     setting_rows[i].help);
	end_call(script);
}

/* Calls append() for each command that a shell can run. */
static void for_commands(const struct script *script,
			 void (*append)(const struct script *script, const struct command *command))
{
	struct command_cursor cursor = { .tables = script->tables };
	const struct command *command;

	while ((command = command_cursor_next(&cursor)))
		append(script, command);
}

static void append_command_name(const struct script *script, const struct command *command)
{
	shell_completion_append_word(script, "", command->name, command->help);
}

static void append_commands(const struct script *script)
{
	begin_words(script);
	for_commands(script, append_command_name);
	end_call(script);
}

/* Appends the call that offers the values of a placeholder. */
static void shell_completion_append_kind(const struct script *script, enum synopsis_kind kind)
{
	switch (kind) {
	case SYNOPSIS_FILE:
		buffer_append_string(script->out, "\t\t_probetui_files\n");
		break;
	case SYNOPSIS_THEME:
		buffer_append_string(script->out, "\t\t_probetui_themes\n");
		break;
	case SYNOPSIS_COMMAND:
		append_commands(script);
		break;
	case SYNOPSIS_SETTING:
		append_settings(script);
		break;
	case SYNOPSIS_WORD:
	case SYNOPSIS_RANK:
	case SYNOPSIS_RANKS:
	case SYNOPSIS_FREE:
		break;
	}
}

/* Offers the words that can follow any word without a value of its own. */
static void append_fitting(const struct script *script, const struct synopsis_part *parts,
			   size_t count)
{
	bool has_words = false;

	for (size_t i = 0; i < count; i++) {
		if (!synopsis_fits(parts, count, i, NULL) || parts[i].kind != SYNOPSIS_WORD)
			continue;
		if (!has_words)
			begin_words(script);
		shell_completion_append_word(script, "", parts[i].text, NULL);
		has_words = true;
	}
	if (has_words)
		end_call(script);
	for (size_t i = 0; i < count; i++)
		if (synopsis_fits(parts, count, i, NULL))
			shell_completion_append_kind(script, parts[i].kind);
}

/* Appends a branch for each word that takes a value. */
static void shell_completion_append_values(const struct script *script,
					   const struct synopsis_part *parts, size_t count)
{
	buffer_append_string(script->out, "\t\tcase $previous in\n");
	for (size_t i = 1; i < count; i++) {
		if (!parts[i].is_value)
			continue;
		buffer_printf(script->out, "\t\t%s)\n", parts[i - 1].text);
		shell_completion_append_kind(script, parts[i].kind);
		buffer_append_string(script->out, "\t\treturn ;;\n");
	}
	buffer_append_string(script->out, "\t\tesac\n");
}

static void append_command(const struct script *script, const struct command *command)
{
	struct synopsis_part parts[SYNOPSIS_PARTS];
	size_t count = synopsis_split(command->synopsis, parts);
	bool has_values = false;

	if (count == 0)
		return;
	buffer_printf(script->out, "\t%s)\n", command->name);
	for (size_t i = 0; i < count; i++)
		has_values |= parts[i].is_value;
	if (has_values)
		shell_completion_append_values(script, parts, count);
	append_fitting(script, parts, count);
	buffer_append_string(script->out, "\t\t;;\n");
}

/*
 * Appends the function that says which words precede the command, and how many words each option
 * takes.
 */
static void append_steps(struct buffer *out)
{
	buffer_append_string(out, "# Words before the command.\n"
				  "_probetui_is_before()\n{\n"
				  "\tstep=1\n\tcase $1 in\n\t");
	for (size_t i = 0; i < setting_option_count; i++) {
		const struct setting_option *option = &setting_options[i];

		if (!option->argument)
			continue;
		buffer_printf(out, "--%s|", option->name);
		if (option->letter)
			buffer_printf(out, "-%c|", option->letter);
	}
	buffer_truncate(out, out->length - 1);
	buffer_append_string(out, ")\n\t\tstep=2 ;;\n\t-*|=) ;;\n"
				  "\t*) return 1 ;;\n\tesac\n}\n\n");
}

/* Appends the values of each option. */
static void append_option_values(const struct script *script)
{
	buffer_append_string(script->out, "\tcase $previous in\n");
	for (size_t i = 0; i < setting_option_count; i++) {
		const struct setting_option *option = &setting_options[i];
		struct synopsis_part parts[SYNOPSIS_PARTS];

		if (!option->argument || synopsis_split(option->argument, parts) == 0)
			continue;
		buffer_printf(script->out, "\t--%s", option->name);
		if (option->letter)
			buffer_printf(script->out, "|-%c", option->letter);
		buffer_append_string(script->out, ")\n");
		shell_completion_append_kind(script, parts[0].kind);
		buffer_append_string(script->out, "\t\treturn ;;\n");
	}
	buffer_append_string(script->out, "\tesac\n");
}

static void append_arguments(const struct script *script)
{
	struct buffer *out = script->out;

	buffer_append_string(out,
			     "# What may stand at the cursor: word, behind previous, for command.\n"
			     "_probetui_arguments()\n{\n");
	append_option_values(script);
	buffer_append_string(out, "\tcase $word in\n\t-*)\n");
	shell_completion_append_options(script);
	buffer_append_string(out, "\t\t;;\n\tesac\n\tcase $command in\n\t'')\n");
	append_commands(script);
	buffer_append_string(out, "\t\t;;\n");
	for_commands(script, append_command);
	buffer_append_string(out, "\tesac\n}\n");
}

int shell_completion_append(struct buffer *out, const char *shell,
			    const struct command_tables *tables, struct error *error)
{
	struct script script = {
		.out = out,
		.tables = tables,
	};

	for (size_t i = 0; i < ARRAY_LENGTH(shells); i++)
		if (strcmp(shells[i].name, shell) == 0)
			script.shell = &shells[i];
	if (!script.shell)
		return error_set(
			error, "'%.40s' is no shell that completion is there for; bash and zsh are",
			shell);
	buffer_append_string(out, script.shell->head);
	append_steps(out);
	append_arguments(&script);
	buffer_append_string(out, script.shell->tail);
	return 0;
}
