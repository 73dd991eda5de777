#include "engine/arguments.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"
#include "base/error.h"
#include "engine/nearest.h"

#define SECONDS_MAXIMUM 86400.0

static const struct argument *find(const struct arguments *arguments, const char *word,
				   size_t length)
{
	for (size_t i = 0; i < arguments->option_count; i++) {
		const struct argument *option = &arguments->options[i];

		if (strncmp(option->name, word, length) == 0 && option->name[length] == '\0')
			return option;
	}
	return NULL;
}

static int unknown(const struct arguments *arguments, const char *command, const char *word,
		   struct error *error)
{
	struct nearest nearest;

	nearest_init(&nearest, word);
	for (size_t i = 0; i < arguments->option_count; i++)
		nearest_offer(&nearest, arguments->options[i].name);
	if (nearest.best)
		return error_set(error, "%s has no option '%.40s'; did you mean %s?", command, word,
				 nearest.best);
	return error_set(error, "%s has no option '%.40s'; it is %s %s", command, word, command,
			 arguments->usage);
}

/* Takes argv[*i] as an option, and its value, which may be the next word. */
static int take_option(const struct arguments *arguments, int argc, char **argv, int *i,
		       struct error *error)
{
	const char *word = argv[*i];
	size_t length = strcspn(word, "=");
	const struct argument *option = find(arguments, word, length);

	if (!option)
		return unknown(arguments, argv[0], word, error);
	if (option->flag) {
		if (word[length] == '=')
			return error_set(error, "%s takes no value", option->name);
		*option->flag = true;
		return 0;
	}
	if (word[length] == '=')
		*option->value = word + length + 1;
	else if (*i + 1 < argc)
		*option->value = argv[++*i];
	else
		return error_set(error, "%s needs a value: %s %s", option->name, argv[0],
				 arguments->usage);
	return 0;
}

int arguments_parse(const struct arguments *arguments, int argc, char **argv, struct error *error)
{
	size_t count = 0;

	for (int i = 1; i < argc; i++) {
		if (strncmp(argv[i], "--", 2) != 0) {
			char *word = argv[i];

			/* Each word is freed once, by the caller. */
			argv[i] = argv[++count];
			argv[count] = word;
			continue;
		}
		if (take_option(arguments, argc, argv, &i, error) < 0)
			return -1;
	}
	if (count < arguments->minimum)
		return error_set(error, "%s needs more: %s %s", argv[0], argv[0], arguments->usage);
	if (count > arguments->maximum && arguments->usage[0] == '\0')
		return error_set(error, "%s takes no argument: '%.40s'", argv[0],
				 argv[arguments->maximum + 1]);
	if (count > arguments->maximum)
		return error_set(error, "'%.40s' is one word too many: %s %s",
				 argv[arguments->maximum + 1], argv[0], arguments->usage);
	return (int)count;
}

int arguments_count(int argc, char **argv, int *count, struct error *error)
{
	static const struct arguments one = {
		.maximum = 1,
		.usage = "[COUNT]",
	};
	int given = arguments_parse(&one, argc, argv, error);

	*count = 1;
	if (given <= 0)
		return given;
	return arguments_integer(argv[1], argv[0], 1, INT_MAX, count, error);
}

int arguments_integer(const char *text, const char *what, long minimum, long maximum, int *number,
		      struct error *error)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (end == text || *end != '\0' || errno || value < minimum || value > maximum) {
		if (maximum == INT_MAX)
			return error_set(error, "'%.40s' is not a %s (%ld or more)", text, what,
					 minimum);
		return error_set(error, "'%.40s' is not a %s (%ld to %ld)", text, what, minimum,
				 maximum);
	}
	*number = (int)value;
	return 0;
}

int arguments_seconds(const char *text, const char *what, double *seconds, struct error *error)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end != '\0' || !(value >= 0) || value > SECONDS_MAXIMUM)
		return error_set(error, "%s: '%.40s' is not a number of seconds (0 to 86400)", what,
				 text);
	*seconds = value;
	return 0;
}

int arguments_duration(const char *text, const char *what, double *seconds, struct error *error)
{
	static const struct {
		char letter;
		double seconds;
	} units[] = { { '\0', 1 }, { 's', 1 }, { 'm', 60 }, { 'h', 3600 } };
	char *end;
	double value = strtod(text, &end);

	for (size_t i = 0; i < ARRAY_LENGTH(units); i++) {
		if (end[0] != units[i].letter || (end[0] != '\0' && end[1] != '\0') || end == text)
			continue;
		value *= units[i].seconds;
		if (!(value > 0) || value > SECONDS_MAXIMUM)
			break;
		*seconds = value;
		return 0;
	}
	return error_set(error, "%s: '%.40s' is not a time of up to a day, such as 60s, 5m or 1h",
			 what, text);
}
