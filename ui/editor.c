#include "ui/editor.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "model/place.h"
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
		return error_set(
			error,
			"probetui has not read the file yet: try again when the source is shown");
	if (source->content == NULL)
		return error_set(error, "%s", source->error != NULL ? source->error : "no source");
	return 0;
}

/* stat() follows links: the link's target is compared with the file that the node has read. */
static int editor_check_file(const char *path, struct stat *about, struct error *error)
{
	if (path[0] != '/')
		return error_set(error, "cannot open %s: the path is relative to an unknown folder",
				 path);
	if (stat(path, about) < 0)
		return error_set_errno(error, errno, "%s is not accessible on this host", path);
	if (!S_ISREG(about->st_mode))
		return error_set(error, "%s is not a regular file", path);
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
			  "cannot open %s: the file on this host is not the file of the rank, "
			  "which may run in a container",
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
		return error_set(error, "the editor %.80s was killed by signal %d (%s)", command,
				 WTERMSIG(status), strsignal(WTERMSIG(status)));
	switch (WEXITSTATUS(status)) {
	case 0:
		return 0;
	case STATUS_NOT_FOUND:
	case STATUS_NOT_RUN:
		return error_set(error,
				 "cannot start the editor %.80s: set VISUAL or EDITOR to an "
				 "installed editor",
				 command);
	}
	return error_set(error, "the editor %.80s exited with status %d", command,
			 WEXITSTATUS(status));
}

#define NAME_MAXIMUM 100

/* Makes a folder and returns its path, to be freed; returns NULL and sets errno on failure. */
static char *scratch_make_folder(void)
{
	const char *parent = getenv("TMPDIR");
	char *path;

	if (parent == NULL || parent[0] != '/')
		parent = "/tmp";
	path = xasprintf("%s/probetui-XXXXXX", parent);
	if (mkdtemp(path) != NULL)
		return path;
	free(path);
	return NULL;
}

/* Returns a copy of the name; "_" replaces all characters but letters, digits, "_" and ".". A
 * leading dot is replaced, too, since editors may read dot files as settings. */
static char *harmless_name(const char *name)
{
	char *copy = xstrndup(place_file_name(name), NAME_MAXIMUM);

	for (char *at = copy; *at != '\0'; at++)
		if (!isalnum((unsigned char)*at) && *at != '_' && (*at != '.' || at == copy))
			*at = '_';
	return copy;
}

static int write_lines(int fd, const struct source *source)
{
	struct buffer text = BUFFER_INIT;
	int result;

	for (size_t i = 0; i < source->line_count; i++)
		buffer_printf(&text, "%s\n", source->lines[i]);
	result = file_write(fd, text.data, text.length);
	buffer_clear(&text);
	return result;
}

static int scratch_write_file(const char *path, const struct source *source)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int result = -1;

	if (fd < 0)
		return -1;
	if (write_lines(fd, source) == 0 && fchmod(fd, 0400) == 0)
		result = 0;
	close(fd);
	return result;
}

char *scratch_write(const char *name, const struct source *source, struct error *error)
{
	char *folder;
	char *file;
	char *path;

	if (source == NULL || source->content == NULL) {
		error_set(error, "cannot open %.200s: the recording does not contain the source",
			  place_file_name(name));
		return NULL;
	}
	folder = scratch_make_folder();
	if (folder == NULL) {
		error_set_errno(error, errno, "cannot create a folder for the recorded source");
		return NULL;
	}
	file = harmless_name(name);
	path = xasprintf("%s/%s", folder, file);
	if (scratch_write_file(path, source) < 0) {
		error_set_errno(error, errno, "cannot write %s", path);
		scratch_remove(path);
		free(path);
		path = NULL;
	}
	free(file);
	free(folder);
	return path;
}

void scratch_remove(const char *path)
{
	char *folder = xstrndup(path, (size_t)(strrchr(path, '/') - path));
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	while (directory != NULL && (entry = readdir(directory)) != NULL)
		unlinkat(fd, entry->d_name, 0);
	if (directory != NULL)
		closedir(directory);
	rmdir(folder);
	free(folder);
}
