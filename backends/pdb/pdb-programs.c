#include "backends/pdb/pdb-programs.h"

#include <stddef.h>
#include <string.h>

#include "banned.h"
#include "backends/pdb/socket-file.h"
#include "backends/stack-files.h"
#include "base/array.h"

/*
 * Observed with CPython 3.8, 3.11 and 3.13; the broken pipe comes when the prompt is written again,
 * or when input was left unread.
 */
#define QUITS                                                                                      \
	"Its server takes one client: when that leaves, the program ends "                         \
	"(BdbQuit, or a broken pipe); in a post-mortem the exception propagates."

/*
 * remote-pdb 2.1, rpdb 0.2: the constructor accepts once; the end of input is pdb's EOF, which
 * quits. py_debug: a relay between the socket and a pty, which exits with its client; pdb keeps
 * waiting at the pty.
 */
static const struct pdb_programs servers[] = {
	{
		.file = "/probetui/channel.py",
		.dialect = "probetui",
		.has_port = true,
	},
	{
		.file = "/remote_pdb.py",
		.dialect = "remote-pdb",
		.takes_one = true,
		.has_port = true,
		.leaving = QUITS,
	},
	{
		.file = "/rpdb/__init__.py",
		.dialect = "rpdb",
		.takes_one = true,
		.has_port = true,
		.leaving = QUITS,
	},
	{
		.file = "/py3_tools/",
		.dialect = "ipdb",
		.takes_one = true,
		.has_port = true,
		.is_relay = true,
		.leaving = "Its server takes one client, ever: when that leaves, the program waits "
			   "for ever at its prompt, which no client can reach any more.",
		.after = "Its server took the program's output for good: once its client has left, "
			 "the program waits for ever as soon as it has printed some kilobytes.",
	},
};

static const char unknown_leaving[] = "Its server may take one client only: when that leaves, the "
				      "program may end (BdbQuit), or wait for ever.";

struct search {
	const struct pdb_programs *found;
};

static void pdb_programs_look_at(const char *path, void *data)
{
	struct search *search = data;

	for (size_t i = 0; i < ARRAY_LENGTH(servers); i++)
		if (strstr(path, servers[i].file) &&
		    (!search->found || search->found > &servers[i]))
			search->found = &servers[i];
}

const struct pdb_programs *pdb_programs_of_files(const struct stack_files *files)
{
	struct search search = { .found = NULL };

	stack_files_each(files, pdb_programs_look_at, &search);
	return search.found;
}

static const struct pdb_programs *server_of_path(const char *path)
{
	struct socket_name name;

	socket_file_read_name(&name, path);
	for (size_t i = 0; i < ARRAY_LENGTH(servers); i++)
		if (servers[i].is_relay && name.is_relay)
			return &servers[i];
	return NULL;
}

const struct pdb_programs *pdb_programs_find(const struct stack_files *files, const char *path)
{
	const struct pdb_programs *server = files ? pdb_programs_of_files(files) : NULL;

	return server || !path ? server : server_of_path(path);
}

const struct pdb_programs *pdb_programs_named(const char *dialect)
{
	for (size_t i = 0; i < ARRAY_LENGTH(servers); i++)
		if (strcmp(servers[i].dialect, dialect) == 0)
			return &servers[i];
	return NULL;
}

const char *pdb_programs_leaving(const struct pdb_programs *server)
{
	return server ? server->leaving : unknown_leaving;
}
