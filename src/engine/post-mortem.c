#include "engine/post-mortem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/secret.h"
#include "engine/format.h"
#include "protocol/error-text.h"
#include "protocol/rankset.h"

#define FILE_MAXIMUM ((size_t)64 << 10)
#define DEPTH_MAXIMUM 8
#define FILES_MAXIMUM 65536
#define ERROR_FILE "error.json"

/* Ends of the names of logs. */
static const char *const log_ends[] = { ".log", ".err", ".out" };
/* Standard output of ranks, which has no tracebacks. */
#define STDOUT_FILE "stdout.log"

struct walk {
	struct post_mortem *post_mortem;
	int attempt; /* of the folder that is read; -1: unknown */
	int rank;
	int depth;
};

static void end_clear(struct post_mortem_end *end)
{
	cause_clear(&end->cause);
	free(end->path);
	free(end->text);
}

void post_mortem_clear(struct post_mortem *post_mortem)
{
	for (size_t i = 0; i < post_mortem->count; i++)
		end_clear(&post_mortem->ends[i]);
	free(post_mortem->ends);
	free(post_mortem->unread);
	*post_mortem = (struct post_mortem)POST_MORTEM_INIT;
}

static void note_unread(struct post_mortem *post_mortem, const char *path, const char *why)
{
	if (!post_mortem->unread)
		post_mortem->unread = xasprintf("%s: %s", path, why);
}

/* Appends an end with its strings; the caller fills its cause. */
static struct post_mortem_end *add_end(const struct walk *walk, const char *path, const char *text,
				       double at)
{
	struct post_mortem *post_mortem = walk->post_mortem;
	struct post_mortem_end *end;

	ARRAY_GROW(post_mortem->ends, post_mortem->count, post_mortem->capacity);
	end = &post_mortem->ends[post_mortem->count++];
	*end = (struct post_mortem_end){
		.attempt = walk->attempt,
		.rank = walk->rank,
		.is_local = walk->rank >= 0,
		.at = at,
		.path = xstrdup(path),
		.text = xstrdup(text),
		.cause = { .last = -1 },
	};
	end->cause.path = end->path;
	end->cause.text = end->text;
	return end;
}

static void read_error_file(const struct walk *walk, const char *path, const char *text, double at)
{
	json_t *json = error_text_parse(path, text);
	const char *message = json_get_string(json, "message", NULL);
	const char *stack = json_get_string(json, "callstack", "");
	struct post_mortem_end *end;
	struct cause *cause;

	if (message) {
		end = add_end(walk, path, stack, json_get_real(json, "timestamp", at));
		cause = &end->cause;
		cause->source = CAUSE_ERROR_FILE;
		traceback_read(&cause->tracebacks, end->text);
		cause->last = traceback_last(&cause->tracebacks, -1);
		if (cause->last < 0) {
			cause->last = (int)cause->tracebacks.count;
			traceback_add(&cause->tracebacks, message);
		}
	}
	json_decref(json);
}

/* Index of the exception with which the rank of the prefix ended; -1: none. */
static int find_last(const struct traceback_list *list, int rank)
{
	int last = traceback_last(list, rank);

	return last < 0 && rank < 0 ? traceback_last_abort(list) : last;
}

/* Adds an end for each rank that the log names, and one for what names none. */
static void read_log(const struct walk *walk, const char *path, const char *text, double at)
{
	struct traceback_list list = { .items = NULL };
	struct rankset ranks = RANKSET_INIT;
	int rank = -1;

	traceback_read(&list, text);
	/* That a rank has printed nothing is worth knowing, if the log is its own. */
	if (list.count == 0 && walk->rank >= 0)
		add_end(walk, path, "", at);
	for (size_t i = 0; i < list.count; i++) {
		if (list.items[i].rank >= 0)
			rankset_add(&ranks, list.items[i].rank);
	}
	do {
		/* Of one rank's log, what torch.distributed has marked ended the rank. */
		bool is_left_out = rank < 0 && walk->rank >= 0 && rankset_count(&ranks) > 0;
		struct post_mortem_end *end;

		if (is_left_out || find_last(&list, rank) < 0)
			continue;
		end = add_end(walk, path, text, at);
		end->cause.source = CAUSE_STDERR;
		traceback_read(&end->cause.tracebacks, end->text);
		end->cause.last = find_last(&end->cause.tracebacks, rank);
		if (rank >= 0) {
			end->rank = rank;
			end->is_local = false;
		}
	} while ((rank = rankset_next(&ranks, rank)) >= 0);
	rankset_clear(&ranks);
	traceback_list_clear(&list);
}

static double time_of(const struct stat *about)
{
	return (double)about->st_mtim.tv_sec + (double)about->st_mtim.tv_nsec / 1e9;
}

/*
 * Appends the end of a file, from a whole line on. NUL bytes, as a log has that was truncated while
 * it was written, are left out.
 */
static int read_tail(int fd, off_t size, struct buffer *out)
{
	off_t at = size > (off_t)FILE_MAXIMUM ? size - (off_t)FILE_MAXIMUM : 0;
	char *bytes = xcalloc(FILE_MAXIMUM + 1, 1);
	ssize_t got = pread(fd, bytes, FILE_MAXIMUM, at);
	ssize_t from = 0;

	while (at > 0 && from < got && bytes[from] != '\n' && bytes[from] != '\0')
		from++;
	for (ssize_t i = from; i < got; i++) {
		if (bytes[i] != '\0')
			buffer_append_char(out, bytes[i]);
	}
	free(bytes);
	return got < 0 ? -1 : 0;
}

static void read_file(const struct walk *walk, int fd, const char *path, const struct stat *about)
{
	const char *slash = strrchr(path, '/');
	bool is_error_file = strcmp(slash ? slash + 1 : path, ERROR_FILE) == 0;
	struct buffer text = BUFFER_INIT;
	struct buffer masked = BUFFER_INIT;

	if (read_tail(fd, about->st_size, &text) < 0) {
		note_unread(walk->post_mortem, path, strerror(errno));
	} else if (text.length > 0 || !is_error_file) {
		walk->post_mortem->file_count++;
		if (is_error_file) {
			read_error_file(walk, path, text.data, time_of(about));
		} else {
			secret_mask_traceback(&masked, text.length > 0 ? text.data : "");
			read_log(walk, path, masked.length > 0 ? masked.data : "", time_of(about));
		}
	}
	buffer_clear(&masked);
	buffer_clear(&text);
}

static bool is_log(const char *name)
{
	size_t length = strlen(name);

	if (strcmp(name, ERROR_FILE) == 0)
		return true;
	if (strcmp(name, STDOUT_FILE) == 0)
		return false;
	for (size_t i = 0; i < ARRAY_LENGTH(log_ends); i++) {
		size_t end = strlen(log_ends[i]);

		if (length > end && strcmp(name + length - end, log_ends[i]) == 0)
			return true;
	}
	return false;
}

/* torchrun's folders: attempt_0, and below it a local rank. */
static void enter(struct walk *walk, const char *name)
{
	static const char word[] = "attempt_";
	char *end;
	long number;

	walk->depth++;
	if (strncmp(name, word, strlen(word)) == 0) {
		number = strtol(name + strlen(word), &end, 10);
		walk->attempt =
			*end == '\0' && number >= 0 && number < FILES_MAXIMUM ? (int)number : -1;
		walk->rank = -1;
	} else if (walk->attempt >= 0) {
		number = strtol(name, &end, 10);
		walk->rank =
			*end == '\0' && number >= 0 && number <= RANKSET_MAXIMUM ? (int)number : -1;
	}
}

static void read_folder(struct walk walk, int fd, const char *path);

/* fd is closed. */
static void read_entry(struct walk walk, int fd, const char *name, const char *path)
{
	struct stat about;

	if (fstat(fd, &about) < 0) {
		note_unread(walk.post_mortem, path, strerror(errno));
		close(fd);
	} else if (S_ISDIR(about.st_mode)) {
		enter(&walk, name);
		read_folder(walk, fd, path);
	} else {
		if (S_ISREG(about.st_mode) && is_log(name))
			read_file(&walk, fd, path, &about);
		close(fd);
	}
}

static int compare_names(const struct dirent **left, const struct dirent **right)
{
	return strcmp((*left)->d_name, (*right)->d_name);
}

/* fd is closed. */
static void read_folder(struct walk walk, int fd, const char *path)
{
	struct dirent **entries = NULL;
	int count =
		walk.depth > DEPTH_MAXIMUM ? 0 : scandirat(fd, ".", &entries, NULL, compare_names);

	if (count < 0)
		note_unread(walk.post_mortem, path, strerror(errno));
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		bool is_wanted = strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
				 walk.post_mortem->file_count < FILES_MAXIMUM;
		char *below = xasprintf("%s/%s", path, name);
		int entry = -1;

		if (is_wanted)
			entry = openat(fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (entry >= 0)
			read_entry(walk, entry, name, below);
		else if (is_wanted && errno != ELOOP && errno != ENXIO)
			note_unread(walk.post_mortem, below, strerror(errno));
		free(below);
		free(entries[i]);
	}
	free(entries);
	close(fd);
}

/* Takes attempt and local rank from the last folders of a path that the user gives. */
static void enter_path(struct walk *walk, const char *path)
{
	char *copy = xstrdup(path);
	char *rest = NULL;

	for (char *name = strtok_r(copy, "/", &rest); name; name = strtok_r(NULL, "/", &rest))
		enter(walk, name);
	walk->depth = 0;
	free(copy);
}

int post_mortem_read(struct post_mortem *post_mortem, const char *path, struct error *error)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct walk walk = { .post_mortem = post_mortem, .attempt = -1, .rank = -1 };
	struct stat about;

	if (fd < 0 || fstat(fd, &about) < 0) {
		error_set_errno(error, errno, "cannot read %s", path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (S_ISREG(about.st_mode)) {
		char *folder = xstrndup(
			path, strrchr(path, '/') ? (size_t)(strrchr(path, '/') - path) : 0);

		enter_path(&walk, folder);
		read_file(&walk, fd, path, &about);
		free(folder);
		close(fd);
		return 0;
	}
	if (!S_ISDIR(about.st_mode)) {
		close(fd);
		return error_set(error, "%s is neither a file nor a folder", path);
	}
	enter_path(&walk, path);
	read_folder(walk, fd, path);
	return 0;
}

static const struct traceback *exception_of(const struct post_mortem_end *end)
{
	return end->cause.last < 0 ? NULL : &end->cause.tracebacks.items[end->cause.last];
}

/* What failed by itself comes first, a rank without an exception last. */
static int order_of(const struct post_mortem_end *end)
{
	if (!exception_of(end))
		return 2;
	return traceback_blame(exception_of(end)) == TRACEBACK_OWN ? 0 : 1;
}

static int compare_ends(const void *left, const void *right)
{
	const struct post_mortem_end *a = left;
	const struct post_mortem_end *b = right;

	if (a->attempt != b->attempt)
		return a->attempt - b->attempt;
	if (order_of(a) != order_of(b))
		return order_of(a) - order_of(b);
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->rank - b->rank;
}

/* True if the rank's error file, in the same folder, says it with more certainty. */
static bool is_repeated(const struct post_mortem *post_mortem, const struct post_mortem_end *end)
{
	const char *slash = strrchr(end->path, '/');

	for (size_t i = 0; slash && i < post_mortem->count; i++) {
		const struct post_mortem_end *other = &post_mortem->ends[i];

		if (other->cause.source == CAUSE_ERROR_FILE &&
		    end->cause.source != CAUSE_ERROR_FILE &&
		    strncmp(other->path, end->path, (size_t)(slash + 1 - end->path)) == 0 &&
		    !strchr(other->path + (slash + 1 - end->path), '/'))
			return true;
	}
	return false;
}

void post_mortem_judge(struct post_mortem *post_mortem)
{
	for (size_t i = post_mortem->count; i-- > 0;) {
		if (!is_repeated(post_mortem, &post_mortem->ends[i]))
			continue;
		end_clear(&post_mortem->ends[i]);
		memmove(&post_mortem->ends[i], &post_mortem->ends[i + 1],
			(--post_mortem->count - i) * sizeof(*post_mortem->ends));
	}
	if (post_mortem->count > 1)
		qsort(post_mortem->ends, post_mortem->count, sizeof(*post_mortem->ends),
		      compare_ends);
}

/* "rank 1", "local rank 1", "a rank" */
static void append_rank(struct buffer *out, const struct post_mortem_end *end)
{
	if (end->rank < 0)
		buffer_append_string(out, "a rank");
	else
		buffer_printf(out, "%srank %d", end->is_local ? "local " : "", end->rank);
}

/* Appends the sentence about the attempt that begins with this end. */
static void append_headline(struct buffer *out, const struct post_mortem_end *end)
{
	if (end->attempt >= 0)
		buffer_printf(out, "Attempt %d: ", end->attempt);
	if (!exception_of(end)) {
		buffer_append_string(out, "no log has an exception.");
		return;
	}
	if (order_of(end) > 0)
		buffer_append_string(out, "no log has a failure of the rank's own; first, ");
	append_rank(out, end);
	buffer_append_string(out, order_of(end) > 0 ? " ended with " : " failed first, with ");
	cause_append_exception(out, &end->cause);
	buffer_append_char(out, '.');
}

static void append_end(struct buffer *out, const struct post_mortem_end *end)
{
	time_t seconds = (time_t)end->at;
	struct tm parts;
	char stamp[32];

	gmtime_r(&seconds, &parts);
	strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S UTC", &parts);
	buffer_printf(out, "  %s  ", stamp);
	append_rank(out, end);
	buffer_append_string(out, ": ");
	if (exception_of(end))
		cause_append_exception(out, &end->cause);
	else
		buffer_append_string(out, "no exception");
	buffer_append_string(out, "\n    ");
	format_text(out, end->path);
	buffer_append_char(out, '\n');
}

void post_mortem_append(struct buffer *out, const struct post_mortem *post_mortem)
{
	for (size_t i = 0; i < post_mortem->count; i++) {
		const struct post_mortem_end *end = &post_mortem->ends[i];

		if (i == 0 || end->attempt != end[-1].attempt) {
			append_headline(out, end);
			buffer_append_char(out, '\n');
		}
		append_end(out, end);
	}
}

static json_t *end_to_json(const struct post_mortem_end *end)
{
	json_t *json = json_object();

	json_object_set_new(json, "rank", end->rank < 0 ? json_null() : json_integer(end->rank));
	json_object_set_new(json, "is_local", json_boolean(end->is_local));
	json_object_set_new(json, "time", json_real(end->at));
	json_set_text(json, "path", end->path);
	json_object_set_new(json, "exception", cause_to_json(&end->cause));
	return json;
}

static json_t *attempt_to_json(const struct post_mortem_end *first, size_t count)
{
	bool is_own = order_of(first) == 0;
	struct buffer headline = BUFFER_INIT;
	json_t *json = json_object();
	json_t *ends = json_array();

	append_headline(&headline, first);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(ends, end_to_json(&first[i]));
	json_object_set_new(json, "attempt",
			    first->attempt < 0 ? json_null() : json_integer(first->attempt));
	json_object_set_new(json, "rank",
			    is_own && first->rank >= 0 ? json_integer(first->rank) : json_null());
	json_set_text(json, "headline", headline.data);
	json_object_set_new(json, "ends", ends);
	buffer_clear(&headline);
	return json;
}

json_t *post_mortem_to_json(const struct post_mortem *post_mortem)
{
	json_t *attempts = json_array();
	size_t next;

	for (size_t i = 0; i < post_mortem->count; i = next) {
		const struct post_mortem_end *first = &post_mortem->ends[i];

		for (next = i + 1; next < post_mortem->count; next++) {
			if (post_mortem->ends[next].attempt != first->attempt)
				break;
		}
		json_array_append_new(attempts, attempt_to_json(first, next - i));
	}
	return json_pack("{s:I, s:o}", "files", (json_int_t)post_mortem->file_count, "attempts",
			 attempts);
}
