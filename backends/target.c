#include "backends/target.h"

#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/error.h"
#include "protocol/process.h"

#define PORT_MAXIMUM 65535
/* Bytes of the longest host name (RFC 1035); addresses are shorter. */
#define HOST_MAXIMUM 255

struct form {
	const char *prefix;
	enum target_kind kind;
	const char *backend;
	int (*parse)(struct target *target, const char *rest, struct error *error);
};

/* Returns a decimal number from 1 to maximum; 0: the text is not such a number. */
static int target_parse_number(const char *text, long maximum)
{
	char *end;
	long number;

	if (text[0] < '0' || text[0] > '9')
		return 0;
	number = strtol(text, &end, 10);
	return *end == '\0' && number > 0 && number <= maximum ? (int)number : 0;
}

static int target_parse_pid(struct target *target, const char *rest, struct error *error)
{
	target->pid = target_parse_number(rest, INT32_MAX);
	if (target->pid == 0)
		return error_set(error, "\"%s\" is not a valid target: write %s:PID", target->text,
				 target->kind == TARGET_AGENT ? "agent" : "ptrace");
	/* Pids from PROCESS_FIRST_STANDIN on are stand-ins for processes on other machines. */
	if (target->pid >= PROCESS_FIRST_STANDIN)
		return error_set(error, "process %d does not exist: pids end at %d",
				 (int)target->pid, PROCESS_FIRST_STANDIN - 1);
	return 0;
}

static int parse_path(struct target *target, const char *rest, struct error *error)
{
	if (rest[0] == '\0')
		return error_set(error, "\"%s\" has no socket path: write pdb:unix:/PATH",
				 target->text);
	if (rest[0] != '/' && rest[0] != '@')
		return error_set(error,
				 "the socket path of \"%s\" is not absolute: write pdb:unix:/PATH",
				 target->text);
	if (strlen(rest) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
		return error_set(
			error,
			"the socket path of \"%.60s...\" is longer than 107 bytes (the maximum)",
			target->text);
	target->path = xstrdup(rest);
	return 0;
}

/* Parses "HOST:PORT" or "[::1]:PORT". */
static int parse_address(struct target *target, const char *rest, struct error *error)
{
	const char *colon = strrchr(rest, ':');
	size_t length = colon ? (size_t)(colon - rest) : 0;

	if (length > 2 && rest[0] == '[' && rest[length - 1] == ']') {
		rest++;
		length -= 2;
	} else if (colon && strcspn(rest, "[]:") < length) {
		length = 0;
	}
	if (length > 0 && length <= HOST_MAXIMUM)
		target->port = target_parse_number(colon + 1, PORT_MAXIMUM);
	if (target->port == 0)
		return error_set(error,
				 "\"%.200s\" has no valid HOST:PORT: write pdb:tcp:HOST:PORT",
				 target->text);
	target->host = xstrndup(rest, length);
	return 0;
}

/* Parses "HOST:PORT" or "HOST:PORT/". */
static int parse_url(struct target *target, const char *rest, struct error *error)
{
	size_t length = strcspn(rest, "/");
	char *address = xstrndup(rest, length);
	int result = rest[length] && rest[length + 1] ? -1 : parse_address(target, address, NULL);

	free(address);
	if (result < 0 || strpbrk(rest, "@?#%\\ "))
		return error_set(error,
				 "\"%.200s\" is not an agent's address: write http://HOST:PORT or "
				 "https://HOST:PORT",
				 target->text);
	return 0;
}

static const struct form forms[] = {
	{ "ptrace:", TARGET_PTRACE, "ptrace", target_parse_pid },
	{ "pdb:unix:", TARGET_PDB_UNIX, "pdb", parse_path },
	{ "pdb:tcp:", TARGET_PDB_TCP, "pdb", parse_address },
	{ "agent:", TARGET_AGENT, "http", target_parse_pid },
	{ "http://", TARGET_HTTP, "http", parse_url },
	{ "https://", TARGET_HTTP, "http", parse_url },
};

int target_parse(struct target *target, const char *text, struct error *error)
{
	*target = (struct target){ .text = xstrdup(text) };
	for (size_t i = 0; i < ARRAY_LENGTH(forms); i++) {
		size_t length = strlen(forms[i].prefix);
		int result;

		if (strncmp(text, forms[i].prefix, length) != 0)
			continue;
		target->kind = forms[i].kind;
		result = forms[i].parse(target, text + length, error);
		if (result < 0)
			target_clear(target);
		return result;
	}
	target_clear(target);
	return error_set(error,
			 "\"%.200s\" is not a target: write agent:PID, http://HOST:PORT, "
			 "pdb:unix:/PATH, pdb:tcp:HOST:PORT or ptrace:PID",
			 text);
}

const char *target_backend(const struct target *target)
{
	for (size_t i = 0; i < ARRAY_LENGTH(forms); i++)
		if (forms[i].kind == target->kind)
			return forms[i].backend;
	return NULL;
}

void target_copy(struct target *to, const struct target *from)
{
	*to = *from;
	to->text = xstrdup_or_null(from->text);
	to->path = xstrdup_or_null(from->path);
	to->host = xstrdup_or_null(from->host);
}

void target_clear(struct target *target)
{
	free(target->text);
	free(target->path);
	free(target->host);
	*target = (struct target){ .text = NULL };
}
