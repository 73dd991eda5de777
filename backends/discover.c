#include "backends/discover.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "banned.h"
#include "backends/commandline.h"
#include "backends/connections.h"
#include "backends/scan.h"
#include "base/alloc.h"
#include "base/array.h"
#include "protocol/rankset.h"

/* Higher family trees are not climbed. */
#define ANCESTORS_MAXIMUM 64

struct role {
	const char *mark; /* in the command line */
	const char *role; /* NULL: a helper of Python's own, not shown */
};

static const struct role roles[] = {
	{ "multiprocessing.resource_tracker", NULL },
	{ "multiprocessing.forkserver", NULL },
	{ "compile_worker", "compile" },
};

/* What starts ranks without being Python, by how its name begins. */
struct daemon {
	const char *prefix;
	const char *name;
};

static const struct daemon daemons[] = {
	{ "slurmstepd", "srun" },  { "srun", "srun" },
	{ "orted", "mpirun" },	   { "prted", "mpirun" },
	{ "orterun", "mpirun" },   { "prterun", "mpirun" },
	{ "mpirun", "mpirun" },	   { "mpiexec", "mpirun" },
	{ "hydra_pmi", "mpirun" },
};

static enum rank_family family_of(const struct scan_entry *entry)
{
	return environment_family(&entry->environment);
}

static bool is_candidate(const struct scan_entry *entry)
{
	return entry->is_python && family_of(entry) != FAMILY_NONE;
}

static bool is_running(struct scan *scan, struct scan_entry *entry)
{
	return scan_stat(scan, entry) && !procfs_has_ended(&entry->stat);
}

/* Started by multiprocessing: by its command line, or forked from Python. */
static bool is_made_by_python(struct scan *scan, struct scan_entry *entry)
{
	struct scan_entry *parent;

	if (scan_mentions(scan, entry, "multiprocessing.spawn") ||
	    scan_mentions(scan, entry, "--multiprocessing-fork"))
		return true;
	if (family_of(entry) == FAMILY_TORCH)
		return false;
	parent = scan_parent(scan, entry);
	if (!parent || !parent->is_python || !scan_words(scan, parent))
		return false;
	if (scan_mentions(scan, parent, "multiprocessing.forkserver"))
		return true;
	if (!scan_words(scan, entry) || entry->word_count != parent->word_count)
		return false;
	for (size_t i = 0; i < entry->word_count; i++)
		if (strcmp(entry->words[i], parent->words[i]) != 0)
			return false;
	return true;
}

/* What the program has set since it was started. */
static void ask_program(struct scan *scan, struct connections *connections,
			struct scan_entry *entry)
{
	if (is_made_by_python(scan, entry))
		connections_environment(connections, entry->pid,
					&entry->environment);
}

/* A worker of torchrun that starts a job of its own is still a rank. */
static bool starts_other_job(const struct scan_entry *above,
			     const struct scan_entry *entry)
{
	char job[2 * ENVIRONMENT_TEXT + 2];
	char other[2 * ENVIRONMENT_TEXT + 2];

	if (environment_number(&above->environment, NUMBER_LOCAL) < 0)
		return false;
	environment_job(&above->environment, job, sizeof(job));
	environment_job(&entry->environment, other, sizeof(other));
	return family_of(above) == family_of(entry) && strcmp(job, other) != 0;
}

/*
 * An ancestor that is another place in the job than a rank below it started
 * that rank, unless the one below is of a family that wins less (an MPI
 * helper of a torch rank).
 */
static void mark_launchers(struct scan *scan, struct scan_entry *entry)
{
	struct scan_entry *above = entry;

	for (int i = 0; i < ANCESTORS_MAXIMUM; i++) {
		above = scan_parent(scan, above);
		if (!above)
			return;
		if (is_candidate(above) &&
		    family_of(entry) <= family_of(above) &&
		    !environment_is_same_rank(&entry->environment,
					      &above->environment) &&
		    !starts_other_job(above, entry))
			above->is_launcher = true;
	}
}

static void mark_known_launcher(struct scan *scan, struct scan_entry *entry)
{
	struct commandline line;

	scan_words(scan, entry);
	commandline_parse(&line, entry->words, entry->word_count);
	if (line.launcher)
		entry->is_launcher = true;
}

/* The rank that entry is a child of; itself if it is one; else NULL. */
static struct scan_entry *find_rank(struct scan *scan, struct scan_entry *entry)
{
	struct scan_entry *above = entry;
	struct scan_entry *rank =
		is_candidate(entry) && !entry->is_launcher ? entry : NULL;

	if (entry->is_launcher)
		return NULL;
	for (int i = 0; i < ANCESTORS_MAXIMUM; i++) {
		above = scan_parent(scan, above);
		if (!above || above->is_launcher)
			break;
		if (is_candidate(above))
			rank = above;
	}
	return rank;
}

static struct process *add_process(struct discovery *discovery)
{
	struct process *process;

	ARRAY_GROW(discovery->processes, discovery->count, discovery->capacity);
	process = &discovery->processes[discovery->count++];
	process_init(process);
	return process;
}

static void set_string(char **string, const char *value)
{
	free(*string);
	*string = xstrdup(value);
}

static void name_launcher(struct scan *scan, struct scan_entry *entry,
			  struct process *process)
{
	struct commandline line;

	process->launcher_pid = entry->pid;
	if (entry->is_python) {
		scan_words(scan, entry);
		commandline_parse(&line, entry->words, entry->word_count);
		set_string(&process->launcher,
			   line.launcher ? line.launcher : "python");
		return;
	}
	for (size_t i = 0; i < ARRAY_LENGTH(daemons); i++) {
		if (strncmp(entry->stat.name, daemons[i].prefix,
			    strlen(daemons[i].prefix)) == 0) {
			set_string(&process->launcher, daemons[i].name);
			return;
		}
	}
	set_string(&process->launcher, entry->stat.name);
}

/* The first process above the rank that is not the same place in the job. */
static void fill_launcher(struct scan *scan, struct scan_entry *rank,
			  struct process *process)
{
	struct scan_entry *above = rank;

	for (int i = 0; i < ANCESTORS_MAXIMUM; i++) {
		above = scan_parent(scan, above);
		if (!above || above->pid == 1)
			return;
		if (!above->is_launcher &&
		    environment_is_same_rank(&rank->environment,
					     &above->environment))
			continue;
		name_launcher(scan, above, process);
		return;
	}
}

/* A process that multiprocessing made shows the script of who made it. */
static void fill_script(struct scan *scan, struct scan_entry *entry,
			struct process *process)
{
	struct commandline line;
	struct scan_entry *above = entry;
	char cwd[PATH_MAX];

	while (scan_mentions(scan, above, "multiprocessing.")) {
		struct scan_entry *parent = scan_parent(scan, above);

		if (!parent || !parent->is_python)
			break;
		above = parent;
	}
	scan_words(scan, above);
	commandline_parse(&line, above->words, above->word_count);
	set_string(&process->script, line.script);
	if (procfs_link(scan->procfs, entry->pid, "cwd", cwd, sizeof(cwd)) < 0)
		cwd[0] = '\0';
	set_string(&process->cwd, cwd);
	if (!line.path)
		return;
	free(process->script_path);
	if (line.path[0] == '/' || !cwd[0])
		process->script_path =
			xstrdup(line.path[0] == '/' ? line.path : "");
	else
		process->script_path = xasprintf("%s/%s", cwd, line.path);
}

static void fill_environment(struct process *process,
			     const struct environment *environment)
{
	char job[2 * ENVIRONMENT_TEXT + 2];

	process->rank = environment_number(environment, NUMBER_RANK);
	process->local_rank = environment_number(environment, NUMBER_LOCAL);
	process->group_rank = environment_number(environment, NUMBER_GROUP);
	process->world_size = environment_number(environment, NUMBER_SIZE);
	if (process->rank > RANKSET_MAXIMUM)
		process->rank = -1;
	environment_job(environment, job, sizeof(job));
	set_string(&process->job, job);
}

static void fill(struct scan *scan, struct scan_entry *entry,
		 struct scan_entry *rank, struct process *process)
{
	char host[256] = "";

	process->pid = entry->pid;
	process->uid = entry->uid;
	process->start_time = entry->stat.start_time;
	process->age = procfs_age(entry->stat.start_time);
	gethostname(host, sizeof(host) - 1);
	set_string(&process->host, host);
	if (entry->stat.state == 'T' || entry->stat.state == 't')
		process->state = PROCESS_STOPPED;
	fill_environment(process, &rank->environment);
	fill_launcher(scan, rank, process);
	fill_script(scan, entry, process);
	if (rank != entry)
		process->parent_pid = rank->pid;
}

/* False: it is a helper that nobody wants to see. */
static bool choose_role(struct scan *scan, struct scan_entry *entry,
			const char **role)
{
	*role = "child";
	for (size_t i = 0; i < ARRAY_LENGTH(roles); i++) {
		if (scan_mentions(scan, entry, roles[i].mark)) {
			*role = roles[i].role;
			break;
		}
	}
	return *role != NULL;
}

static void add_bystander(struct scan *scan, struct scan_entry *entry,
			  struct discovery *discovery)
{
	struct bystander *bystander;
	struct commandline line;
	const char *slash;
	const char *role;

	if (discovery->bystander_count == BYSTANDERS_MAXIMUM ||
	    entry->is_launcher || !scan_words(scan, entry) ||
	    !choose_role(scan, entry, &role))
		return;
	commandline_parse(&line, entry->words, entry->word_count);
	slash = strrchr(entry->words[0], '/');
	bystander = &discovery->bystanders[discovery->bystander_count++];
	bystander->pid = entry->pid;
	bystander->name = xstrdup(slash ? slash + 1 : entry->words[0]);
	bystander->script = xstrdup(line.script);
	bystander->why = "is Python, but has no rank";
}

static void add_found(struct scan *scan, struct discovery *discovery,
		      bool are_children)
{
	for (size_t i = 0; i < scan->count; i++) {
		struct scan_entry *entry = scan->list[i];
		const char *role = NULL;
		struct process *process;

		if (!entry->is_python || !entry->rank ||
		    (entry->rank != entry) != are_children ||
		    !is_running(scan, entry))
			continue;
		if (are_children && !choose_role(scan, entry, &role))
			continue;
		process = add_process(discovery);
		fill(scan, entry, entry->rank, process);
		process->role = xstrdup_or_null(role);
	}
}

void discover_all(struct discovery *discovery, struct procfs *procfs,
		  struct connections *connections)
{
	struct scan scan;
	size_t count;

	*discovery = (struct discovery){ .uid = geteuid() };
	scan_init(&scan, procfs);
	scan_all(&scan);
	/* Ancestors that are looked at later come behind these. */
	count = scan.count;
	for (size_t i = 0; i < count; i++) {
		struct scan_entry *entry = scan.list[i];

		discovery->looked_at += entry->uid == discovery->uid;
		if (!entry->is_python || !entry->is_readable)
			continue;
		ask_program(&scan, connections, entry);
		if (is_candidate(entry))
			mark_known_launcher(&scan, entry);
	}
	for (size_t i = 0; i < count; i++)
		if (is_candidate(scan.list[i]))
			mark_launchers(&scan, scan.list[i]);
	for (size_t i = 0; i < count; i++)
		if (scan.list[i]->is_python)
			scan.list[i]->rank = find_rank(&scan, scan.list[i]);
	add_found(&scan, discovery, false);
	add_found(&scan, discovery, true);
	for (size_t i = 0; i < count; i++)
		if (scan.list[i]->is_python && !scan.list[i]->rank)
			add_bystander(&scan, scan.list[i], discovery);
	scan_clear(&scan);
}

static void refuse(struct process *process, char *owned_error)
{
	process->state = PROCESS_UNREADABLE;
	free(process->error);
	process->error = owned_error;
}

static void add_named(struct scan *scan, struct connections *connections,
		      pid_t pid, struct discovery *discovery)
{
	struct process *process = add_process(discovery);
	struct scan_entry *entry = scan_find(scan, pid);

	process->pid = pid;
	if (!entry) {
		refuse(process, xasprintf("There is no process %d: it has "
					  "ended, or is in another container "
					  "or on another machine.",
					  (int)pid));
		return;
	}
	if (entry->uid == (uid_t)-1)
		procfs_owner(scan->procfs, pid, &entry->uid);
	if (entry->is_readable && entry->is_python)
		ask_program(scan, connections, entry);
	fill(scan, entry, entry, process);
	if (procfs_has_ended(&entry->stat))
		refuse(process, xasprintf("Process %d has ended; its parent "
					  "has not taken notice yet.",
					  (int)pid));
}

/* Numbers that are missing or taken twice become the lowest that is free. */
static void number_named(struct discovery *discovery)
{
	struct rankset taken = RANKSET_INIT;

	for (size_t i = 0; i < discovery->count; i++) {
		struct process *process = &discovery->processes[i];

		if (process->rank >= 0 &&
		    rankset_contains(&taken, process->rank))
			process->rank = -1;
		if (process->rank >= 0)
			rankset_add(&taken, process->rank);
	}
	for (size_t i = 0; i < discovery->count; i++) {
		struct process *process = &discovery->processes[i];

		if (process->rank >= 0)
			continue;
		process->rank = 0;
		while (rankset_contains(&taken, process->rank))
			process->rank++;
		rankset_add(&taken, process->rank);
	}
	rankset_clear(&taken);
}

void discover_pids(struct discovery *discovery, struct procfs *procfs,
		   struct connections *connections, const pid_t *pids,
		   size_t count)
{
	struct scan scan;

	*discovery = (struct discovery){ .uid = geteuid() };
	scan_init(&scan, procfs);
	for (size_t i = 0; i < count; i++)
		add_named(&scan, connections, pids[i], discovery);
	discovery->looked_at = count;
	number_named(discovery);
	scan_clear(&scan);
}

void discovery_clear(struct discovery *discovery)
{
	for (size_t i = 0; i < discovery->count; i++)
		process_clear(&discovery->processes[i]);
	free(discovery->processes);
	for (size_t i = 0; i < discovery->bystander_count; i++) {
		free(discovery->bystanders[i].name);
		free(discovery->bystanders[i].script);
	}
	*discovery = (struct discovery){ .processes = NULL };
}
