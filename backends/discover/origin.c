#include "backends/discover/origin.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backends/linux/procfs.h"
#include "backends/linux/root-file.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/secret.h"
#include "protocol/process.h"

/*
 * Limits in bytes of a command line and of a variable's name and value, and of the number of
 * variables.
 */
#define COMMAND_MAXIMUM 2000
#define NAME_MAXIMUM 64
#define VALUE_MAXIMUM 200
#define VARIABLES_MAXIMUM 64

/* Folders above the script that are searched for a repository. */
#define FOLDERS_MAXIMUM 16
#define HEAD_MAXIMUM 1024
#define PACKED_REFS_MAXIMUM (1u << 20)
#define REF "ref: "

/* Beginnings of the names of the variables. */
static const char *const prefixes[] = {
	"NCCL_",   "GLOO_",	"TORCH",  "PYTORCH_", "OMP_",
	"MKL_",	   "KMP_",	"CUDA_",  "HIP_",     "UCX_",
	"FI_",	   "OMPI_MCA_", "PYTHON", "LD_",      "CUBLAS_WORKSPACE",
	"MASTER_",
};
/* Names every rank has with another value. */
static const char *const own[] = { "TORCHELASTIC_ERROR_FILE" };

static json_t *masked_text(const char *text, size_t maximum)
{
	struct buffer masked = BUFFER_INIT;
	json_t *json;
	char *cut;

	secret_mask(&masked, text);
	cut = xstrndup(masked.data ? masked.data : "", maximum);
	json = json_text(cut);
	free(cut);
	buffer_clear(&masked);
	return json;
}

static bool is_of_interest(const char *name, size_t length)
{
	for (size_t i = 0; i < ARRAY_LENGTH(own); i++) {
		if (strlen(own[i]) == length && memcmp(name, own[i], length) == 0)
			return false;
	}
	for (size_t i = 0; i < ARRAY_LENGTH(prefixes); i++) {
		size_t start = strlen(prefixes[i]);

		if (length >= start && memcmp(name, prefixes[i], start) == 0)
			return true;
	}
	return false;
}

static void add_variable(json_t *variables, const char *word)
{
	const char *equals = strchr(word, '=');
	size_t length = equals ? (size_t)(equals - word) : 0;
	char *name;

	if (length == 0 || length > NAME_MAXIMUM ||
	    json_object_size(variables) >= VARIABLES_MAXIMUM || !is_of_interest(word, length))
		return;
	name = xstrndup(word, length);
	if (secret_is_told(name, length))
		json_set_text(variables, name, SECRET_MASK);
	else
		json_object_set_new(variables, name, masked_text(equals + 1, VALUE_MAXIMUM));
	free(name);
}

static json_t *read_environment(struct procfs *procfs, pid_t pid)
{
	json_t *variables = json_object();
	char *bytes;
	ssize_t length = procfs_read(procfs, pid, "environ", &bytes, NULL);

	for (ssize_t at = 0; at < length; at += (ssize_t)strlen(bytes + at) + 1)
		add_variable(variables, bytes + at);
	return variables;
}

/* The words of the command line with blanks between them. */
static json_t *read_command(struct procfs *procfs, pid_t pid)
{
	char *bytes;
	ssize_t length = procfs_read(procfs, pid, "cmdline", &bytes, NULL);

	while (length > 0 && bytes[length - 1] == '\0')
		length--;
	if (length <= 0)
		return NULL;
	for (ssize_t i = 0; i < length; i++) {
		if (bytes[i] == '\0')
			bytes[i] = ' ';
	}
	return masked_text(bytes, COMMAND_MAXIMUM);
}

/* Lines of /proc/PID/limits (proc(5)), and what they are called in the answer. */
static const struct limit {
	const char *line;
	const char *name;
} limits[] = {
	{ "Max open files ", "open files" },
	{ "Max processes ", "processes" },
	{ "Max locked memory ", "locked memory (bytes)" },
	{ "Max address space ", "address space (bytes)" },
	{ "Max core file size ", "core file (bytes)" },
	{ "Max stack size ", "stack (bytes)" },
};

/* Adds the soft limit, the first word behind the line's name. */
static void add_limit(json_t *json, const struct limit *limit, const char *text)
{
	const char *line = strstr(text, limit->line);
	char *word;

	if (!line)
		return;
	line += strlen(limit->line);
	line += strspn(line, " ");
	word = xstrndup(line, strcspn(line, " \n"));
	json_set_text(json, limit->name, word);
	free(word);
}

static json_t *read_limits(struct procfs *procfs, pid_t pid)
{
	json_t *json;
	char *text;

	if (procfs_read(procfs, pid, "limits", &text, NULL) <= 0)
		return NULL;
	json = json_object();
	for (size_t i = 0; i < ARRAY_LENGTH(limits); i++)
		add_limit(json, &limits[i], text);
	return json;
}

/* Reads a file as the process sees it, for free(); NULL: there is none. */
static char *read_file(const struct process *process, const char *path, size_t maximum)
{
	int folder = source_file_open_folder(process, path);
	struct error error = ERROR_INIT;
	double written;
	char *text;

	if (folder < 0)
		return NULL;
	text = source_file_read_below(folder, strrchr(path, '/') + 1, maximum, &written, &error);
	close(folder);
	return text;
}

/* Length of the hash of a commit, SHA-1 or SHA-256, that text begins with; 0: it is none. */
static size_t hash_length(const char *text)
{
	size_t length = 0;

	while (isxdigit((unsigned char)text[length]))
		length++;
	return length == 40 || length == 64 ? length : 0;
}

/* True if a name of a branch can be part of a path. */
static bool is_plain(const char *ref)
{
	return strncmp(ref, "refs/", 5) == 0 && !strstr(ref, "..") &&
	       ref[strspn(ref, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
			       "._/-+@")] == '\0';
}

/* Finds "HASH REF" in the lines of packed-refs; returns NULL if it is not there. */
static const char *find_packed(const char *text, const char *ref)
{
	while (text && *text) {
		size_t length = hash_length(text);
		const char *end = strchr(text, '\n');

		if (length > 0 && text[length] == ' ' &&
		    strncmp(text + length + 1, ref, strlen(ref)) == 0 &&
		    strchr("\r\n", text[length + 1 + strlen(ref)]))
			return text;
		text = end ? end + 1 : NULL;
	}
	return NULL;
}

static json_t *hash_of(const char *text)
{
	size_t length = text ? hash_length(text) : 0;

	return length > 0 ? json_stringn(text, length) : NULL;
}

/* The commit to which the branch points; NULL: not found. */
static json_t *read_ref(const struct process *process, const char *git, const char *ref)
{
	char *path = xasprintf("%s/%s", git, ref);
	char *text = read_file(process, path, HEAD_MAXIMUM);
	json_t *hash = hash_of(text);

	free(path);
	free(text);
	if (hash)
		return hash;
	path = xasprintf("%s/packed-refs", git);
	text = read_file(process, path, PACKED_REFS_MAXIMUM);
	hash = hash_of(find_packed(text, ref));
	free(path);
	free(text);
	return hash;
}

/*
 * The commit that the repository's HEAD names; NULL: it is not known. *is_there: git is the folder
 * of a repository, or the file of a worktree or submodule, which is not followed.
 */
static json_t *read_head(const struct process *process, const char *git, bool *is_there)
{
	char *path = xasprintf("%s/HEAD", git);
	char *head = read_file(process, path, HEAD_MAXIMUM);
	char *file = head ? NULL : read_file(process, git, HEAD_MAXIMUM);
	json_t *hash = hash_of(head);

	*is_there = head || file;
	free(path);
	free(file);
	if (!hash && head && strncmp(head, REF, strlen(REF)) == 0) {
		char *ref = head + strlen(REF);

		ref[strcspn(ref, "\r\n")] = '\0';
		if (is_plain(ref))
			hash = read_ref(process, git, ref);
	}
	free(head);
	return hash;
}

static json_t *read_commit(const struct process *process)
{
	char *folder = xstrdup_or_null(process->script_path);
	json_t *hash = NULL;
	bool is_there = false;

	for (int i = 0; folder && folder[0] == '/' && !is_there && i < FOLDERS_MAXIMUM; i++) {
		char *slash = strrchr(folder, '/');
		char *git;

		*slash = '\0';
		git = xasprintf("%s/.git", folder);
		hash = read_head(process, git, &is_there);
		free(git);
	}
	free(folder);
	return hash;
}

json_t *origin_read(struct procfs *procfs, const struct process *process)
{
	json_t *json = json_object();
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	json_object_set_new(json, "started",
			    json_real((double)now.tv_sec - procfs_age(process->start_time)));
	json_object_set_new(json, "command", read_command(procfs, process->pid));
	json_object_set_new(json, "environment", read_environment(procfs, process->pid));
	json_object_set_new(json, "limits", read_limits(procfs, process->pid));
	json_object_set_new(json, "commit", read_commit(process));
	return json;
}
