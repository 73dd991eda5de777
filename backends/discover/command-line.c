#include "backends/discover/command-line.h"

#include <stdio.h>
#include <string.h>

#include "banned.h"
#include "base/array.h"

struct launcher {
	const char *module; /* argument of -m, or file name of the script */
	const char *name;
};

static const struct launcher launchers[] = {
	{ "torchrun", "torchrun" },
	{ "torch.distributed.run", "torchrun" },
	{ "torch.distributed.launch", "torchrun" },
	{ "torch.distributed.elastic.multiprocessing", "torchrun" },
	{ "accelerate", "accelerate" },
	{ "accelerate.commands.launch", "accelerate" },
	{ "deepspeed", "deepspeed" },
	{ "deepspeed.launcher.launch", "deepspeed" },
	{ "deepspeed.launcher.runner", "deepspeed" },
	{ "horovodrun", "horovodrun" },
};

/* Script paths of launchers: `python -m MODULE` may appear as the module's file. */
static const struct launcher files[] = {
	{ "torch/distributed/run.py", "torchrun" },
	{ "torch/distributed/launch.py", "torchrun" },
};

static const char *find_launcher(const char *name)
{
	for (size_t i = 0; i < ARRAY_LENGTH(launchers); i++)
		if (strcmp(launchers[i].module, name) == 0)
			return launchers[i].name;
	return NULL;
}

static const char *find_launcher_file(const char *path)
{
	size_t length = strlen(path);

	for (size_t i = 0; i < ARRAY_LENGTH(files); i++) {
		size_t size = strlen(files[i].module);

		if (length >= size && strcmp(path + length - size, files[i].module) == 0)
			return files[i].name;
	}
	return NULL;
}

static void take_script(struct command_line *line, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	line->path = path;
	snprintf(line->script, sizeof(line->script), "%s", name);
	line->launcher = find_launcher(name);
	if (!line->launcher)
		line->launcher = find_launcher_file(path);
}

static void take_module(struct command_line *line, const char *module)
{
	snprintf(line->script, sizeof(line->script), "-m %s", module);
	line->launcher = find_launcher(module);
}

/*
 * Options of python (Python/getopt.c): letters may be combined (-um), and c, m, W and
 * X take the rest of their word, or the next word, as their argument.
 */
void command_line_parse(struct command_line *line, const char *const *words, size_t count)
{
	*line = (struct command_line){ .script = "" };
	for (size_t i = 1; i < count; i++) {
		const char *word = words[i];
		const char *option;
		const char *value;

		if (word[0] != '-' || word[1] == '\0') {
			take_script(line, word);
			return;
		}
		if (strcmp(word, "--check-hash-based-pycs") == 0)
			i++;
		if (word[1] == '-')
			continue;
		option = strpbrk(word + 1, "cmWX");
		if (!option)
			continue;
		value = option[1] ? option + 1 : (i + 1 < count ? words[++i] : "");
		if (*option == 'm')
			take_module(line, value);
		else if (*option == 'c')
			snprintf(line->script, sizeof(line->script), "-c");
		if (*option == 'm' || *option == 'c')
			return;
	}
}
