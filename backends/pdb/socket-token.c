#include "backends/pdb/socket-token.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"

#define TOKEN_MAXIMUM 4096

/* Lines that agent/probetui/channel.py sends. */
static const char question[] = "probetui: say the token (IPDB_TOKEN_FILE) first.\n";
static const char refusal[] = "probetui: the token was refused.\n";

void socket_token_expect_question(struct socket_token_talk *talk)
{
	*talk = (struct socket_token_talk){ .expected = question };
}

void socket_token_expect_refusal(struct socket_token_talk *talk)
{
	*talk = (struct socket_token_talk){ .expected = refusal };
}

enum socket_token_result socket_token_hear(struct socket_token_talk *talk, const char *bytes,
					   size_t length, size_t *used)
{
	const char *expected = talk->expected;
	size_t i = 0;

	*used = 0;
	if (!expected)
		return SOCKET_TOKEN_NOTHING;
	while (i < length && expected[talk->matched] == bytes[i] &&
	       expected[talk->matched] != '\0') {
		talk->matched++;
		i++;
	}
	if (expected[talk->matched] == '\0') {
		*used = i;
		talk->expected = NULL;
		return expected == question ? SOCKET_TOKEN_ASKED : SOCKET_TOKEN_REFUSED;
	}
	if (i == length)
		return SOCKET_TOKEN_WAIT;
	talk->expected = NULL;
	return SOCKET_TOKEN_NOTHING;
}

/* Reads the file and returns its length; -1: *error says why not. */
static ssize_t socket_token_read_file(const char *path, char *text, struct error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat about;
	ssize_t length;

	if (fd < 0 || fstat(fd, &about) < 0) {
		error_set_errno(
			error, errno,
			"It asks for a token, and that in %s (IPDB_TOKEN_FILE) cannot be read",
			path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	length = read(fd, text, TOKEN_MAXIMUM);
	if (length < 0)
		error_set_errno(
			error, errno,
			"It asks for a token, and that in %s (IPDB_TOKEN_FILE) cannot be read",
			path);
	close(fd);
	if (length >= 0 && (about.st_mode & 077) != 0)
		return error_set(error,
				 "It asks for a token, and others can read that in %s "
				 "(IPDB_TOKEN_FILE): chmod 600 it.",
				 path);
	return length;
}

/* Removes blanks at both ends, as the agent does. */
static char *socket_token_cut(const char *text, size_t length)
{
	while (length > 0 && isspace((unsigned char)text[length - 1]))
		length--;
	while (length > 0 && isspace((unsigned char)*text)) {
		text++;
		length--;
	}
	return xasprintf("%.*s\n", (int)length, text);
}

char *socket_token_line(struct error *error)
{
	const char *path = getenv("IPDB_TOKEN_FILE");
	const char *token = getenv("IPDB_TOKEN");
	char text[TOKEN_MAXIMUM];
	ssize_t length;

	if (path && *path) {
		length = socket_token_read_file(path, text, error);
		return length < 0 ? NULL : socket_token_cut(text, (size_t)length);
	}
	if (token && *token && !strchr(token, '\n'))
		return xasprintf("%s\n", token);
	error_set(
		error,
		"It asks for a token: set IPDB_TOKEN_FILE, or IPDB_TOKEN, to that of the program.");
	return NULL;
}
