#include "engine/post-mortem.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
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
#include "base/map.h"
#include "base/secret.h"
#include "engine/format.h"
#include "protocol/error-text.h"
#include "protocol/rankset.h"

#define FILE_MAXIMUM ((size_t)4 << 20)
#define DEPTH_MAXIMUM 8
#define FILES_MAXIMUM 65536
#define DIGITS_MAXIMUM 6 /* of an attempt, or a rank */
/* Maximum difference of the time in an error file and of its last change. */
#define STAMP_SECONDS 2.0
#define ERROR_FILE "error.json"

/* Ends of the names of logs. */
static const char *const log_ends[] = { ".log", ".err", ".out" };
/* Standard output of ranks, which has no tracebacks. */
#define STDOUT_FILE "stdout.log"

/* How certainly an end is the first failure, the most certain first. */
enum { ORDER_FAILED, ORDER_LAST, ORDER_SIGNAL, ORDER_VICTIM, ORDER_CODE, ORDER_NONE };

/* What torchrun prints about the first rank whose end it has seen. */
#define ROOT_CAUSE "Root Cause (first observed failure):"

struct walk {
	struct post_mortem *post_mortem;
	const char *run; /* folder that attempt_N is in; NULL: unknown */
	int attempt;	 /* of the folder that is read; -1: unknown */
	int rank;
	int depth;
};

static void end_clear(struct post_mortem_end *end)
{
	cause_clear(&end->cause);
	free(end->run);
	free(end->path);
	free(end->text);
}

void post_mortem_clear(struct post_mortem *post_mortem)
{
	for (size_t i = 0; i < post_mortem->count; i++)
		end_clear(&post_mortem->ends[i]);
	free(post_mortem->ends);
	free(post_mortem->unread);
	strmap_free(post_mortem->seen);
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
		.run = xstrdup_or_null(walk->run),
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
	double stamp;

	if (json_is_string(json_object_get(json, "error")))
		note_unread(walk->post_mortem, path, json_get_string(json, "error", ""));
	if (message) {
		/* The time in the file is of whole seconds; the file is written at once. */
		stamp = json_get_real(json, "timestamp", at);
		end = add_end(walk, path, stack, fabs(at - stamp) <= STAMP_SECONDS ? at : stamp);
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

/* Index of the last exception, or abort, with the prefix of the rank (-1: with none); -1: none. */
static int find_last(const struct traceback_list *list, int rank)
{
	int last = traceback_last(list, rank);
	int abort = rank < 0 ? traceback_last_abort(list) : -1;

	if (last >= 0 && abort >= 0)
		return list->items[abort].start > list->items[last].start ? abort : last;
	return last < 0 ? abort : last;
}

/* Adds the end of the rank with this prefix; -1: what has no prefix. */
static void add_log_end(const struct walk *walk, const char *path, const char *text, int rank,
			double at)
{
	struct post_mortem_end *end = add_end(walk, path, text, at);

	end->cause.source = CAUSE_STDERR;
	traceback_read(&end->cause.tracebacks, end->text);
	end->cause.last = find_last(&end->cause.tracebacks, rank);
	if (rank >= 0) {
		end->rank = rank;
		end->is_local = false;
	}
}

/* Returns what follows the name and a colon in a line of torchrun's list; NULL: no such line. */
static const char *find_field(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	at = at ? at + strlen(name) + strspn(at + strlen(name), " ") : NULL;
	return at && *at == ':' ? at + 1 + strspn(at + 1, " ") : NULL;
}

/* Adds the end that torchrun's own text names, by its signal or exit code. */
static void read_root_cause(const struct walk *walk, const char *path, const char *text)
{
	const char *root = strstr(text, ROOT_CAUSE);
	const char *rank = root ? find_field(root, "\n  rank") : NULL;
	const char *code = root ? find_field(root, "\n  exitcode") : NULL;
	const char *name = code ? strstr(code, "(SIG") : NULL;
	struct post_mortem_end *end;
	struct traceback *item;
	long number;

	if (!rank || !code)
		return;
	number = strtol(rank, NULL, 10);
	if (number < 0 || number > RANKSET_MAXIMUM)
		return;
	end = add_end(walk, path, "", -1);
	end->rank = (int)number;
	end->is_local = false;
	end->cause.source = CAUSE_LAUNCHER;
	end->cause.last = 0;
	item = traceback_add(&end->cause.tracebacks, "");
	free(item->type);
	if (name && strcspn(code, "\n") > (size_t)(name - code))
		item->type = xstrndup(name + 1, strcspn(name + 1, ")\n"));
	else
		item->type = xasprintf("exit code %ld", strtol(code, NULL, 10));
}

/* Adds an end for each rank that the log names, and one for what names none. */
static void read_log(const struct walk *walk, const char *path, const char *text, double at)
{
	struct traceback_list list = { .items = NULL };
	struct rankset ranks = RANKSET_INIT;
	bool has_unnamed;
	int rank = -1;

	traceback_read(&list, text);
	for (size_t i = 0; i < list.count; i++) {
		if (list.items[i].rank >= 0)
			rankset_add(&ranks, list.items[i].rank);
	}
	/* Of one rank's log, what torch.distributed has marked ended the rank. */
	has_unnamed = find_last(&list, -1) >= 0 && (walk->rank < 0 || rankset_count(&ranks) == 0);
	/* The file was last written by one of several ranks, it is not known which. */
	if (rankset_count(&ranks) + has_unnamed > 1)
		at = -1;
	if (has_unnamed)
		add_log_end(walk, path, text, -1, at);
	while ((rank = rankset_next(&ranks, rank)) >= 0) {
		if (find_last(&list, rank) >= 0)
			add_log_end(walk, path, text, rank, at);
	}
	/* That a rank has printed nothing is worth knowing, if the log is its own. */
	if (walk->rank >= 0 && !has_unnamed && rankset_count(&ranks) == 0)
		add_end(walk, path, "", at);
	read_root_cause(walk, path, text);
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

/* Notes that the file is read; true: it was read before, by another path. */
static bool was_read(struct post_mortem *post_mortem, const struct stat *about)
{
	char key[48];

	snprintf(key, sizeof(key), "%llu:%llu", (unsigned long long)about->st_dev,
		 (unsigned long long)about->st_ino);
	if (!post_mortem->seen)
		post_mortem->seen = strmap_new(NULL);
	if (strmap_find(post_mortem->seen, key))
		return true;
	strmap_put(post_mortem->seen, key, post_mortem);
	return false;
}

static void read_file(const struct walk *walk, int fd, const char *path, const struct stat *about)
{
	const char *slash = strrchr(path, '/');
	bool is_error_file = strcmp(slash ? slash + 1 : path, ERROR_FILE) == 0;
	struct buffer text = BUFFER_INIT;
	struct buffer masked = BUFFER_INIT;

	if (was_read(walk->post_mortem, about))
		return;
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

/* Returns the number that the text is; -1: it is something else. */
static int number_of(const char *text)
{
	size_t length = strspn(text, "0123456789");

	return length > 0 && length <= DIGITS_MAXIMUM && text[length] == '\0'
		       ? (int)strtol(text, NULL, 10)
		       : -1;
}

/* torchrun's folders: attempt_0, and below it a local rank. path: that the folder is in. */
static void enter(struct walk *walk, const char *name, const char *path)
{
	static const char word[] = "attempt_";

	walk->depth++;
	if (strncmp(name, word, strlen(word)) == 0) {
		walk->attempt = number_of(name + strlen(word));
		walk->run = walk->attempt < 0 ? NULL : path;
		walk->rank = -1;
	} else if (walk->attempt >= 0) {
		walk->rank = number_of(name);
	}
}

static void read_folder(struct walk walk, int fd, const char *path);

/* Closes fd. */
static void read_entry(struct walk walk, int fd, const char *name, const char *path,
		       const char *folder)
{
	struct stat about;

	if (fstat(fd, &about) < 0) {
		note_unread(walk.post_mortem, path, strerror(errno));
		close(fd);
	} else if (S_ISDIR(about.st_mode)) {
		enter(&walk, name, folder);
		read_folder(walk, fd, path);
	} else {
		if (S_ISREG(about.st_mode))
			read_file(&walk, fd, path, &about);
		close(fd);
	}
}

static int compare_names(const struct dirent **left, const struct dirent **right)
{
	return strcmp((*left)->d_name, (*right)->d_name);
}

/* True for folders, and regular files with the name of a log: others are never opened. */
static bool is_wanted(int folder, const char *name)
{
	struct stat about;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
	    fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) < 0)
		return false;
	return S_ISDIR(about.st_mode) || (S_ISREG(about.st_mode) && is_log(name));
}

/* Closes fd. */
static void read_folder(struct walk walk, int fd, const char *path)
{
	struct dirent **entries = NULL;
	int count = 0;

	if (walk.depth > DEPTH_MAXIMUM)
		note_unread(walk.post_mortem, path, "too many folders below each other");
	else if ((count = scandirat(fd, ".", &entries, NULL, compare_names)) < 0)
		note_unread(walk.post_mortem, path, strerror(errno));
	for (int i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		char *below = xasprintf("%s/%s", path, name);
		int entry;

		if (walk.post_mortem->file_count >= FILES_MAXIMUM) {
			note_unread(walk.post_mortem, below, "too many files");
		} else if (is_wanted(fd, name)) {
			entry = openat(fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
			if (entry >= 0)
				read_entry(walk, entry, name, below, path);
			else
				note_unread(walk.post_mortem, below, strerror(errno));
		}
		free(below);
		free(entries[i]);
	}
	free(entries);
	close(fd);
}

/*
 * Takes attempt and local rank from the folders of a path that the user gives. Returns the run's
 * folder, which *walk borrows; NULL: there is none.
 */
static char *enter_path(struct walk *walk, const char *path)
{
	char *run = NULL;

	for (const char *name = path; *name != '\0'; name += strcspn(name, "/")) {
		char *folder;

		name += strspn(name, "/");
		folder = xstrndup(name, strcspn(name, "/"));
		enter(walk, folder, path);
		if (walk->run) {
			free(run);
			run = xstrndup(path, name > path ? (size_t)(name - path - 1) : 0);
			walk->run = NULL;
		}
		free(folder);
	}
	walk->depth = 0;
	walk->run = run;
	return run;
}

int post_mortem_read(struct post_mortem *post_mortem, const char *path, struct error *error)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct walk walk = { .post_mortem = post_mortem, .attempt = -1, .rank = -1 };
	const char *slash = strrchr(path, '/');
	struct stat about;
	char *folders;
	char *run;

	if (fd < 0 || fstat(fd, &about) < 0) {
		error_set_errno(error, errno, "cannot read %s", path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)) {
		close(fd);
		return error_set(error, "%s is neither a file nor a folder", path);
	}
	folders = S_ISDIR(about.st_mode) ? xstrdup(path)
					 : xstrndup(path, slash ? (size_t)(slash - path) : 0);
	run = enter_path(&walk, folders);
	if (S_ISDIR(about.st_mode)) {
		read_folder(walk, fd, path);
	} else {
		read_file(&walk, fd, path, &about);
		close(fd);
	}
	free(folders);
	free(run);
	return 0;
}

static const struct traceback *exception_of(const struct post_mortem_end *end)
{
	return end->cause.last < 0 ? NULL : &end->cause.tracebacks.items[end->cause.last];
}

/*
 * What failed by itself comes first: for certain, as torch.distributed or an error file says so, or
 * it aborted; then by a last traceback, which the program may have survived; then by a signal that
 * torchrun has seen. Then what has lost or waited for another rank; then what torchrun has seen to
 * exit with a code; last a rank without an exception.
 */
static int order_of(const struct post_mortem_end *end)
{
	const struct traceback *exception = exception_of(end);

	if (!exception)
		return ORDER_NONE;
	if (end->cause.source == CAUSE_LAUNCHER)
		return strncmp(exception->type, "SIG", 3) == 0 ? ORDER_SIGNAL : ORDER_CODE;
	if (traceback_blame(exception) != TRACEBACK_OWN)
		return ORDER_VICTIM;
	if (exception->rank >= 0 || end->cause.source == CAUSE_ERROR_FILE ||
	    exception->kind != TRACEBACK_EXCEPTION)
		return ORDER_FAILED;
	return ORDER_LAST;
}

static bool is_same_run(const struct post_mortem_end *a, const struct post_mortem_end *b)
{
	return a->attempt == b->attempt && strcmp(a->run ? a->run : "", b->run ? b->run : "") == 0;
}

static int compare_ends(const void *left, const void *right)
{
	const struct post_mortem_end *a = left;
	const struct post_mortem_end *b = right;
	int runs = strcmp(a->run ? a->run : "", b->run ? b->run : "");

	if (runs != 0)
		return runs;
	if (a->attempt != b->attempt)
		return a->attempt - b->attempt;
	if (order_of(a) != order_of(b))
		return order_of(a) - order_of(b);
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank - b->rank;
	return strcmp(a->path, b->path);
}

/* True if the rank's error file says it with more certainty. */
static bool is_repeated(const struct post_mortem *post_mortem, size_t at)
{
	const struct post_mortem_end *end = &post_mortem->ends[at];

	if (end->cause.source == CAUSE_ERROR_FILE || !end->is_local || end->attempt < 0)
		return false;
	for (size_t i = 0; i < post_mortem->count; i++) {
		const struct post_mortem_end *other = &post_mortem->ends[i];

		if (other->cause.source == CAUSE_ERROR_FILE && other->rank == end->rank &&
		    is_same_run(other, end))
			return true;
	}
	return false;
}

void post_mortem_judge(struct post_mortem *post_mortem)
{
	for (size_t i = post_mortem->count; i-- > 0;) {
		if (!is_repeated(post_mortem, i))
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

/* Appends the ranks of the attempt that have no exception: ", and local rank 1 has none". */
static void append_silent(struct buffer *out, const struct post_mortem_end *ends, size_t count)
{
	struct rankset silent = RANKSET_INIT;

	for (size_t i = 0; i < count; i++) {
		if (!exception_of(&ends[i]) && ends[i].rank >= 0)
			rankset_add(&silent, ends[i].rank);
	}
	if (rankset_count(&silent) > 0) {
		buffer_append_string(out, ", and local ");
		rankset_append_named(out, &silent);
		buffer_append_string(out, rankset_count(&silent) == 1 ? " has none" : " have none");
	}
	rankset_clear(&silent);
}

/* Appends the sentence about one attempt. */
static void append_headline(struct buffer *out, const struct post_mortem_end *ends, size_t count)
{
	size_t start = out->length;

	if (ends->attempt >= 0)
		buffer_printf(out, "Attempt %d: ", ends->attempt);
	switch (order_of(ends)) {
	case ORDER_NONE:
		buffer_append_string(out, "no log has an exception.");
		out->data[start] = (char)toupper((unsigned char)out->data[start]);
		return;
	case ORDER_VICTIM:
		buffer_append_string(out, "all exceptions are about lost or late ranks");
		append_silent(out, ends, count);
		buffer_append_string(out, "; the first is of ");
		append_rank(out, ends);
		buffer_append_string(out, ": ");
		break;
	case ORDER_SIGNAL:
	case ORDER_CODE:
		buffer_append_string(out, "torchrun has seen ");
		append_rank(out, ends);
		buffer_append_string(out, " end first: ");
		break;
	case ORDER_LAST:
		append_rank(out, ends);
		buffer_append_string(out, " failed first, by the last traceback in its log: ");
		break;
	default:
		append_rank(out, ends);
		buffer_append_string(out, " failed first, with ");
	}
	cause_append_exception(out, &ends->cause);
	buffer_append_char(out, '.');
	out->data[start] = (char)toupper((unsigned char)out->data[start]);
}

static void append_end(struct buffer *out, const struct post_mortem_end *end)
{
	time_t seconds = (time_t)end->at;
	struct tm parts;
	char stamp[64] = "";

	if (end->at >= 0 && gmtime_r(&seconds, &parts))
		strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S UTC  ", &parts);
	buffer_printf(out, "  %s", stamp);
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

/* Number of ends, from this one on, of the same run and attempt. */
static size_t count_same(const struct post_mortem *post_mortem, size_t at)
{
	size_t next = at + 1;

	while (next < post_mortem->count &&
	       is_same_run(&post_mortem->ends[at], &post_mortem->ends[next]))
		next++;
	return next - at;
}

void post_mortem_append(struct buffer *out, const struct post_mortem *post_mortem)
{
	const char *run = NULL;
	size_t count;

	for (size_t i = 0; i < post_mortem->count; i += count) {
		const struct post_mortem_end *ends = &post_mortem->ends[i];

		count = count_same(post_mortem, i);
		if (ends->run && (!run || strcmp(run, ends->run) != 0)) {
			format_text(out, ends->run);
			buffer_append_string(out, ":\n");
		}
		run = ends->run;
		append_headline(out, ends, count);
		buffer_append_char(out, '\n');
		for (size_t j = 0; j < count; j++)
			append_end(out, &ends[j]);
	}
}

static json_t *end_to_json(const struct post_mortem_end *end)
{
	json_t *json = json_object();

	json_object_set_new(json, "rank", end->rank < 0 ? json_null() : json_integer(end->rank));
	json_object_set_new(json, "is_local", json_boolean(end->is_local));
	json_object_set_new(json, "time", end->at < 0 ? json_null() : json_real(end->at));
	json_set_text(json, "path", end->path);
	json_object_set_new(json, "exception", cause_to_json(&end->cause));
	return json;
}

static json_t *attempt_to_json(const struct post_mortem_end *ends, size_t count)
{
	bool is_own = order_of(ends) <= ORDER_SIGNAL;
	struct buffer headline = BUFFER_INIT;
	json_t *json = json_object();
	json_t *list = json_array();

	append_headline(&headline, ends, count);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, end_to_json(&ends[i]));
	json_set_text(json, "run", ends->run);
	json_object_set_new(json, "attempt",
			    ends->attempt < 0 ? json_null() : json_integer(ends->attempt));
	json_object_set_new(json, "rank",
			    is_own && ends->rank >= 0 ? json_integer(ends->rank) : json_null());
	json_set_text(json, "headline", headline.data);
	json_object_set_new(json, "ends", list);
	buffer_clear(&headline);
	return json;
}

json_t *post_mortem_to_json(const struct post_mortem *post_mortem)
{
	json_t *attempts = json_array();
	size_t count;

	for (size_t i = 0; i < post_mortem->count; i += count) {
		count = count_same(post_mortem, i);
		json_array_append_new(attempts, attempt_to_json(&post_mortem->ends[i], count));
	}
	return json_pack("{s:I, s:o}", "files", (json_int_t)post_mortem->file_count, "attempts",
			 attempts);
}
