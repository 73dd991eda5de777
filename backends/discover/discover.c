#include "backends/discover/discover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/discover/process-info.h"
#include "backends/discover/process-scan.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/map.h"
#include "protocol/rankset.h"

struct role {
	const char *mark; /* text in the command line */
	const char *role; /* NULL: a helper process of Python, which is not shown */
};

static const struct role roles[] = {
	{ "multiprocessing.resource_tracker", NULL },
	{ "loky.backend.resource_tracker", NULL },
	{ "loky.backend.popen_loky", "joblib" },
	{ "compile_worker", "compile" },
	{ "/ray/dashboard/", NULL },
	{ "/ray/_private/log_monitor.py", NULL },
	{ "/ray/autoscaler/", NULL },
};

/* Scripts, modules or code of processes that inherit a rank's variables, or those of a machine. */
static const struct role helpers[] = {
	{ "from multiprocessing.resource_tracker import", "helper" },
	{ "loky.backend.resource_tracker", "helper" },
	{ "loky.backend.popen_loky", "joblib" },
	{ "torch/_inductor/compile_worker/", "compile" },
	{ "torch._inductor.compile_worker", "compile" },
	{ "/ray/dashboard/", "ray" },
	{ "/ray/_private/", "ray" },
	{ "/ray/autoscaler/", "ray" },
};

static enum rank_family family_of(const struct process_scan_entry *entry)
{
	return environment_family(&entry->environment);
}

/*
 * True for the worker of a DataLoader, which names itself so (torch 2.6, data/_utils/worker.py). It
 * may outlive its rank, whose variables and process group it has inherited.
 */
static bool is_data_worker(const struct process_scan_entry *entry)
{
	return entry->has_stat && strcmp(entry->stat.name, "pt_data_worker") == 0;
}

static bool is_candidate(const struct process_scan_entry *entry)
{
	return entry->is_python && !is_data_worker(entry) &&
	       (environment_has_group(&entry->environment) ||
		(!entry->is_helper && family_of(entry) != FAMILY_NONE));
}

static bool is_running(struct process_scan *scan, struct process_scan_entry *entry)
{
	return process_scan_stat(scan, entry) && !procfs_has_ended(&entry->stat);
}

/* True if multiprocessing has started the process: by spawn, or by fork from a Python process. */
static bool is_made_by_python(struct process_scan *scan, struct process_scan_entry *entry)
{
	struct process_scan_entry *parent;

	if (process_scan_mentions(scan, entry, "multiprocessing.spawn") ||
	    process_scan_mentions(scan, entry, "--multiprocessing-fork"))
		return true;
	if (family_of(entry) == FAMILY_TORCH)
		return false;
	parent = process_scan_parent(scan, entry);
	if (!parent || !parent->is_python || !process_scan_words(scan, parent))
		return false;
	if (process_scan_mentions(scan, parent, "multiprocessing.forkserver"))
		return true;
	if (!process_scan_words(scan, entry) || entry->word_count != parent->word_count)
		return false;
	for (size_t i = 0; i < entry->word_count; i++)
		if (strcmp(entry->words[i], parent->words[i]) != 0)
			return false;
	return true;
}

/* multiprocessing's server that forks processes, which have the same command line. */
static bool is_forkserver(struct process_scan *scan, struct process_scan_entry *entry)
{
	struct process_scan_entry *parent;

	if (!process_scan_mentions(scan, entry, "multiprocessing.forkserver"))
		return false;
	parent = process_scan_parent(scan, entry);
	return !parent || !process_scan_mentions(scan, parent, "multiprocessing.forkserver");
}

/* True if the process is a worker of Ray, by its title. */
static bool is_of_ray(struct process_scan *scan, struct process_scan_entry *entry)
{
	return process_scan_words(scan, entry) && strncmp(entry->words[0], "ray::", 5) == 0;
}

/* Returns the role of a process that never is a rank by its variables; NULL: none. */
static const char *find_helper(struct process_scan *scan, struct process_scan_entry *entry)
{
	struct command_line line;

	if (!process_scan_words(scan, entry))
		return NULL;
	/* Idle workers of Ray; those that work have other titles. */
	if (strcmp(entry->words[0], "ray::IDLE") == 0)
		return "ray";
	if (is_forkserver(scan, entry))
		return "helper";
	command_line_parse(&line, entry->words, entry->word_count);
	for (size_t i = 0; line.program && i < ARRAY_LENGTH(helpers); i++)
		if (strstr(line.program, helpers[i].mark))
			return helpers[i].role;
	return NULL;
}

/*
 * True if the process may know more of its rank than /proc/PID/environ does. A look into a program
 * takes longer than all else that is done for a process, so where a launcher has given each rank
 * its number there is none.
 */
static bool may_know_rank(struct process_scan *scan, const struct environment_reader *reader,
			  struct process_scan_entry *entry)
{
	if (entry->is_claimed || is_made_by_python(scan, entry))
		return true;
	return family_of(entry) == FAMILY_NONE &&
	       reader->has_framework(reader->data, entry->pid, entry->stat.start_time);
}

/* Adds what the program itself knows of its rank. */
static void ask_program(struct process_scan *scan, const struct environment_reader *reader,
			struct process_scan_entry *entry)
{
	if (entry->is_asked || !entry->is_python || !entry->is_readable ||
	    !process_scan_stat(scan, entry))
		return;
	entry->is_asked = true;
	reader->read(reader->data, entry->pid, entry->stat.start_time, &entry->environment);
}

static void mark_known_launcher(struct process_scan *scan, struct process_scan_entry *entry)
{
	struct command_line line;

	process_scan_words(scan, entry);
	command_line_parse(&line, entry->words, entry->word_count);
	if (line.launcher)
		entry->is_launcher = true;
}

/* Adds what the program itself knows of its rank, and marks known launchers and helpers. */
static void examine(struct process_scan *scan, const struct environment_reader *reader,
		    struct process_scan_entry *entry)
{
	if (!entry->is_python || !entry->is_readable || !process_scan_stat(scan, entry))
		return;
	if (may_know_rank(scan, reader, entry))
		ask_program(scan, reader, entry);
	if (is_of_ray(scan, entry))
		environment_forget_machine(&entry->environment);
	if (family_of(entry) == FAMILY_NONE || environment_has_group(&entry->environment))
		return;
	entry->is_helper = find_helper(scan, entry) != NULL;
	mark_known_launcher(scan, entry);
}

static int rank_of(const struct process_scan_entry *entry)
{
	return environment_number(&entry->environment, NUMBER_RANK);
}

static int world_size_of(const struct process_scan_entry *entry)
{
	return environment_number(&entry->environment, NUMBER_SIZE);
}

/*
 * True if `above` is a worker of torchrun that has started another job: then `above` is a rank,
 * too.
 */
static bool starts_other_job(const struct process_scan_entry *above,
			     const struct process_scan_entry *entry)
{
	char job[2 * ENVIRONMENT_TEXT + 2];
	char other[2 * ENVIRONMENT_TEXT + 2];

	if (environment_number(&above->environment, NUMBER_LOCAL) < 0)
		return false;
	if (environment_has_group(&entry->environment))
		return world_size_of(above) >= 0 && world_size_of(above) != world_size_of(entry);
	environment_job(&above->environment, job, sizeof(job));
	environment_job(&entry->environment, other, sizeof(other));
	return family_of(above) == family_of(entry) && strcmp(job, other) != 0;
}

/* True if `above` has given itself a rank of the job before it started entry: Lightning's rank 0
 * starts the other ranks of its machine. */
static bool is_first_rank(const struct process_scan_entry *above,
			  const struct process_scan_entry *entry)
{
	return above->environment.is_own && rank_of(above) != rank_of(entry) &&
	       environment_is_same_job(&above->environment, &entry->environment);
}

/*
 * True if `above`, an ancestor of entry, claims a rank, but entry shows that `above` has started
 * ranks: entry has a process group and `above` has none, or their variables differ. Not so if
 * `above` is of a family before entry's (entry is an MPI helper process of a torch rank).
 */
static bool is_launcher_of(const struct process_scan_entry *above,
			   const struct process_scan_entry *entry)
{
	if (!is_candidate(above) || environment_has_group(&above->environment) ||
	    family_of(entry) > family_of(above) || starts_other_job(above, entry) ||
	    is_first_rank(above, entry))
		return false;
	return environment_has_group(&entry->environment) ||
	       !environment_is_same_rank(&entry->environment, &above->environment);
}

/* Marks the launchers among the ancestors of entry. */
static void mark_launchers(struct process_scan *scan, const struct environment_reader *reader,
			   struct process_scan_entry *entry)
{
	struct process_scan_entry *above = entry;

	for (int i = 0; i < PROCESS_SCAN_ANCESTORS_MAXIMUM; i++) {
		above = process_scan_parent(scan, above);
		if (!above)
			return;
		/* A rank that has started other ranks has a process group, too. */
		if (environment_has_group(&entry->environment) && is_candidate(above))
			ask_program(scan, reader, above);
		if (is_launcher_of(above, entry))
			above->is_launcher = true;
	}
}

/* Equal for processes that claim the same rank of the same job. */
static uint64_t claim_key(const struct process_scan_entry *entry)
{
	char job[2 * ENVIRONMENT_TEXT + 2];

	environment_job(&entry->environment, job, sizeof(job));
	return hash_number(hash_number(hash_text(HASH_START, job), (uint64_t)family_of(entry)),
			   (uint64_t)rank_of(entry));
}

static bool has_claim(const struct process_scan_entry *entry)
{
	return entry->is_python && entry->is_readable && family_of(entry) != FAMILY_NONE;
}

/* True if an ancestor claims the same rank: entry has inherited the variables. */
static bool is_inherited(struct process_scan *scan, struct process_scan_entry *entry)
{
	struct process_scan_entry *above = entry;
	uint64_t key = claim_key(entry);

	for (int i = 0; i < PROCESS_SCAN_ANCESTORS_MAXIMUM; i++) {
		above = process_scan_parent(scan, above);
		if (!above)
			return false;
		if (has_claim(above) && claim_key(above) == key)
			return true;
	}
	return false;
}

/* Marks the first count entries whose rank may be that of another process. */
static void mark_claimed(struct process_scan *scan, size_t count)
{
	struct map *claims = map_new(NULL);

	for (size_t i = 0; i < count; i++) {
		struct process_scan_entry *entry = scan->list[i];
		struct process_scan_entry *other;

		if (!has_claim(entry))
			continue;
		if (is_inherited(scan, entry)) {
			/* Whole machines, or jobs of other kinds, inherit those of MPI and Slurm.
			 */
			entry->is_claimed = family_of(entry) > FAMILY_TORCH;
			continue;
		}
		other = map_find(claims, claim_key(entry));
		if (other)
			entry->is_claimed = other->is_claimed = true;
		else
			map_put(claims, claim_key(entry), entry);
	}
	map_free(claims);
}

/* True if entry is a rank of its own, and not a child of the rank `above`. */
static bool is_other_rank(const struct process_scan_entry *entry,
			  const struct process_scan_entry *above)
{
	return family_of(entry) <= family_of(above) &&
	       !environment_is_same_rank(&entry->environment, &above->environment);
}

/* Returns the outermost rank among entry and its ancestors up to the launcher; NULL: none. */
static struct process_scan_entry *discover_find_rank(struct process_scan *scan,
						     struct process_scan_entry *entry)
{
	struct process_scan_entry *above = entry;
	struct process_scan_entry *rank = is_candidate(entry) && !entry->is_launcher ? entry : NULL;

	if (entry->is_launcher)
		return NULL;
	for (int i = 0; i < PROCESS_SCAN_ANCESTORS_MAXIMUM; i++) {
		above = process_scan_parent(scan, above);
		if (!above || above->is_launcher)
			break;
		if (!is_candidate(above))
			continue;
		if (rank && is_other_rank(rank, above))
			break;
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

/* Sets *role. Returns false if the process is a helper that is not shown. */
static bool choose_role(struct process_scan *scan, struct process_scan_entry *entry,
			const char **role)
{
	*role = is_forkserver(scan, entry) ? NULL : "child";
	for (size_t i = 0; *role && i < ARRAY_LENGTH(roles); i++) {
		if (process_scan_mentions(scan, entry, roles[i].mark)) {
			*role = roles[i].role;
			break;
		}
	}
	return *role != NULL;
}

static void add_bystander(struct process_scan *scan, struct process_scan_entry *entry,
			  struct discovery *discovery)
{
	struct bystander *bystander;
	struct command_line line;
	const char *slash;
	const char *role;

	if (discovery->bystander_count == BYSTANDERS_MAXIMUM || entry->is_launcher ||
	    !process_scan_words(scan, entry) || !choose_role(scan, entry, &role))
		return;
	command_line_parse(&line, entry->words, entry->word_count);
	slash = strrchr(entry->words[0], '/');
	bystander = &discovery->bystanders[discovery->bystander_count++];
	bystander->pid = entry->pid;
	bystander->name = xstrdup(slash ? slash + 1 : entry->words[0]);
	bystander->script = xstrdup(line.script);
}

static void discover_add_found(struct process_scan *scan, struct discovery *discovery,
			       bool are_children)
{
	for (size_t i = 0; i < scan->count; i++) {
		struct process_scan_entry *entry = scan->list[i];
		const char *role = NULL;
		struct process *process;

		if (!entry->is_python || !entry->rank || (entry->rank != entry) != are_children ||
		    !is_running(scan, entry))
			continue;
		if (are_children && !choose_role(scan, entry, &role))
			continue;
		process = add_process(discovery);
		process_info_describe(scan, entry, entry->rank, process);
		process->role = xstrdup_or_null(role);
	}
}

static bool has_group(struct process_scan *scan, const struct process *process)
{
	const struct process_scan_entry *entry = process_scan_find(scan, process->pid);

	return entry && environment_has_group(&entry->environment);
}

/* True if a, rather than b, keeps a number that both claim: the one with a process group, or else
 * the older one. */
static bool is_stronger(struct process_scan *scan, const struct process *a, const struct process *b)
{
	bool has_a = has_group(scan, a);

	if (has_a != has_group(scan, b))
		return has_a;
	if (a->start_time != b->start_time)
		return a->start_time < b->start_time;
	return a->pid < b->pid;
}

/* Sets the number of each rank to -1 that another rank of its job has a stronger claim to. */
static void drop_weaker_claims(struct process_scan *scan, struct discovery *discovery)
{
	struct process *processes = discovery->processes;
	size_t count = discovery->count;
	bool *is_weaker = xcalloc(count + 1, sizeof(*is_weaker));

	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < i; j++) {
			if (processes[i].rank < 0 || is_weaker[j] ||
			    processes[i].rank != processes[j].rank ||
			    !process_is_same_job(&processes[i], &processes[j]))
				continue;
			is_weaker[is_stronger(scan, &processes[i], &processes[j]) ? j : i] = true;
		}
	for (size_t i = 0; i < count; i++)
		if (is_weaker[i])
			processes[i].rank = -1;
	free(is_weaker);
}

static bool are_candidates(const struct process_scan *scan, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_candidate(scan->list[i]))
			return true;
	return false;
}

/*
 * Returns the outermost Python process among entry and its ancestors below root, launchers
 * excluded.
 */
static struct process_scan_entry *find_topmost(struct process_scan *scan,
					       struct process_scan_entry *entry, pid_t root)
{
	struct process_scan_entry *above = entry;
	struct process_scan_entry *top = entry->is_launcher ? NULL : entry;

	for (int i = 0; i < PROCESS_SCAN_ANCESTORS_MAXIMUM; i++) {
		above = process_scan_parent(scan, above);
		if (!above || above->pid == root)
			break;
		if (above->is_python && above->is_readable && !above->is_launcher)
			top = above;
	}
	return top;
}

/* Finds the ranks of a job whose processes have no rank numbers in their environments. */
static void find_unnumbered(struct process_scan *scan, size_t count, pid_t root)
{
	for (size_t i = 0; i < count; i++)
		if (scan->list[i]->is_python && scan->list[i]->is_readable)
			mark_known_launcher(scan, scan->list[i]);
	for (size_t i = 0; i < count; i++)
		if (scan->list[i]->is_python && scan->list[i]->is_readable)
			scan->list[i]->rank = find_topmost(scan, scan->list[i], root);
}

/* Adds to the launchers the Python processes that are not ranks, but may have been reported as
 * ranks before any process had a rank number. */
static void add_unnumbered(const struct process_scan *scan, size_t count,
			   struct discovery *discovery)
{
	for (size_t i = 0; i < count; i++)
		if (scan->list[i]->is_python && !scan->list[i]->rank)
			pid_list_add(&discovery->launchers, scan->list[i]->pid);
}

/* True if an ancestor has a process group: Lightning's rank 0 starts the other ranks. */
static bool is_below_group(struct process_scan *scan, struct process_scan_entry *entry)
{
	struct process_scan_entry *above = entry;

	for (int i = 0; i < PROCESS_SCAN_ANCESTORS_MAXIMUM; i++) {
		above = process_scan_parent(scan, above);
		if (!above)
			return false;
		if (environment_has_group(&above->environment))
			return true;
	}
	return false;
}

/* Sets the rank of each of the first count entries, which is the entry itself or an ancestor. */
static void find_numbered(struct process_scan *scan, const struct environment_reader *reader,
			  size_t count, struct discovery *discovery)
{
	mark_claimed(scan, count);
	for (size_t i = 0; i < count; i++)
		examine(scan, reader, scan->list[i]);
	for (size_t i = 0; i < count; i++)
		if (has_claim(scan->list[i]) && is_below_group(scan, scan->list[i]))
			ask_program(scan, reader, scan->list[i]);
	for (size_t i = 0; i < count; i++)
		if (is_candidate(scan->list[i]))
			mark_launchers(scan, reader, scan->list[i]);
	for (size_t i = 0; i < count; i++)
		if (is_candidate(scan->list[i]) && scan->list[i]->is_launcher)
			pid_list_add(&discovery->launchers, scan->list[i]->pid);
	for (size_t i = 0; i < count; i++)
		if (scan->list[i]->is_python)
			scan->list[i]->rank = discover_find_rank(scan, scan->list[i]);
}

void discover_all(struct discovery *discovery, struct procfs *procfs,
		  const struct environment_reader *reader, struct exe_cache *exes, pid_t root)
{
	struct process_scan scan;
	size_t count;

	*discovery = (struct discovery){ .uid = geteuid() };
	process_scan_init(&scan, procfs);
	if (root > 0)
		process_scan_below(&scan, root);
	else
		process_scan_all(&scan, exes);
	discovery->others = scan.hidden_count - scan.own_hidden_count;
	discovery->hidden = scan.own_hidden_count;
	discovery->looked_at = scan.readable_count;
	/*
	 * Ancestors that are read in the loops are appended to the list: only the entries before
	 * them count.
	 */
	count = scan.count;
	find_numbered(&scan, reader, count, discovery);
	if (root > 0 && !are_candidates(&scan, count))
		find_unnumbered(&scan, count, root);
	if (root > 0)
		add_unnumbered(&scan, count, discovery);
	discover_add_found(&scan, discovery, false);
	drop_weaker_claims(&scan, discovery);
	discover_add_found(&scan, discovery, true);
	for (size_t i = 0; i < count; i++)
		if (scan.list[i]->is_python && !scan.list[i]->rank)
			add_bystander(&scan, scan.list[i], discovery);
	process_scan_clear(&scan);
}

static void discover_refuse(struct process *process, char *owned_error)
{
	process->state = PROCESS_UNREADABLE;
	free(process->error);
	process->error = owned_error;
}

static char *discover_explain_missing(pid_t pid, int number)
{
	if (procfs_is_gone(number))
		return xasprintf("process %d does not exist: it has exited, or is in another "
				 "container or on another machine",
				 (int)pid);
	return xasprintf("process %d cannot be accessed: %s", (int)pid, strerror(number));
}

/* Finds out whether entry is a launcher, a helper, or the child of a rank, by its ancestors. */
static void examine_family(struct process_scan *scan, const struct environment_reader *reader,
			   struct process_scan_entry *entry)
{
	struct process_scan_entry *above = entry;

	for (int i = 0; i < PROCESS_SCAN_ANCESTORS_MAXIMUM && above; i++) {
		examine(scan, reader, above);
		above = process_scan_parent(scan, above);
	}
	if (!environment_has_group(&entry->environment))
		mark_known_launcher(scan, entry);
	mark_launchers(scan, reader, entry);
	entry->rank = discover_find_rank(scan, entry);
}

/* Returns the role of a process that the user has named; NULL: the process is, or may be, a rank.
 */
static const char *role_of_named(struct process_scan *scan, struct process_scan_entry *entry)
{
	const char *helper = find_helper(scan, entry);

	if (helper && !environment_has_group(&entry->environment))
		return helper;
	if (entry->is_launcher)
		return "launcher";
	return entry->rank && entry->rank != entry ? "child" : NULL;
}

/* A process with a role has inherited the numbers of a rank, or of a machine. */
static void take_role(struct process *process, const char *role)
{
	process->role = xstrdup(role);
	process->rank = process->local_rank = process->group_rank = process->world_size = -1;
	process->job[0] = '\0';
}

/* Fills *process. Returns false if the process does not exist or does not run Python. */
static bool discover_find_named(struct process_scan *scan, const struct environment_reader *reader,
				pid_t pid, struct process *process)
{
	struct process_scan_entry *entry = process_scan_find(scan, pid);
	const char *role = NULL;

	process->pid = pid;
	if (!entry) {
		discover_refuse(process, discover_explain_missing(pid, errno));
		return false;
	}
	if (entry->uid == (uid_t)-1)
		procfs_owner(scan->procfs, pid, &entry->uid);
	if (entry->is_python && entry->is_readable) {
		examine_family(scan, reader, entry);
		role = role_of_named(scan, entry);
	}
	process_info_describe(scan, entry, entry, process);
	if (role)
		take_role(process, role);
	if (procfs_has_ended(&entry->stat))
		discover_refuse(
			process,
			xasprintf("process %d has exited, but its parent has not reaped it yet",
				  (int)pid));
	return entry->is_python;
}

/* Gives the lowest free number to each rank that has no number or a number that is in use. */
static void number_named(struct discovery *discovery, const struct rankset *others)
{
	struct rankset taken = RANKSET_INIT;

	rankset_unite(&taken, others);
	for (size_t i = 0; i < discovery->count; i++) {
		struct process *process = &discovery->processes[i];

		if (process->rank >= 0 && rankset_contains(&taken, process->rank))
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

/*
 * Returns the nearest of entry's ancestors that the user has named; NULL: none, or entry is a
 * launcher, or a rank of its own.
 */
static struct process_scan_entry *find_named_above(struct process_scan *scan,
						   const struct environment_reader *reader,
						   struct process_scan_entry *entry)
{
	struct process_scan_entry *above = entry;

	if (entry->rank || !entry->is_python || !entry->is_readable || !is_running(scan, entry))
		return NULL;
	examine(scan, reader, entry);
	for (int i = 0; i < PROCESS_SCAN_ANCESTORS_MAXIMUM && !entry->is_launcher; i++) {
		above = process_scan_parent(scan, above);
		if (!above || above->is_launcher)
			break;
		if (above->rank != above)
			continue;
		return is_candidate(entry) && is_other_rank(entry, above) ? NULL : above;
	}
	return NULL;
}

/* Adds the Python processes below the named ones; not below launchers and helpers. */
static void add_named_children(struct process_scan *scan, const struct environment_reader *reader,
			       struct discovery *discovery)
{
	size_t count;

	for (size_t i = 0; i < scan->count; i++)
		scan->list[i]->rank = NULL;
	for (size_t i = 0; i < discovery->count; i++) {
		const struct process *process = &discovery->processes[i];
		struct process_scan_entry *entry;

		if (process->start_time == 0 || process->role ||
		    process->state == PROCESS_UNREADABLE)
			continue;
		entry = process_scan_find(scan, process->pid);
		if (!entry)
			continue;
		entry->rank = entry;
		process_scan_below(scan, process->pid);
	}
	/* Ancestors that are read in the loop are appended to the list. */
	count = scan->count;
	for (size_t i = 0; i < count; i++) {
		struct process_scan_entry *entry = scan->list[i];
		struct process_scan_entry *named = find_named_above(scan, reader, entry);
		struct process *process;
		const char *role;

		if (!named || !choose_role(scan, entry, &role))
			continue;
		process = add_process(discovery);
		process_info_describe(scan, entry, named, process);
		process->role = xstrdup(role);
	}
}

void discover_pids(struct discovery *discovery, struct procfs *procfs,
		   const struct environment_reader *reader, const struct pid_list *pids,
		   const struct rankset *taken)
{
	struct process_scan scan;

	*discovery = (struct discovery){ .uid = geteuid() };
	process_scan_init(&scan, procfs);
	for (size_t i = 0; i < pids->count; i++)
		process_scan_find(&scan, pids->pids[i]);
	mark_claimed(&scan, scan.count);
	for (size_t i = 0; i < pids->count; i++)
		discover_find_named(&scan, reader, pids->pids[i], add_process(discovery));
	discovery->looked_at = pids->count;
	number_named(discovery, taken);
	add_named_children(&scan, reader, discovery);
	process_scan_clear(&scan);
}

bool discover_one(struct process *process, struct procfs *procfs,
		  const struct environment_reader *reader, pid_t pid)
{
	struct process_scan scan;
	bool is_python;

	process_scan_init(&scan, procfs);
	is_python = discover_find_named(&scan, reader, pid, process);
	process_scan_clear(&scan);
	return is_python;
}

void discovery_clear(struct discovery *discovery)
{
	for (size_t i = 0; i < discovery->count; i++)
		process_clear(&discovery->processes[i]);
	free(discovery->processes);
	pid_list_clear(&discovery->launchers);
	for (size_t i = 0; i < discovery->bystander_count; i++) {
		free(discovery->bystanders[i].name);
		free(discovery->bystanders[i].script);
	}
	*discovery = (struct discovery){ .processes = NULL };
}
