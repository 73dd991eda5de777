#include "ui/editor.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "model/source.h"

#define EDITOR_DEFAULT "vi"
#define STATUS_NOT_RUN 126 /* sh's exit status for a program that cannot be executed */
#define STATUS_NOT_FOUND 127

const char *editor_command(void)
{
	const char *command = getenv("VISUAL");

	if (command == NULL || *command == '\0')
		command = getenv("EDITOR");
	return command != NULL && *command != '\0' ? command : EDITOR_DEFAULT;
}

static int check_read(const struct source *source, struct error *error)
{
	if (source == NULL)
		return error_set(error,
				 "the file was not read yet; try again when its source is shown.");
	if (source->content == NULL)
		return error_set(error, "%s",
				 source->error != NULL ? source->error : "There is no source.");
	return 0;
}

/* stat() follows links: the link's target is compared with the file that the node has read. */
static int editor_check_file(const char *path, struct stat *about, struct error *error)
{
	if (path[0] != '/')
		return error_set(error, "it is not known where %s is.", path);
	if (stat(path, about) < 0)
		return error_set_errno(error, errno, "%s is not to be had here", path);
	if (!S_ISREG(about->st_mode))
		return error_set(error, "%s is not a regular file.", path);
	return 0;
}

char *editor_find(const char *path, const struct source *source, struct error *error)
{
	struct stat about;

	if (check_read(source, error) < 0)
		return NULL;
	if (source->full != NULL)
		path = source->full;
	if (editor_check_file(path, &about, error) < 0)
		return NULL;
	if ((int64_t)about.st_dev != source->device || (int64_t)about.st_ino != source->inode) {
		error_set(error,
			  "%s is another file here than where the rank runs (in a container, "
			  "perhaps); it was not opened.",
			  path);
		return NULL;
	}
	return xstrdup(path);
}

/* The editor must not inherit probetui's signal mask and ignored signals. */
static void editor_reset_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
}

static void editor_run(int terminal, const char *path, const char *line)
{
	const char *command = editor_command();
	char *script = xasprintf("%s \"$@\"", command);
	char *argv[] = { "sh", "-c", script, (char *)command, (char *)line, (char *)path, NULL };

	editor_reset_signals();
	dup2(terminal, STDIN_FILENO);
	dup2(terminal, STDOUT_FILENO);
	dup2(terminal, STDERR_FILENO);
	execv("/bin/sh", argv);
	_exit(STATUS_NOT_FOUND);
}

pid_t editor_start(int terminal, const char *path, int line, struct error *error)
{
	char *place = xasprintf("+%d", line > 0 ? line : 1);
	pid_t pid = fork();

	if (pid == 0)
		editor_run(terminal, path, place);
	if (pid < 0)
		error_set_errno(error, errno, "cannot start the editor");
	free(place);
	return pid;
}

int editor_judge(int status, struct error *error)
{
	const char *command = editor_command();

	if (WIFSIGNALED(status))
		return error_set(error, "the editor %.80s was ended by signal %d (%s).", command,
				 WTERMSIG(status), strsignal(WTERMSIG(status)));
	switch (WEXITSTATUS(status)) {
	case 0:
		return 0;
	case STATUS_NOT_FOUND:
	case STATUS_NOT_RUN:
		return error_set(error,
				 "the editor %.80s cannot be started; set VISUAL or EDITOR to one "
				 "that is here.",
				 command);
	}
	return error_set(error, "the editor %.80s left with status %d.", command,
			 WEXITSTATUS(status));
}
