#include "engine/transport.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/child.h"
#include "base/error.h"
#include "base/file.h"
#include "engine/link.h"
#include "model/hostmatch.h"

#define NODE_NAME "probetui-node"
/* In a command of exec: this stands for the host. */
#define HOST_MARK "%h"
/* Maximum number of bytes of a host file, and of what squeue prints. */
#define HOSTFILE_MAXIMUM (1u << 20)
#define SLURM_SECONDS 20.0

/* A list of words that grows. */
struct words {
	char **items;
	size_t count;
	size_t capacity;
};

struct resolving {
	struct machines *machines;
	/* Returns the words that start the node on the host, with the program's name first. */
	char **(*words)(const char *host, const struct resolving *resolving);
	const char *command; /* of exec: */
	const char *job;     /* of slurm: */
	const struct transport_flags *flags;
	struct error *error; /* the first fault */
};

/* Characters of a host name, of "user@host", and of an address. */
static bool is_host(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789.-_:@";

	/* ssh would take a name that begins with "-" for an option. */
	return name[0] != '\0' && name[0] != '-' && name[strspn(name, allowed)] == '\0';
}

static bool is_plain_path(const char *path)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789/._-+";

	return path[0] == '/' && path[strspn(path, allowed)] == '\0';
}

/*
 * A line for sh -c that starts the node: the program at the path that it has here, as on a shared
 * file system, else the one that $PATH finds. It has no quotes. free() it.
 */
static char *node_script(void)
{
	char *path = link_find_node(NULL);
	char *script;

	if (path && is_plain_path(path))
		script = xasprintf("p=%s; [ -x $p ] || p=" NODE_NAME "; exec $p", path);
	else
		script = xstrdup("exec " NODE_NAME);
	free(path);
	return script;
}

/* Adds copies of words up to a NULL. */
static void add_words(struct words *words, const char *const *more)
{
	for (; *more; more++) {
		ARRAY_GROW(words->items, words->count, words->capacity);
		words->items[words->count++] = xstrdup(*more);
	}
}

/* Adds the words of a setting, which blanks separate. */
static void add_flags(struct words *words, const char *flags)
{
	while (flags && *(flags += strspn(flags, " \t")) != '\0') {
		size_t length = strcspn(flags, " \t");
		char *word = xstrndup(flags, length);
		const char *const more[] = { word, NULL };

		add_words(words, more);
		free(word);
		flags += length;
	}
}

/* Ends the list with a NULL and returns it. */
static char **take_words(struct words *words)
{
	ARRAY_GROW(words->items, words->count, words->capacity);
	words->items[words->count] = NULL;
	return words->items;
}

static char **ssh_words(const char *host, const struct resolving *resolving)
{
	const char *const first[] = {
		"ssh",
		"-T",
		"-x",
		"-a",
		"-oClearAllForwardings=yes",
		/* A question for a password would wait for ever. */
		"-oBatchMode=yes",
		"-oConnectTimeout=5",
		/* A machine that falls silent is lost after 15 s. */
		"-oServerAliveInterval=5",
		"-oServerAliveCountMax=3",
		NULL,
	};
	char *script = node_script();
	char *command = xasprintf("sh -c '%s'", script);
	const char *const last[] = { "--", host, command, NULL };
	struct words words = { .items = NULL };

	add_words(&words, first);
	add_flags(&words, resolving->flags->ssh);
	add_words(&words, last);
	free(command);
	free(script);
	return take_words(&words);
}

/* Words that run the command in a shell, with the host in place of each HOST_MARK. */
static char **exec_words(const char *host, const struct resolving *resolving)
{
	const char *command = resolving->command;
	struct buffer line = BUFFER_INIT;
	struct words words = { .items = NULL };
	char *script = node_script();
	const char *mark;

	while ((mark = strstr(command, HOST_MARK))) {
		buffer_append(&line, command, (size_t)(mark - command));
		buffer_append_string(&line, host);
		command = mark + strlen(HOST_MARK);
	}
	buffer_printf(&line, "%s sh -c '%s'", command, script);
	add_words(&words, (const char *const[]){ "/bin/sh", "-c", line.data, NULL });
	buffer_clear(&line);
	free(script);
	return take_words(&words);
}

/*
 * A step of the job for each machine, beside the steps that run (--overlap), without memory and
 * devices of its own.
 */
static char **slurm_words(const char *host, const struct resolving *resolving)
{
	char *job = xasprintf("--jobid=%s", resolving->job);
	char *script = node_script();
	const char *const first[] = {
		"srun",	       job,	     "--overlap", "--nodes=1",
		"--ntasks=1",  "--nodelist", host,	  "--mem=0",
		"--gres=none", "--mpi=none", "--quiet",	  "--kill-on-bad-exit=0",
		NULL,
	};
	const char *const last[] = { "sh", "-c", script, NULL };
	struct words words = { .items = NULL };

	add_words(&words, first);
	add_flags(&words, resolving->flags->srun);
	add_words(&words, last);
	free(script);
	free(job);
	return take_words(&words);
}

/* The program that a person knows as the client: the first word of the command. */
static char *client_of(const struct machine *machine, const struct resolving *resolving)
{
	const char *command = resolving->command ? resolving->command : machine->argv[0];

	command += strspn(command, " ");
	return xstrndup(command, strcspn(command, " "));
}

/* A host file has a line for each slot in some formats. */
static bool is_listed(const struct machines *machines, const char *host)
{
	for (size_t i = 0; i < machines->count; i++) {
		if (strcmp(machines->items[i].name, host) == 0)
			return true;
	}
	return false;
}

static void add_machine(const char *host, void *data)
{
	struct resolving *resolving = data;
	struct machines *machines = resolving->machines;
	struct machine machine;

	if (!is_host(host)) {
		error_set(resolving->error, "'%.80s' is not a host name", host);
		return;
	}
	if (is_listed(machines, host))
		return;
	machine.name = xstrdup(host);
	machine.argv = resolving->words(host, resolving);
	machine.client = client_of(&machine, resolving);
	ARRAY_GROW(machines->items, machines->count, machines->capacity);
	machines->items[machines->count++] = machine;
}

static int add_hosts(struct resolving *resolving, const char *hosts, struct error *error)
{
	struct error fault = ERROR_INIT;

	resolving->error = &fault;
	if (hostmatch_expand(hosts, MACHINES_MAXIMUM, add_machine, resolving, error) < 0)
		return -1;
	return error_is_set(&fault) ? error_set(error, "%s", fault.message) : 0;
}

static int add_ssh(struct resolving *resolving, const char *target, struct error *error)
{
	resolving->words = ssh_words;
	return add_hosts(resolving, target, error);
}

static int add_exec(struct resolving *resolving, const char *target, struct error *error)
{
	const char *colon = strchr(target, ':');
	char *hosts;
	int result;

	if (!colon || colon[1] == '\0')
		return error_set(error,
				 "use exec:HOSTS:COMMAND, where %s in COMMAND stands for the host",
				 HOST_MARK);
	hosts = xstrndup(target, (size_t)(colon - target));
	resolving->words = exec_words;
	resolving->command = colon + 1;
	result = add_hosts(resolving, hosts, error);
	free(hosts);
	return result;
}

/* "81234", "81234_7" or "81234+1", as squeue(1) prints it. */
static bool is_slurm_job(const char *job)
{
	return job[0] >= '0' && job[0] <= '9' && job[strspn(job, "0123456789_+")] == '\0';
}

static int check_slurm(const char *job, struct error *error)
{
	if (is_slurm_job(job))
		return 0;
	return error_set(error, "'%.40s' is not the number of a Slurm job", job);
}

/* The machines that Slurm has given to the job. */
static int add_slurm(struct resolving *resolving, const char *job, struct error *error)
{
	const char *const argv[] = { "squeue", "--noheader", "--jobs", job, "--format=%N", NULL };
	struct buffer hosts = BUFFER_INIT;
	int result = check_slurm(job, error);

	buffer_init(&hosts, HOSTFILE_MAXIMUM);
	if (result == 0)
		result = child_read(argv, SLURM_SECONDS, &hosts, error);
	buffer_truncate(&hosts, strcspn(hosts.data, "\n"));
	if (result == 0 && hosts.length == 0)
		result = error_set(error, "Slurm job %s runs on no machine", job);
	resolving->words = slurm_words;
	resolving->job = job;
	if (result == 0)
		result = add_hosts(resolving, hosts.data, error);
	buffer_clear(&hosts);
	return result;
}

/* The first word of a line of a host file, without ":8"; NULL: an empty line or a comment. */
static char *host_of_line(const char *line)
{
	size_t length;

	line += strspn(line, " \t");
	length = strcspn(line, " \t\r\n#:");
	return length > 0 ? xstrndup(line, length) : NULL;
}

static int add_lines(struct resolving *resolving, const char *text, struct error *error)
{
	int result = 0;

	while (*text != '\0' && result == 0 && resolving->machines->count <= MACHINES_MAXIMUM) {
		char *host = host_of_line(text);

		result = host ? add_hosts(resolving, host, error) : 0;
		free(host);
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return result;
}

static int add_hostfile(struct resolving *resolving, const char *path, struct error *error)
{
	struct buffer text = BUFFER_INIT;
	int result;

	resolving->words = ssh_words;
	buffer_init(&text, HOSTFILE_MAXIMUM);
	result = file_read(path, "the host file", &text, error);
	if (result == 0)
		result = add_lines(resolving, text.data, error);
	buffer_clear(&text);
	return result;
}

/* A host file is read when the machines are added. */
static int check_nothing(const char *target, struct error *error)
{
	(void)target;
	(void)error;
	return 0;
}

static const struct transport {
	const char *prefix;
	int (*add)(struct resolving *resolving, const char *target, struct error *error);
	/* Checks the target without a look at the site; NULL: add() does. */
	int (*check)(const char *target, struct error *error);
} transports[] = {
	{ "ssh:", add_ssh, NULL },
	{ "slurm:", add_slurm, check_slurm },
	{ "hostfile:", add_hostfile, check_nothing },
	{ "exec:", add_exec, NULL },
};

/*
 * Finds the transport of a target, and sets *rest to what follows its name. "slurm" alone is the
 * job in whose allocation this program runs.
 */
static const struct transport *transport_find(const char *target, const char **rest,
					      struct error *error)
{
	const char *own = getenv("SLURM_JOB_ID");

	for (size_t i = 0; i < ARRAY_LENGTH(transports); i++) {
		const struct transport *transport = &transports[i];
		size_t length = strlen(transport->prefix);

		*rest = target + length;
		if (strncmp(target, transport->prefix, length) == 0 && **rest != '\0')
			return transport;
		*rest = own;
		if (transport->add == add_slurm && strcmp(target, "slurm") == 0 && own)
			return transport;
	}
	error_set(error,
		  "'%.80s' names no machines: use ssh:HOSTS, slurm:JOB, hostfile:FILE or "
		  "exec:HOSTS:COMMAND",
		  target);
	return NULL;
}

int transport_check(const char *target, struct error *error)
{
	static const struct transport_flags none;
	struct machines machines = MACHINES_INIT;
	struct resolving resolving = { .machines = &machines, .flags = &none };
	const char *rest;
	const struct transport *transport = transport_find(target, &rest, error);
	int result;

	if (!transport)
		return -1;
	if (transport->check)
		return transport->check(rest, error);
	result = transport->add(&resolving, rest, error);
	machines_clear(&machines);
	return result;
}

int machines_add(struct machines *machines, const char *target, const struct transport_flags *flags,
		 struct error *error)
{
	struct resolving resolving = { .machines = machines, .flags = flags };
	size_t before = machines->count;
	const char *rest;
	const struct transport *transport = transport_find(target, &rest, error);

	if (!transport || transport->add(&resolving, rest, error) < 0)
		return -1;
	if (machines->count == before)
		return error_set(error, "%.200s names no host", target);
	if (machines->count > MACHINES_MAXIMUM)
		return error_set(error, "more than %d hosts", MACHINES_MAXIMUM);
	return 0;
}

void machines_clear(struct machines *machines)
{
	for (size_t i = 0; i < machines->count; i++) {
		free(machines->items[i].name);
		free(machines->items[i].client);
		for (char **word = machines->items[i].argv; *word; word++)
			free(*word);
		free(machines->items[i].argv);
	}
	free(machines->items);
	*machines = (struct machines)MACHINES_INIT;
}
