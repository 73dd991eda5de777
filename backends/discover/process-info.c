#include "backends/discover/process-info.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "backends/discover/command-line.h"
#include "backends/discover/process-scan.h"
#include "base/alloc.h"
#include "base/array.h"
#include "protocol/process.h"
#include "protocol/rankset.h"

/* Launchers that are no Python programs, by the beginning of their names. */
struct daemon {
	const char *prefix;
	const char *name;
};

static const struct daemon daemons[] = {
	{ "slurmstepd", "srun" },	 { "srun", "srun" },	  { "orted", "mpirun" },
	{ "prted", "mpirun" },		 { "orterun", "mpirun" }, { "prterun", "mpirun" },
	{ "mpirun", "mpirun" },		 { "mpiexec", "mpirun" }, { "hydra_pmi", "mpirun" },
	{ "probetui-node", "probetui" },
};

static void process_info_set_string(char **string, const char *value)
{
	free(*string);
	*string = xstrdup(value);
}

static void name_launcher(struct process_scan *scan, struct process_scan_entry *entry,
			  struct process *process)
{
	struct command_line line;

	process->launcher_pid = entry->pid;
	if (entry->is_python) {
		process_scan_words(scan, entry);
		command_line_parse(&line, entry->words, entry->word_count);
		process_info_set_string(&process->launcher,
					line.launcher ? line.launcher : "python");
		return;
	}
	for (size_t i = 0; i < ARRAY_LENGTH(daemons); i++) {
		if (strncmp(entry->stat.name, daemons[i].prefix, strlen(daemons[i].prefix)) == 0) {
			process_info_set_string(&process->launcher, daemons[i].name);
			return;
		}
	}
	process_info_set_string(&process->launcher, entry->stat.name);
}

/* Finds the rank's launcher: its nearest ancestor that is not the same rank (same family, rank and
 * local rank). */
static void fill_launcher(struct process_scan *scan, struct process_scan_entry *rank,
			  struct process *process)
{
	struct process_scan_entry *above = rank;

	for (int i = 0; i < PROCESS_SCAN_ANCESTORS_MAXIMUM; i++) {
		above = process_scan_parent(scan, above);
		if (!above || above->pid == 1)
			return;
		if (!above->is_launcher &&
		    environment_is_same_rank(&rank->environment, &above->environment))
			continue;
		name_launcher(scan, above, process);
		return;
	}
}

/* A process made by multiprocessing gets the script of the process that has made it. */
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

static void fill_environment(struct process *process, const struct environment *environment)
{
	char job[2 * ENVIRONMENT_TEXT + 2];

	process->rank = environment_number(environment, NUMBER_RANK);
	process->local_rank = environment_number(environment, NUMBER_LOCAL);
	process->group_rank = environment_number(environment, NUMBER_GROUP);
	process->world_size = environment_number(environment, NUMBER_SIZE);
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
