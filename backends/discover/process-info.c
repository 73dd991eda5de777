#include "backends/discover/process-info.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/discover/process-scan.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "protocol/process.h"
#include "protocol/rankset.h"
#include "protocol/stack.h"

/* Launchers that are not Python programs, by the beginning of their names. */
struct daemon {
	const char *prefix;
	const char *name;
};

static const struct daemon daemons[] = {
	{ "slurmstepd", "srun" },	 { "srun", "srun" },
	{ "orted", "mpirun" },		 { "prted", "mpirun" },
	{ "orterun", "mpirun" },	 { "prterun", "mpirun" },
	{ "mpirun", "mpirun" },		 { "mpiexec", "mpirun" },
	{ "hydra_pmi", "mpirun" },	 { "raylet", "ray" },
	{ "probetui-node", "probetui" },
};

static void process_info_set_string(char **string, const char *value)
{
	free(*string);
	*string = xstrdup(value);
}

/*
 * Nothing that is read of a process that ends meanwhile says what program it ran. Its memory goes
 * first, and its command line with it; then it is a zombie.
 */
static bool process_info_has_ended(struct process_scan *scan,
				   const struct process_scan_entry *entry)
{
	struct procfs_stat now;
	char *bytes;
	ssize_t length;

	if (procfs_stat(scan->procfs, entry->pid, &now) < 0)
		return procfs_is_gone(errno);
	length = procfs_read(scan->procfs, entry->pid, "cmdline", &bytes, NULL);
	return procfs_has_ended(&now) || length == 0 || (length < 0 && procfs_is_gone(errno));
}

/* Sets launcher and launcher_pid; nothing if the process has just ended. */
static void name_launcher(struct process_scan *scan, struct process_scan_entry *entry,
			  struct process *process)
{
	const char *name = NULL;
	struct command_line line;

	if (entry->is_python) {
		process_scan_words(scan, entry);
		command_line_parse(&line, entry->words, entry->word_count);
		name = line.launcher ? line.launcher : "python";
	}
	for (size_t i = 0; i < ARRAY_LENGTH(daemons) && !name; i++) {
		if (strncmp(entry->stat.name, daemons[i].prefix, strlen(daemons[i].prefix)) == 0)
			name = daemons[i].name;
	}
	/* Of a zombie neither the program nor its words can be read. */
	if ((!name || (entry->is_python && entry->word_count == 0)) &&
	    process_info_has_ended(scan, entry))
		return;
	process->launcher_pid = entry->pid;
	process_info_set_string(&process->launcher, name ? name : entry->stat.name);
}

/* True if `above` belongs to the same rank, or is another rank of the same job: rank 0 of Lightning
 * starts the others. */
static bool is_within_job(const struct process_scan_entry *above,
			  const struct process_scan_entry *rank)
{
	if (above->is_launcher)
		return false;
	return environment_is_same_rank(&rank->environment, &above->environment) ||
	       (above->rank == above &&
		environment_is_same_job(&rank->environment, &above->environment));
}

/*
 * Fills in the rank's launcher: the nearest ancestor outside the job. A launcher that has just
 * ended is none, as it is for a rank whose parent is process 1 by then.
 */
static void fill_launcher(struct process_scan *scan, struct process_scan_entry *rank,
			  struct process *process)
{
	struct process_scan_entry *above = rank;

	for (int i = 0; i < PROCESS_SCAN_ANCESTORS_MAXIMUM; i++) {
		above = process_scan_parent(scan, above);
		if (!above || above->pid == 1)
			return;
		if (is_within_job(above, rank))
			continue;
		name_launcher(scan, above, process);
		return;
	}
}

/* A process started by multiprocessing gets the script of the process that has started it. */
static void fill_script(struct process_scan *scan, struct process_scan_entry *entry,
			struct process *process)
{
	struct command_line line;
	struct process_scan_entry *above = entry;
	char cwd[PATH_MAX];

	for (int i = 0; i < PROCESS_SCAN_ANCESTORS_MAXIMUM; i++) {
		struct process_scan_entry *parent;

		if (!process_scan_mentions(scan, above, "multiprocessing."))
			break;
		parent = process_scan_parent(scan, above);
		if (!parent || !parent->is_python)
			break;
		above = parent;
	}
	process_scan_words(scan, above);
	command_line_parse(&line, above->words, above->word_count);
	process_info_set_string(&process->script, line.script);
	if (procfs_link(scan->procfs, entry->pid, "cwd", cwd, sizeof(cwd)) < 0)
		cwd[0] = '\0';
	process_info_set_string(&process->cwd, cwd);
	if (!line.path)
		return;
	free(process->script_path);
	if (line.path[0] == '/' || !cwd[0])
		process->script_path = xstrdup(line.path[0] == '/' ? line.path : "");
	else
		process->script_path = xasprintf("%s/%s", cwd, line.path);
}

static void fill_slurm(struct process *process, const struct environment *environment)
{
	free(process->slurm_job);
	free(process->slurm_nodes);
	process->slurm_job = process->slurm_nodes = NULL;
	if (environment->slurm_job[0] == '\0')
		return;
	process->slurm_job = xstrdup(environment->slurm_job);
	process->slurm_nodes = xstrdup(environment->slurm_nodes);
}

static void fill_environment(struct process *process, const struct environment *environment)
{
	char job[2 * ENVIRONMENT_TEXT + 2];

	process->rank = environment_number(environment, NUMBER_RANK);
	process->local_rank = environment_number(environment, NUMBER_LOCAL);
	process->group_rank = environment_number(environment, NUMBER_GROUP);
	process->world_size = environment_number(environment, NUMBER_SIZE);
	fill_slurm(process, environment);
	if (process->rank > RANKSET_MAXIMUM)
		process->rank = -1;
	environment_job(environment, job, sizeof(job));
	process_info_set_string(&process->job, job);
}

void process_info_describe(struct process_scan *scan, struct process_scan_entry *entry,
			   struct process_scan_entry *rank, struct process *process)
{
	process->pid = entry->pid;
	process->uid = entry->uid;
	process->start_time = entry->stat.start_time;
	process->age = procfs_age(entry->stat.start_time);
	process_info_set_string(&process->host, scan->host);
	if (entry->stat.state == 'T' || entry->stat.state == 't')
		process->state = PROCESS_STOPPED;
	fill_environment(process, &rank->environment);
	fill_launcher(scan, rank, process);
	fill_script(scan, entry, process);
	if (rank != entry)
		process->parent_pid = rank->pid;
}

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
	{ "ray", "ray" },
	{ "ray.scripts.scripts", "ray" },
};

/*
 * Script paths of launchers: on the command line, `python -m MODULE` may appear as the path of the
 * module's file.
 */
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
	line->program = path;
	snprintf(line->script, sizeof(line->script), "%s", name);
	line->launcher = find_launcher(name);
	if (!line->launcher)
		line->launcher = find_launcher_file(path);
}

static void take_module(struct command_line *line, const char *module)
{
	line->program = module;
	snprintf(line->script, sizeof(line->script), "-m %s", module);
	line->launcher = find_launcher(module);
}

static void take_code(struct command_line *line, const char *code)
{
	line->program = code;
	snprintf(line->script, sizeof(line->script), "-c");
}

/*
 * Parses the options of python (Python/getopt.c): letters may be combined (-um), and the argument
 * of c, m, W and X is the rest of the word or, if nothing follows the letter, the next word.
 */
void command_line_parse(struct command_line *line, const char *const *words, size_t count)
{
	*line = (struct command_line){ .script = "" };
	/* Ray's title of a worker replaces the command line. */
	if (count == 1 && strncmp(words[0], "ray::", strlen("ray::")) == 0)
		snprintf(line->script, sizeof(line->script), "%s", words[0]);
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
			take_code(line, value);
		if (*option == 'm' || *option == 'c')
			return;
	}
}

/* Maximum number of frames that are checked, from the outermost one. */
#define FRAMES_MAXIMUM 256

/* A child has this role if the file of one of its frames contains `part`. */
struct role_file {
	const char *part;
	const char *role;
};

static const struct role_file role_files[] = {
	{ "torch/utils/data/_utils/worker.py", "dataloader" },
	{ "torch/_inductor/compile_worker/", "compile" },
	{ "torch/distributed/checkpoint/", "checkpoint" },
};

const char *child_kind_of_stack(const struct stack *stack)
{
	size_t count = stack->frame_count;

	/* From the outermost frame inwards: the first match wins. */
	for (size_t i = 0; i < count && i < FRAMES_MAXIMUM; i++) {
		const char *file = stack->frames[count - 1 - i].code->file;

		for (size_t j = 0; j < ARRAY_LENGTH(role_files); j++)
			if (strstr(file, role_files[j].part))
				return role_files[j].role;
	}
	return NULL;
}
