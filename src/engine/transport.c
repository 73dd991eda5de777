#include "engine/transport.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "engine/link.h"
#include "model/hostmatch.h"

#define NODE_NAME "probetui-node"
/* In a command of exec: this stands for the host. */
#define HOST_MARK "%h"
#define HOSTFILE_MAXIMUM (1u << 20)

struct resolving {
	struct machines *machines;
	const char *command; /* of exec:; NULL: ssh */
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
 * A command for any shell that starts the node: the program at the path that it has here, as on a
 * shared file system, else the one that $PATH finds. free() it.
 */
static char *node_command(void)
{
	char *path = link_find_node(NULL);
	char *command;

	if (path && is_plain_path(path))
		command = xasprintf("sh -c 'p=%s; [ -x $p ] || p=" NODE_NAME "; exec $p'", path);
	else
		command = xstrdup("sh -c 'exec " NODE_NAME "'");
	free(path);
	return command;
}

static char **ssh_words(const char *host)
{
	const char *const words[] = {
		"ssh",
		"-T",
		/* A question for a password would wait for ever. */
		"-oBatchMode=yes",
		"-oConnectTimeout=5",
		/* A machine that falls silent is lost after 15 s. */
		"-oServerAliveInterval=5",
		"-oServerAliveCountMax=3",
		"--",
		host,
	};
	char **argv = xcalloc(ARRAY_LENGTH(words) + 2, sizeof(*argv));

	for (size_t i = 0; i < ARRAY_LENGTH(words); i++)
		argv[i] = xstrdup(words[i]);
	argv[ARRAY_LENGTH(words)] = node_command();
	return argv;
}

/* Words that run the command in a shell, with the host in place of each HOST_MARK. */
static char **exec_words(const char *command, const char *host)
{
	char **argv = xcalloc(4, sizeof(*argv));
	struct buffer line = BUFFER_INIT;
	char *node = node_command();
	const char *mark;

	while ((mark = strstr(command, HOST_MARK))) {
		buffer_append(&line, command, (size_t)(mark - command));
		buffer_append_string(&line, host);
		command = mark + strlen(HOST_MARK);
	}
	buffer_printf(&line, "%s %s", command, node);
	free(node);
	argv[0] = xstrdup("/bin/sh");
	argv[1] = xstrdup("-c");
	argv[2] = buffer_take(&line);
	return argv;
}

static char *first_word(const char *command)
{
	command += strspn(command, " ");
	return xstrndup(command, strcspn(command, " "));
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
	machine.name = xstrdup(host);
	machine.client = resolving->command ? first_word(resolving->command) : xstrdup("ssh");
	machine.argv = resolving->command ? exec_words(resolving->command, host) : ssh_words(host);
	ARRAY_GROW(machines->items, machines->count, machines->capacity);
	machines->items[machines->count++] = machine;
}

static int add_hosts(struct machines *machines, const char *hosts, const char *command,
		     struct error *error)
{
	struct error fault = ERROR_INIT;
	struct resolving resolving = { machines, command, &fault };

	if (hostmatch_expand(hosts, MACHINES_MAXIMUM, add_machine, &resolving, error) < 0)
		return -1;
	return error_is_set(&fault) ? error_set(error, "%s", fault.message) : 0;
}

static int add_ssh(struct machines *machines, const char *target, struct error *error)
{
	return add_hosts(machines, target, NULL, error);
}

static int add_exec(struct machines *machines, const char *target, struct error *error)
{
	const char *colon = strchr(target, ':');
	char *hosts;
	int result;

	if (!colon || colon[1] == '\0')
		return error_set(error,
				 "use exec:HOSTS:COMMAND, where %s in COMMAND stands for "
				 "the host",
				 HOST_MARK);
	hosts = xstrndup(target, (size_t)(colon - target));
	result = add_hosts(machines, hosts, colon + 1, error);
	free(hosts);
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

static int add_lines(struct machines *machines, const char *text, struct error *error)
{
	int result = 0;

	while (*text != '\0' && result == 0) {
		char *host = host_of_line(text);

		result = host ? add_hosts(machines, host, NULL, error) : 0;
		free(host);
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return result;
}

static int add_hostfile(struct machines *machines, const char *path, struct error *error)
{
	struct buffer text = BUFFER_INIT;
	int result;

	buffer_init(&text, HOSTFILE_MAXIMUM);
	result = file_read(path, "the host file", &text, error);
	if (result == 0)
		result = add_lines(machines, text.data, error);
	buffer_clear(&text);
	return result;
}

static const struct transport {
	const char *prefix;
	int (*add)(struct machines *machines, const char *target, struct error *error);
} transports[] = {
	{ "ssh:", add_ssh },
	{ "hostfile:", add_hostfile },
	{ "exec:", add_exec },
};

static const struct transport *transport_find(const char *target, struct error *error)
{
	for (size_t i = 0; i < ARRAY_LENGTH(transports); i++) {
		if (strncmp(target, transports[i].prefix, strlen(transports[i].prefix)) == 0 &&
		    target[strlen(transports[i].prefix)] != '\0')
			return &transports[i];
	}
	error_set(error,
		  "'%.80s' names no machines: use ssh:HOSTS, hostfile:FILE or "
		  "exec:HOSTS:COMMAND",
		  target);
	return NULL;
}

int transport_check(const char *target, struct error *error)
{
	const struct transport *transport = transport_find(target, error);
	struct machines machines = MACHINES_INIT;
	int result;

	if (!transport)
		return -1;
	if (transport->add == add_hostfile)
		return 0;
	result = transport->add(&machines, target + strlen(transport->prefix), error);
	machines_clear(&machines);
	return result;
}

int machines_add(struct machines *machines, const char *target, struct error *error)
{
	const struct transport *transport = transport_find(target, error);
	size_t before = machines->count;

	if (!transport || transport->add(machines, target + strlen(transport->prefix), error) < 0)
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
