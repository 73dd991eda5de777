#include "model/traceback.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/logline.h"
#include "base/map.h"
#include "base/text.h"
#include "model/place.h"

#define HEAD "Traceback (most recent call last):"
#define GROUP_HEAD "Exception Group Traceback (most recent call last):"
#define CAUSED "The above exception was the direct cause of the following exception:"
#define DURING "During handling of the above exception, another exception occurred:"
#define THREAD "Exception in thread "
#define TERMINATE "terminate called after throwing an instance of '"
#define FAULT "Fatal Python error: "
#define WHAT "  what():  "

/* What the lines of one rank, or those that name no rank, have been so far. */
struct traceback_reader {
	struct traceback now; /* the traceback that is being read */
	bool is_open;	      /* frames are being read */
	bool is_group;	      /* of an exception group */
	bool has_frame;
	bool has_user;	 /* the file that was taken is not a library's */
	size_t margin;	 /* of its lines, see logline_margin() */
	int last;	 /* index of the last item, if it was complete; -1: none */
	bool wants_text; /* the message of the last item is on the next line */
	bool wants_what; /* the last item is of C++, and its line "what()" has to follow */
	bool is_fault;	 /* the last item is a fault, whose frames have to follow */
	bool is_faulty;	 /* these are the frames of the thread at fault */
	int group;	 /* index of the group whose members follow; -1: none */
	size_t group_margin;
	enum traceback_relation next;
	char *thread; /* of the line "Exception in thread …" before; NULL: none */
};

struct traceback_parse {
	struct traceback_list *list;
	const char *whole;
	const char *start;   /* of the line that is read, with its prefix */
	struct map *readers; /* by rank + 1 */
};

static void traceback_clear(struct traceback *traceback)
{
	free(traceback->thread);
	free(traceback->type);
	free(traceback->message);
	free(traceback->file);
	free(traceback->func);
	*traceback = (struct traceback){ .rank = -1, .group = -1, .before = -1 };
}

void traceback_list_clear(struct traceback_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		traceback_clear(&list->items[i]);
	free(list->items);
	*list = (struct traceback_list){ .items = NULL };
}

static void reader_free(void *value)
{
	struct traceback_reader *reader = value;

	traceback_clear(&reader->now);
	free(reader->thread);
	free(reader);
}

static struct traceback_reader *reader_of(struct traceback_parse *parse, int rank)
{
	uint64_t key = (uint64_t)(rank + 1);
	struct traceback_reader *reader = map_find(parse->readers, key);

	if (reader)
		return reader;
	reader = xcalloc(1, sizeof(*reader));
	reader->now = (struct traceback){ .rank = rank, .group = -1, .before = -1 };
	reader->last = -1;
	reader->group = -1;
	map_put(parse->readers, key, reader);
	return reader;
}

static bool traceback_begins(const struct logline *line, const char *word)
{
	return line->length >= strlen(word) && strncmp(line->text, word, strlen(word)) == 0;
}

/* Offset behind the line in the whole text. */
static size_t end_of_line(const struct traceback_parse *parse, const struct logline *line)
{
	return (size_t)(line->text + line->length - parse->whole);
}

static void forget_thread(struct traceback_reader *reader)
{
	free(reader->thread);
	reader->thread = NULL;
}

/* Appends *item, whose strings are taken. */
static void traceback_append_item(struct traceback_parse *parse, struct traceback_reader *reader,
				  struct traceback *item)
{
	struct traceback_list *list = parse->list;

	ARRAY_GROW(list->items, list->count, list->capacity);
	list->items[list->count] = *item;
	reader->last = (int)list->count++;
}

/* Forgets the traceback that is being read: what follows from it follows from nothing known. */
static void traceback_drop(struct traceback_reader *reader)
{
	int rank = reader->now.rank;

	if (reader->is_open)
		reader->last = -1;
	traceback_clear(&reader->now);
	reader->now.rank = rank;
	reader->is_open = false;
}

static void begin_traceback(struct traceback_parse *parse, struct traceback_reader *reader,
			    size_t margin, bool is_group)
{
	traceback_drop(reader);
	reader->is_open = true;
	reader->is_group = is_group;
	reader->has_frame = reader->has_user = false;
	reader->margin = margin;
	reader->wants_text = false;
	reader->now.start = (size_t)(parse->start - parse->whole);
}

/*
 * True if the frame is nearer to the cause than the one that was taken: an exception's innermost
 * frame is printed last, that of a fault first.
 */
static bool is_nearer(const struct traceback_reader *reader, const struct traceback *item,
		      bool is_user)
{
	if (item->kind == TRACEBACK_FAULT)
		return !item->file || (is_user && !reader->has_user);
	return is_user || !reader->has_user;
}

/* Takes the file of a frame into *item; word stands between the line's number and the function. */
static void take_frame(struct traceback_reader *reader, struct traceback *item,
		       const struct logline *line, const char *word)
{
	static const char head[] = "  File \"";
	static const char middle[] = "\", line ";
	char *text = xstrndup(line->text, line->length);
	char *at = strstr(text, middle);
	char *file = text + strlen(head);
	size_t length = strlen(word);
	bool is_user;
	char *func;
	long number;

	if (strncmp(text, head, strlen(head)) != 0 || !at) {
		free(text);
		return;
	}
	*at = '\0';
	number = strtol(at + strlen(middle), &func, 10);
	is_user = !place_is_library(file);
	reader->has_frame = true;
	if (number > 0 && number <= INT_MAX && is_nearer(reader, item, is_user)) {
		free(item->file);
		free(item->func);
		item->file = xstrdup(file);
		item->line = (int)number;
		item->func = xstrdup(strncmp(func, word, length) == 0 ? func + length : "");
		reader->has_user = is_user;
	}
	free(text);
}

/* True for the last part of an exception's name: "ValueError", but "error" only in a module. */
static bool is_class_name(const char *name, size_t length, bool is_in_module)
{
	static const char *const levels[] = { "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL" };
	static const char *const small[] = { "error", "timeout", "herror", "gaierror" };

	for (size_t i = 0; i < ARRAY_LENGTH(levels); i++) {
		if (strlen(levels[i]) == length && strncmp(name, levels[i], length) == 0)
			return false;
	}
	for (size_t i = 0; i < ARRAY_LENGTH(small) && is_in_module; i++) {
		if (strlen(small[i]) == length && strncmp(name, small[i], length) == 0)
			return true;
	}
	while (length > 0 && *name == '_') {
		name++;
		length--;
	}
	return length > 0 && (isupper((unsigned char)*name) || (unsigned char)*name >= 0x80);
}

/* Length of "pkg.ValueError" at the beginning of the line; 0: no exception's name is there. */
static size_t type_length(const struct logline *line)
{
	size_t length = 0;
	size_t dot = 0;

	while (length < line->length &&
	       (isalnum((unsigned char)line->text[length]) || strchr("_.<>", line->text[length]) ||
		(unsigned char)line->text[length] >= 0x80)) {
		if (line->text[length] == '.')
			dot = length + 1;
		length++;
	}
	if (length < line->length && line->text[length] != ':')
		return 0;
	return is_class_name(line->text + dot, length - dot, dot > 0) ? length : 0;
}

/* Sets from what the complete traceback follows, and of which group it is a member. */
static void relate(const struct traceback_parse *parse, struct traceback_reader *reader)
{
	struct traceback *now = &reader->now;
	const struct traceback *before;

	if (reader->group >= 0 && reader->margin <= reader->group_margin) {
		/* What follows a group follows from the group, not from its last member. */
		if (reader->last >= 0)
			reader->last = reader->group;
		reader->group = -1;
	}
	now->group = reader->group;
	now->before = reader->next == TRACEBACK_ALONE ? -1 : reader->last;
	now->relation = now->before < 0 ? TRACEBACK_ALONE : reader->next;
	before = now->before < 0 ? NULL : &parse->list->items[now->before];
	if (before && before->thread && !reader->thread)
		now->thread = xstrdup(before->thread);
	else
		now->thread = reader->thread;
	if (now->thread == reader->thread)
		reader->thread = NULL;
}

/* The line behind the frames: "ValueError: bad batch". */
static void end_traceback(struct traceback_parse *parse, struct traceback_reader *reader,
			  const struct logline *line)
{
	size_t length = type_length(line);
	size_t behind = length;

	if (length == 0 || !reader->has_frame) {
		traceback_drop(reader);
		return;
	}
	while (behind < line->length && (line->text[behind] == ':' || line->text[behind] == ' '))
		behind++;
	relate(parse, reader);
	reader->now.type = xstrndup(line->text, length);
	reader->now.message = xstrndup(line->text + behind, line->length - behind);
	reader->now.end = end_of_line(parse, line);
	/* Of an exception without a text CPython prints no colon. */
	reader->wants_text = length < line->length && behind == line->length;
	traceback_append_item(parse, reader, &reader->now);
	if (reader->is_group && reader->group < 0) {
		reader->group = reader->last;
		reader->group_margin = reader->margin;
	}
	reader->now = (struct traceback){ .rank = reader->now.rank, .group = -1, .before = -1 };
	reader->is_open = false;
	reader->next = TRACEBACK_ALONE;
}

/* A message may begin with an empty line. */
static void take_text(struct traceback_parse *parse, struct traceback_reader *reader,
		      const struct logline *line)
{
	struct traceback *last = &parse->list->items[reader->last];

	if (line->length == 0)
		return;
	reader->wants_text = false;
	free(last->message);
	last->message = xstrndup(line->text, line->length);
	last->end = end_of_line(parse, line);
}

static void name_thread(struct traceback_reader *reader, const struct logline *line)
{
	size_t length = line->length - strlen(THREAD);

	if (length > 0 && line->text[line->length - 1] == ':')
		length--;
	forget_thread(reader);
	reader->thread = xstrndup(line->text + strlen(THREAD), length);
}

static void add_abort(struct traceback_parse *parse, struct traceback_reader *reader,
		      const struct logline *line, struct traceback item)
{
	traceback_drop(reader);
	item.rank = reader->now.rank;
	item.group = item.before = -1;
	item.start = (size_t)(parse->start - parse->whole);
	item.end = end_of_line(parse, line);
	traceback_append_item(parse, reader, &item);
	reader->next = TRACEBACK_ALONE;
	reader->wants_text = false;
}

/* "terminate called after throwing an instance of 'std::runtime_error'" */
static void add_terminate(struct traceback_parse *parse, struct traceback_reader *reader,
			  const struct logline *line)
{
	const char *name = line->text + strlen(TERMINATE);
	size_t length = line->length - strlen(TERMINATE);

	if (length > 0 && name[length - 1] == '\'')
		length--;
	add_abort(parse, reader, line,
		  (struct traceback){ .kind = TRACEBACK_TERMINATE,
				      .type = xstrndup(name, length),
				      .message = xstrdup("") });
	reader->wants_what = true;
}

static void add_fault(struct traceback_parse *parse, struct traceback_reader *reader,
		      const struct logline *line)
{
	add_abort(parse, reader, line,
		  (struct traceback){ .kind = TRACEBACK_FAULT,
				      .type = xstrndup(FAULT, strlen(FAULT) - 2),
				      .message = xstrndup(line->text + strlen(FAULT),
							  line->length - strlen(FAULT)) });
	reader->is_fault = true;
	reader->is_faulty = reader->has_user = false;
}

/* The lines behind the first of what an aborting process prints; false: it is no such line. */
static bool take_abort(struct traceback_parse *parse, struct traceback_reader *reader,
		       const struct logline *line)
{
	struct traceback *item;

	if (!reader->wants_what && !reader->is_fault)
		return false;
	item = &parse->list->items[reader->last];
	if (reader->wants_what) {
		reader->wants_what = false;
		if (!traceback_begins(line, WHAT))
			return false;
		free(item->message);
		item->message = xstrndup(line->text + strlen(WHAT), line->length - strlen(WHAT));
	} else if (traceback_begins(line, "Current thread ")) {
		reader->is_faulty = true;
	} else if (reader->is_faulty && line->length > 0 && line->text[0] == ' ') {
		take_frame(reader, item, line, " in ");
	} else {
		reader->is_fault = !reader->is_faulty &&
				   (line->length == 0 || traceback_begins(line, "Thread ") ||
				    line->text[0] == ' ');
		return reader->is_fault;
	}
	item->end = end_of_line(parse, line);
	return true;
}

/*
 * Skips the margin of a line of an exception group; returns its length. A line of source code may
 * begin in the same way, so a margin is one only where it has to be.
 */
static size_t skip_margin(const struct traceback_reader *reader, struct logline *line)
{
	size_t margin = logline_margin(line->text, line->length);
	struct logline rest = *line;

	if (margin == 0 || (reader->is_open && margin != reader->margin))
		return 0;
	rest.text += margin;
	rest.length -= margin;
	if (rest.length > 0 && rest.text[0] == ' ') {
		rest.text++;
		rest.length--;
	}
	if (!reader->is_open && reader->group < 0 && !traceback_begins(&rest, GROUP_HEAD))
		return 0;
	*line = rest;
	return margin;
}

/* Takes a line outside of a traceback; false: it is of none of the forms that are read. */
static bool take_other(struct traceback_parse *parse, struct traceback_reader *reader,
		       const struct logline *line)
{
	if (traceback_begins(line, TERMINATE))
		add_terminate(parse, reader, line);
	else if (traceback_begins(line, FAULT))
		add_fault(parse, reader, line);
	else if (traceback_begins(line, CAUSED))
		reader->next = TRACEBACK_CAUSED;
	else if (traceback_begins(line, DURING))
		reader->next = TRACEBACK_DURING;
	else if (reader->wants_text)
		take_text(parse, reader, line);
	else
		return false;
	return true;
}

static void take_line(struct traceback_parse *parse, struct traceback_reader *reader,
		      struct logline *line)
{
	size_t margin = skip_margin(reader, line);
	bool is_group = traceback_begins(line, GROUP_HEAD);

	if (take_abort(parse, reader, line))
		return;
	if (is_group || traceback_begins(line, HEAD)) {
		begin_traceback(parse, reader, margin, is_group);
		return;
	}
	if (reader->is_open) {
		if (line->length > 0 && line->text[0] == ' ')
			take_frame(reader, &reader->now, line, ", in ");
		else
			end_traceback(parse, reader, line);
		return;
	}
	if (traceback_begins(line, THREAD)) {
		name_thread(reader, line);
		return;
	}
	forget_thread(reader);
	if (!take_other(parse, reader, line) && line->length > 0 && margin == 0)
		reader->next = TRACEBACK_ALONE;
}

void traceback_read(struct traceback_list *list, const char *text)
{
	struct traceback_parse parse = { .list = list, .whole = text };

	parse.readers = map_new(reader_free);
	for (const char *at = text; *at != '\0';) {
		size_t length = strcspn(at, "\n");
		struct logline line;
		size_t drawn;

		/* The last line may be cut. */
		if (at[length] == '\0')
			break;
		drawn = logline_drawn(at, length);
		parse.start = at + drawn;
		logline_read(&line, parse.start, length - drawn);
		take_line(&parse, reader_of(&parse, line.rank), &line);
		at += length + 1;
	}
	map_free(parse.readers);
}

/* What libraries say of another rank. */
static const struct {
	const char *words;
	enum traceback_blame blame;
	bool is_of_gloo; /* the words are common: only with where in gloo's source they were said */
} victims[] = {
	/* gloo/transport/tcp/pair.cc */
	{ "Connection closed by peer", TRACEBACK_LOSS, true },
	{ "Connection reset by peer", TRACEBACK_LOSS, true },
	{ "Broken pipe", TRACEBACK_LOSS, true },
	{ "timed out", TRACEBACK_TIMEOUT, true },
	/* gloo/transport/tcp/unbound_buffer.cc */
	{ "Timed out waiting", TRACEBACK_TIMEOUT, true },
	{ "connectFullMesh failed", TRACEBACK_TIMEOUT, false },
	/* torch/csrc/distributed/c10d: socket.cpp, TCPStore.cpp, ProcessGroupNCCL.cpp */
	{ "Did the remote server shutdown or crash", TRACEBACK_LOSS, false },
	{ "failed to recv, got 0 bytes", TRACEBACK_LOSS, false },
	{ "Watchdog caught collective operation timeout", TRACEBACK_TIMEOUT, false },
	{ "wait timeout after", TRACEBACK_TIMEOUT, false },
	{ "barrier timeout after", TRACEBACK_TIMEOUT, false },
	{ "seconds waiting for clients", TRACEBACK_TIMEOUT, false },
	{ "Socket Timeout", TRACEBACK_TIMEOUT, false },
	/* nccl.h: ncclRemoteError */
	{ "remote process exited or there was a network error", TRACEBACK_LOSS, false },
	{ "NCCL communicator was aborted", TRACEBACK_LOSS, false },
};

/* Skips where in torch a message was made: "[/src/gloo/pair.cc:537] Read error". */
static const char *without_source(const char *message)
{
	size_t length = strcspn(message, "]");
	char *place = xstrndup(message, length);
	bool is_source = message[0] == '[' && strncmp(message + length, "] ", 2) == 0 &&
			 strchr(place, '/') && (strstr(place, ".cc:") || strstr(place, ".cpp:"));

	free(place);
	return is_source ? message + length + 2 : message;
}

/* Bytes of message up to what gloo advises behind the errors of its connections. */
static size_t without_advice(const char *message)
{
	static const char advice[] = ". This is typically caused by a remote worker";
	const char *at = strstr(message, advice);

	return at ? (size_t)(at - message) : strlen(message);
}

/* True for the types that torch.distributed raises, and what it is made of throws. */
static bool is_of_torch(const char *type)
{
	static const char *const names[] = { "RuntimeError",	 "DistError",
					     "DistBackendError", "DistNetworkError",
					     "DistStoreError",	 "std::runtime_error" };
	static const char *const spaces[] = { "gloo::", "c10::" };
	const char *dot = strrchr(type, '.');
	const char *name = dot ? dot + 1 : type;

	for (size_t i = 0; i < ARRAY_LENGTH(names); i++) {
		if (strcmp(name, names[i]) == 0)
			return true;
	}
	for (size_t i = 0; i < ARRAY_LENGTH(spaces); i++) {
		if (strncmp(type, spaces[i], strlen(spaces[i])) == 0)
			return true;
	}
	return false;
}

enum traceback_blame traceback_blame(const struct traceback *traceback)
{
	bool is_of_source;

	if (!traceback || !is_of_torch(traceback->type))
		return TRACEBACK_OWN;
	is_of_source = without_source(traceback->message) != traceback->message;
	for (size_t i = 0; i < ARRAY_LENGTH(victims); i++) {
		if ((is_of_source || !victims[i].is_of_gloo) &&
		    strstr(traceback->message, victims[i].words))
			return victims[i].blame;
	}
	return TRACEBACK_OWN;
}

struct traceback *traceback_add(struct traceback_list *list, const char *text)
{
	/* "OSError(2, 'No such file')" */
	size_t length = strcspn(text, "(: \r\n");
	size_t behind = length + strspn(text + length, ": ");

	ARRAY_GROW(list->items, list->count, list->capacity);
	list->items[list->count] = (struct traceback){ .rank = -1, .group = -1, .before = -1 };
	list->items[list->count].type = xstrndup(text, length);
	list->items[list->count].message = xstrndup(text + behind, strcspn(text + behind, "\r\n"));
	return &list->items[list->count++];
}

int traceback_last_of_thread(const struct traceback_list *list, int rank)
{
	for (size_t i = list->count; i-- > 0;) {
		if (list->items[i].thread && list->items[i].rank == rank)
			return (int)i;
	}
	return -1;
}

int traceback_last_abort(const struct traceback_list *list)
{
	for (size_t i = list->count; i-- > 0;) {
		if (list->items[i].kind != TRACEBACK_EXCEPTION)
			return (int)i;
	}
	return -1;
}

/* True for the exceptions with which torchrun itself ends after its ranks have. */
static bool is_launchers(const struct traceback *item)
{
	const char *dot = strrchr(item->type, '.');
	const char *type = dot ? dot + 1 : item->type;

	return strcmp(type, "ChildFailedError") == 0 || strcmp(type, "SignalException") == 0;
}

int traceback_last(const struct traceback_list *list, int rank)
{
	int of_thread = -1;

	for (size_t i = list->count; i-- > 0;) {
		const struct traceback *item = &list->items[i];

		if (item->kind != TRACEBACK_EXCEPTION || item->rank != rank || item->group >= 0 ||
		    is_launchers(item))
			continue;
		if (!item->thread)
			return (int)i;
		if (of_thread < 0)
			of_thread = (int)i;
	}
	return of_thread;
}

void traceback_append(struct buffer *out, const struct traceback *traceback, int columns)
{
	const char *name = traceback->file ? place_file_name(traceback->file) : NULL;
	const char *message = without_source(traceback->message);
	struct buffer text = BUFFER_INIT;

	text_escape(&text, traceback->type, strlen(traceback->type));
	if (message[0] != '\0')
		buffer_append_string(&text, ": ");
	text_escape(&text, message, without_advice(message));
	text_cut(out, text.data, columns);
	buffer_clear(&text);
	if (!name)
		return;
	buffer_append_string(out, " (");
	text_escape(out, name, strlen(name));
	buffer_printf(out, ":%d)", traceback->line);
}
