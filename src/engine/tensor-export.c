#include "engine/tensor-export.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/file.h"
#include "base/pack.h"
#include "model/npy.h"
#include "protocol/tensoranswer.h"

struct tensor_export {
	int fd; /* -1: the file is complete and closed */
	char *path;
	struct tensor tensor; /* the tensor when the export began */
	int64_t at;	      /* number of elements written */
	uint32_t crc;	      /* CRC of the elements written */
	bool is_torn;
	bool is_live;
};

static int write_out(const struct tensor_export *export, const struct buffer *bytes,
		     struct error *error)
{
	if (file_write(export->fd, bytes->data, bytes->length) < 0)
		return error_set_errno(error, errno, "cannot write %s", export->path);
	return 0;
}

static int open_new(const char *path, struct error *error)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0 && errno == EEXIST)
		return error_set(error, "%s already exists: give another file", path);
	if (fd < 0)
		return error_set_errno(error, errno, "cannot create %s", path);
	return fd;
}

static int close_whole(struct tensor_export *export, struct error *error)
{
	int fd = export->fd;

	export->fd = -1;
	if (close(fd) == 0)
		return 0;
	error_set_errno(error, errno, "cannot write %s", export->path);
	unlink(export->path);
	return -1;
}

static int tensor_export_finish(struct tensor_export *export, struct error *error)
{
	int64_t start;

	return tensor_export_next(export, &start) == 0 ? close_whole(export, error) : 0;
}

struct tensor_export *tensor_export_new(const char *path, const struct tensor *tensor,
					struct error *error)
{
	struct tensor_export *export;
	struct buffer header = BUFFER_INIT;
	int result = npy_append_header(&header, tensor, error);
	int fd = result == 0 ? open_new(path, error) : -1;

	if (fd < 0) {
		buffer_clear(&header);
		return NULL;
	}
	export = xcalloc(1, sizeof(*export));
	export->fd = fd;
	export->path = xstrdup(path);
	tensor_copy(&export->tensor, tensor);
	result = write_out(export, &header, error);
	buffer_clear(&header);
	if (result == 0 && tensor_export_finish(export, error) == 0)
		return export;
	tensor_export_free(export);
	return NULL;
}

void tensor_export_free(struct tensor_export *export)
{
	if (!export)
		return;
	if (export->fd >= 0) {
		close(export->fd);
		unlink(export->path);
	}
	tensor_clear(&export->tensor);
	free(export->path);
	free(export);
}

int64_t tensor_export_next(const struct tensor_export *export, int64_t *start)
{
	const struct tensor *tensor = &export->tensor;
	int64_t left = tensor->element_count - export->at;
	int64_t most = tensor->item_size > 0 ? TENSOR_DATA_MAXIMUM / tensor->item_size : 0;

	*start = export->at;
	return left < most ? left : most;
}

/* False if dtype or shape has changed, or bytes are missing. */
static bool tensor_export_is_same(const struct tensor_export *export,
				  const struct tensor_answer *answer, int64_t count)
{
	const struct tensor *tensor = &export->tensor;

	return (int64_t)answer->data.length == count * tensor->item_size && answer->has_tensor &&
	       answer->tensor.dtype && strcmp(answer->tensor.dtype, tensor->dtype) == 0 &&
	       tensor_has_same_shape(&answer->tensor, tensor);
}

/*
 * Counts the elements of the answer as written, and notes whether they may be inconsistent:
 * is_live, is_torn.
 */
static void tensor_export_note(struct tensor_export *export, const struct tensor_answer *answer,
			       int64_t count)
{
	const struct tensor *tensor = &export->tensor;

	export->at += count;
	export->crc = crc_add(export->crc, answer->data.data, answer->data.length);
	export->is_live |= answer->tensor.is_live;
	export->is_torn |= answer->tensor.is_torn;
	if (export->at == tensor->element_count && tensor->has_hash && export->crc != tensor->hash)
		export->is_torn = true;
}

int tensor_export_add(struct tensor_export *export, const json_t *body, struct error *error)
{
	struct tensor_answer answer;
	struct buffer out = BUFFER_INIT;
	int64_t start;
	int64_t count = tensor_export_next(export, &start);
	int result = tensor_answer_from_json(&answer, body, error);

	if (result == 0 && !tensor_export_is_same(export, &answer, count))
		result = error_set(error, "the tensor changed during the export: stop the rank and "
					  "export again");
	if (result == 0) {
		npy_append_elements(&out, &export->tensor, (const uint8_t *)answer.data.data,
				    (size_t)count);
		result = write_out(export, &out, error);
	}
	if (result == 0) {
		tensor_export_note(export, &answer, count);
		result = tensor_export_finish(export, error);
	}
	buffer_clear(&out);
	tensor_answer_clear(&answer);
	return result;
}

bool tensor_export_is_torn(const struct tensor_export *export)
{
	return export->is_torn;
}

bool tensor_export_is_live(const struct tensor_export *export)
{
	return export->is_live;
}

const char *tensor_export_path(const struct tensor_export *export)
{
	return export->path;
}

int64_t tensor_export_done(const struct tensor_export *export)
{
	return export->at * export->tensor.item_size;
}
