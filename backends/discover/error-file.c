#include "backends/discover/error-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/linux/procfs.h"
#include "backends/linux/root-file.h"
#include "banned.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/json.h"
#include "protocol/error-text.h"
#include "protocol/process.h"

#define NAME "TORCHELASTIC_ERROR_FILE="
#define FILE_MAXIMUM (64u << 10)

void error_file_init(struct error_file *file)
{
	*file = (struct error_file){ .folder = -1 };
}

void error_file_clear(struct error_file *file)
{
	if (file->folder >= 0)
		close(file->folder);
	free(file->path);
	json_decref(file->last);
	error_file_init(file);
}

/* Returns the NUL-terminated value of the variable NAME, or NULL if it is not set or is empty. */
static const char *error_file_find_value(const char *bytes, size_t length)
{
	const char *end = bytes + length;

	while (bytes < end) {
		size_t size = strnlen(bytes, (size_t)(end - bytes));

		/* A last variable without a NUL is incomplete, and is ignored. */
		if (bytes + size < end && size > strlen(NAME) &&
		    memcmp(bytes, NAME, strlen(NAME)) == 0)
			return bytes + strlen(NAME);
		bytes += size + 1;
	}
	return NULL;
}

void error_file_find(struct error_file *file, struct procfs *procfs, const struct process *process)
{
	const char *value;
	ssize_t length;
	char *bytes;

	if (file->path)
		return;
	length = procfs_read(procfs, process->pid, "environ", &bytes, NULL);
	value = length > 0 ? error_file_find_value(bytes, (size_t)length) : NULL;
	if (!value)
		return;
	file->path = xstrdup(value);
	file->folder = source_file_open_folder(process, file->path);
}

json_t *error_file_read(const struct error_file *file)
{
	const char *slash = file->path ? strrchr(file->path, '/') : NULL;
	struct error error = ERROR_INIT;
	double written;
	json_t *json;
	char *text;

	if (file->last)
		return json_incref(file->last);
	if (!file->path || file->folder < 0)
		return json_null();
	text = source_file_read_below(file->folder, slash ? slash + 1 : file->path, FILE_MAXIMUM,
				      &written, &error);
	if (!text && errno == ENOENT)
		return json_null();
	if (!text)
		return error_text_failed(file->path, error.message);
	json = error_text_parse(file->path, text);
	json_object_set_new(json, "written", json_real(written));
	free(text);
	return json;
}

void error_file_settle(struct error_file *file)
{
	if (file->folder < 0)
		return;
	file->last = error_file_read(file);
	close(file->folder);
	file->folder = -1;
}
