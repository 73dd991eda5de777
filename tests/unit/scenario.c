#include "scenario.h"

#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyz0123456789-"

static bool begins_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static void add_line(struct scenario *scenario, const char *text, int number)
{
	ARRAY_GROW(scenario->lines, scenario->count, scenario->capacity);
	scenario->lines[scenario->count++] =
		(struct scenario_line){ .text = xstrdup(text), .number = number };
}

static const struct scenario *find_scenario(const struct scenario_file *file, const char *name)
{
	for (size_t i = 0; i < file->count; i++) {
		if (strcmp(file->scenarios[i].name, name) == 0)
			return &file->scenarios[i];
	}
	return NULL;
}

/* Appends the text that *at, behind the "@", names; moves *at behind the name. */
static int scenario_append_let(struct buffer *out, const struct scenario_file *file,
			       const char **at, struct error *error)
{
	size_t length = strspn(*at, NAME_CHARACTERS);
	char *name = xstrndup(*at, length);
	const char *text = strmap_find(file->lets, name);
	size_t argument_length = 0;
	const char *argument = NULL;

	*at += length;
	if (**at == '(') {
		argument = *at + 1;
		argument_length = strcspn(argument, ")");
		*at = argument + argument_length + (argument[argument_length] == ')');
	}
	if (!text)
		error_set(error, "no `let %s` above", name);
	free(name);
	for (const char *from = text; from && *from; from++) {
		if (*from == '$' && argument)
			buffer_append(out, argument, argument_length);
		else
			buffer_append_char(out, *from);
	}
	return text ? 0 : -1;
}

static int scenario_expand(struct buffer *out, const struct scenario_file *file, const char *text,
			   struct error *error)
{
	while (*text) {
		if (*text == '@') {
			text++;
			if (scenario_append_let(out, file, &text, error) < 0)
				return -1;
		} else if (begins_with(text, "\\e")) {
			buffer_append_char(out, '\033');
			text += 2;
		} else {
			buffer_append_char(out, *text++);
		}
	}
	return 0;
}

static int scenario_take_let(struct scenario_file *file, const char *text, struct error *error)
{
	const char *equals = strstr(text, " = ");
	char *name;

	if (!equals)
		return error_set(error, "let NAME = TEXT");
	name = xstrndup(text, (size_t)(equals - text));
	strmap_put(file->lets, name, xstrdup(equals + strlen(" = ")));
	free(name);
	return 0;
}

static int scenario_take_name(struct scenario_file *file, const char *text, struct error *error)
{
	bool is_given = begins_with(text, "given ");
	const char *name = is_given ? text + strlen("given ") : text;

	if (find_scenario(file, name))
		return error_set(error, "\"%s\" stands above, too", name);
	ARRAY_GROW(file->scenarios, file->count, file->capacity);
	file->scenarios[file->count++] = (struct scenario){
		.path = file->path,
		.name = xstrdup(name),
		.is_given = is_given,
	};
	return 0;
}

/* Takes a line of the last scenario. */
static int scenario_take_step(struct scenario_file *file, const char *text, int number,
			      struct error *error)
{
	struct scenario *scenario = file->count > 0 ? &file->scenarios[file->count - 1] : NULL;
	const struct scenario *given;

	if (!scenario)
		return error_set(error, "a line of no scenario");
	if (!begins_with(text, "use ")) {
		add_line(scenario, text, number);
		return 0;
	}
	given = find_scenario(file, text + strlen("use "));
	if (!given || !given->is_given || given == scenario)
		return error_set(error, "no `given %s` above", text + strlen("use "));
	for (size_t i = 0; i < given->count; i++)
		add_line(scenario, given->lines[i].text, given->lines[i].number);
	return 0;
}

/* Takes a line with the lines that continue it. */
static int scenario_take_line(struct scenario_file *file, const char *line, int number,
			      struct error *error)
{
	struct buffer text = BUFFER_INIT;
	int result = scenario_expand(&text, file, line, error);

	if (result == 0 && *line == '\t')
		result = scenario_take_step(file, text.data + 1, number, error);
	else if (result == 0 && begins_with(line, "let "))
		result = scenario_take_let(file, text.data + strlen("let "), error);
	else if (result == 0 && *line)
		result = scenario_take_name(file, text.data, error);
	if (result < 0)
		error_prefix(error, "%s:%d", file->path, number);
	buffer_clear(&text);
	return result;
}

static int scenario_read_lines(struct scenario_file *file, char *text, struct error *error)
{
	struct buffer line = BUFFER_INIT;
	int first = 0;
	int result = 0;

	for (int number = 1; result == 0 && *text; number++) {
		size_t length = strcspn(text, "\n");
		char *next = text + length + (text[length] == '\n');
		size_t indent = strspn(text, "\t");

		text[length] = '\0';
		if (indent > 1 || (indent == 1 && begins_with(line.data, "let "))) {
			buffer_printf(&line, " %s", text + indent);
		} else if (text[indent] != '\0' && text[indent] != '#') {
			result = scenario_take_line(file, line.data, first, error);
			buffer_reset(&line);
			buffer_append_string(&line, text);
			first = number;
		}
		text = next;
	}
	if (result == 0)
		result = scenario_take_line(file, line.data, first, error);
	buffer_clear(&line);
	return result;
}

int scenario_file_read(struct scenario_file *file, const char *path, struct error *error)
{
	struct buffer bytes = BUFFER_INIT;
	int result;

	*file = (struct scenario_file){ .path = xstrdup(path), .lets = strmap_new(free) };
	result = file_read(path, "the scenarios", &bytes, error);
	if (result == 0)
		result = scenario_read_lines(file, bytes.data, error);
	buffer_clear(&bytes);
	return result;
}

void scenario_file_clear(struct scenario_file *file)
{
	for (size_t i = 0; i < file->count; i++) {
		struct scenario *scenario = &file->scenarios[i];

		for (size_t j = 0; j < scenario->count; j++)
			free(scenario->lines[j].text);
		free(scenario->lines);
		free(scenario->name);
	}
	free(file->scenarios);
	strmap_free(file->lets);
	free(file->path);
}
