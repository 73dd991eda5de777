#include "model/traceback.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "banned.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/buffer.h"
#include "base/text.h"
#include "model/place.h"
#include "protocol/rankset.h"

#define CAUSED "The above exception was the direct cause of the following exception:"
#define DURING "During handling of the above exception, another exception occurred:"
#define THREAD "Exception in thread "
#define RANK "[rank"
#define TERMINATE "terminate called after throwing an instance of '"
#define FAULT "Fatal Python error: "

/* One line without its prefixes. */
struct line {
	const char *text; /* not terminated */
	size_t length;
	size_t margin; /* columns of "|" and "+" of exception groups, and of blanks before them */
	int rank;      /* -1: none is named */
};

struct reader {
	struct traceback_list *list;
	const char *whole;
	struct traceback now; /* the traceback that is being read */
	bool is_open;	      /* frames are being read */
	bool has_user;	      /* now.file is not a library's */
	bool wants_message;   /* the last item's message has no text so far */
	bool wants_what;      /* the last item is of C++, and its line "what()" has to follow */
	bool is_fault;	      /* the last item is a fault, whose frames have to follow */
	bool is_faulty;	      /* these are the frames of the thread at fault */
	size_t margin;	      /* of the traceback that is being read */
	int group;	      /* index of the group whose members follow; -1: none */
	size_t group_margin;
	bool has_before; /* the traceback before it was complete, and is the last item */
	enum traceback_relation next;
	char *thread; /* of the line "Exception in thread …" before it; NULL: none */
	int rank;     /* whose lines are read; -1: those without a rank */
};

static void traceback_clear(struct traceback *traceback)
{
	free(traceback->thread);
	free(traceback->type);
	free(traceback->message);
	free(traceback->file);
	free(traceback->func);
	*traceback = (struct traceback){ .rank = -1, .group = -1 };
}

void traceback_list_clear(struct traceback_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		traceback_clear(&list->items[i]);
	free(list->items);
	*list = (struct traceback_list){ .items = NULL };
}

static bool traceback_begins(const struct line *line, const char *word)
{
	return line->length >= strlen(word) && strncmp(line->text, word, strlen(word)) == 0;
}

static void skip(struct line *line, size_t count)
{
	line->text += count;
	line->length -= count;
}

/*
 * Skips "[rank2]: " of torch.distributed, or "[default0]:" of torchrun --tee, with the local rank;
 * false: there is none.
 */
static bool skip_prefix(struct line *line)
{
	const char *close = memchr(line->text, ']', line->length);
	const char *digits;
	size_t length;

	bool is_rank;

	if (line->length == 0 || line->text[0] != '[' || !close)
		return false;
	length = (size_t)(close - line->text);
	for (digits = close; digits > line->text && isdigit((unsigned char)digits[-1]);)
		digits--;
	if (digits == close || length + 1 >= line->length || close[1] != ':')
		return false;
	is_rank = traceback_begins(line, RANK) && digits == line->text + strlen(RANK) &&
		  close - digits <= 6;
	if (is_rank)
		line->rank = (int)strtol(digits, NULL, 10);
	skip(line, length + 2);
	if (is_rank && line->length > 0 && line->text[0] == ' ')
		skip(line, 1);
	return true;
}

/* Skips the margin of an exception group: "  | ", "  + ", "    +-+---". */
static void skip_margin(struct line *line)
{
	size_t blanks = 0;

	line->margin = 0;
	while (blanks < line->length && line->text[blanks] == ' ')
		blanks++;
	if (blanks == line->length || (line->text[blanks] != '|' && line->text[blanks] != '+'))
		return;
	line->margin = blanks + 1;
	skip(line, line->margin);
	if (line->length > 0 && line->text[0] == ' ')
		skip(line, 1);
}

/*
 * True if the frame is nearer to the cause than the one that was taken: an exception's innermost
 * frame is printed last, that of a fault first.
 */
static bool is_wanted(const struct reader *reader, const struct traceback *item, bool is_user)
{
	if (item->kind == TRACEBACK_FAULT)
		return !item->file || (is_user && !reader->has_user);
	return is_user || !reader->has_user;
}

/* Takes the file of a frame into *item; word stands between the line's number and the function. */
static void take_frame(struct reader *reader, struct traceback *item, const struct line *line,
		       const char *word)
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
	if (number > 0 && number <= INT_MAX && is_wanted(reader, item, is_user)) {
		free(item->file);
		free(item->func);
		item->file = xstrdup(file);
		item->line = (int)number;
		item->func = xstrdup(strncmp(func, word, length) == 0 ? func + length : "");
		reader->has_user = is_user;
	}
	free(text);
}

/* Length of "pkg.ValueError" at the beginning of the line; 0: no name of a class is there. */
static size_t type_length(const struct line *line)
{
	size_t length = 0;

	while (length < line->length &&
	       (isalnum((unsigned char)line->text[length]) || strchr("_.<>", line->text[length]) ||
		(unsigned char)line->text[length] >= 0x80))
		length++;
	if (length == 0 || isdigit((unsigned char)line->text[0]))
		return 0;
	return length == line->length || line->text[length] == ':' ? length : 0;
}

static void drop(struct reader *reader)
{
	if (reader->is_open)
		reader->has_before = false;
	traceback_clear(&reader->now);
	reader->is_open = false;
}

/* The line behind the frames: "ValueError: bad batch". */
static void end_traceback(struct reader *reader, const struct line *line)
{
	struct traceback_list *list = reader->list;
	size_t length = type_length(line);
	size_t behind = length;

	if (length == 0) {
		drop(reader);
		return;
	}
	while (behind < line->length && (line->text[behind] == ':' || line->text[behind] == ' '))
		behind++;
	if (reader->margin <= reader->group_margin)
		reader->group = -1;
	reader->now.group = reader->group;
	reader->now.relation = reader->has_before ? reader->next : TRACEBACK_ALONE;
	reader->now.type = xstrndup(line->text, length);
	reader->now.message = xstrndup(line->text + behind, line->length - behind);
	reader->now.end = (size_t)(line->text + line->length - reader->whole);
	reader->now.thread = reader->thread;
	reader->thread = NULL;
	reader->wants_message = behind == line->length;
	ARRAY_GROW(list->items, list->count, list->capacity);
	list->items[list->count++] = reader->now;
	if (reader->group < 0 && reader->margin > 0) {
		reader->group = (int)list->count - 1;
		reader->group_margin = reader->margin;
	}
	reader->now = (struct traceback){ .rank = -1, .group = -1 };
	reader->is_open = false;
	reader->has_before = true;
	reader->next = TRACEBACK_ALONE;
}

/* A message may begin with an empty line. */
static void take_message(struct reader *reader, const struct line *line)
{
	struct traceback *last = &reader->list->items[reader->list->count - 1];

	if (line->length == 0)
		return;
	reader->wants_message = false;
	free(last->message);
	last->message = xstrndup(line->text, line->length);
	last->end = (size_t)(line->text + line->length - reader->whole);
}

static void begin_traceback(struct reader *reader, const struct line *line, const char *start)
{
	drop(reader);
	reader->is_open = true;
	reader->has_user = false;
	reader->margin = line->margin;
	reader->now.rank = reader->rank;
	reader->now.start = (size_t)(start - reader->whole);
}

static void name_thread(struct reader *reader, const struct line *line)
{
	size_t length = line->length - strlen(THREAD);

	if (length > 0 && line->text[line->length - 1] == ':')
		length--;
	free(reader->thread);
	reader->thread = xstrndup(line->text + strlen(THREAD), length);
}

static struct traceback *add_item(struct reader *reader, enum traceback_kind kind,
				  const char *start, const struct line *line)
{
	struct traceback_list *list = reader->list;

	ARRAY_GROW(list->items, list->count, list->capacity);
	list->items[list->count] = (struct traceback){
		.kind = kind,
		.rank = reader->rank,
		.group = -1,
		.start = (size_t)(start - reader->whole),
		.end = (size_t)(line->text + line->length - reader->whole),
	};
	return &list->items[list->count++];
}

/* "terminate called after throwing an instance of 'std::runtime_error'" */
static void add_terminate(struct reader *reader, const struct line *line, const char *start)
{
	struct traceback *item = add_item(reader, TRACEBACK_TERMINATE, start, line);
	const char *name = line->text + strlen(TERMINATE);
	size_t length = line->length - strlen(TERMINATE);

	if (length > 0 && name[length - 1] == '\'')
		length--;
	item->type = xstrndup(name, length);
	item->message = xstrdup("");
	reader->wants_what = true;
}

static void add_fault(struct reader *reader, const struct line *line, const char *start)
{
	struct traceback *item = add_item(reader, TRACEBACK_FAULT, start, line);

	item->type = xstrndup(FAULT, strlen(FAULT) - 2);
	item->message = xstrndup(line->text + strlen(FAULT), line->length - strlen(FAULT));
	reader->is_fault = true;
	reader->is_faulty = false;
	reader->has_user = false;
}

/* The lines behind the first of what an aborting process prints; false: it is no such line. */
static bool take_abort(struct reader *reader, const struct line *line)
{
	static const char what[] = "  what():  ";
	struct traceback *item;

	if (!reader->wants_what && !reader->is_fault)
		return false;
	item = &reader->list->items[reader->list->count - 1];
	if (reader->wants_what) {
		reader->wants_what = false;
		if (!traceback_begins(line, what))
			return false;
		free(item->message);
		item->message = xstrndup(line->text + strlen(what), line->length - strlen(what));
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
	item->end = (size_t)(line->text + line->length - reader->whole);
	return true;
}

static void take_line(struct reader *reader, const struct line *line, const char *start)
{
	static const char group_head[] = "Exception Group Traceback (most recent call last):";
	static const char head[] = "Traceback (most recent call last):";

	if (take_abort(reader, line))
		return;
	if (traceback_begins(line, head) || traceback_begins(line, group_head)) {
		reader->wants_message = false;
		begin_traceback(reader, line, start);
	} else if (reader->is_open && line->length > 0 && line->text[0] == ' ') {
		take_frame(reader, &reader->now, line, ", in ");
	} else if (reader->is_open) {
		end_traceback(reader, line);
	} else if (traceback_begins(line, TERMINATE)) {
		add_terminate(reader, line, start);
	} else if (traceback_begins(line, FAULT)) {
		add_fault(reader, line, start);
	} else if (traceback_begins(line, CAUSED)) {
		reader->next = TRACEBACK_CAUSED;
	} else if (traceback_begins(line, DURING)) {
		reader->next = TRACEBACK_DURING;
	} else if (traceback_begins(line, THREAD)) {
		name_thread(reader, line);
	} else if (reader->wants_message) {
		take_message(reader, line);
	} else if (line->length > 0 && line->margin == 0) {
		reader->next = TRACEBACK_ALONE;
	}
}

/* Reads the lines of one rank; adds the ranks of other lines to *ranks. */
static void read_lines(struct traceback_list *list, const char *text, int rank,
		       struct rankset *ranks)
{
	struct reader reader = { .list = list,
				 .whole = text,
				 .now = { .rank = -1, .group = -1 },
				 .group = -1,
				 .rank = rank };

	for (const char *at = text; *at != '\0';) {
		size_t length = strcspn(at, "\n");
		struct line line = { .text = at, .length = length };

		if (line.length > 0 && line.text[line.length - 1] == '\r')
			line.length--;
		line.rank = -1;
		if (skip_prefix(&line))
			skip_prefix(&line);
		skip_margin(&line);
		if (line.rank >= 0)
			rankset_add(ranks, line.rank);
		/* The last line may be cut. */
		if (line.rank == rank && at[length] == '\n')
			take_line(&reader, &line, at);
		at += length + (at[length] == '\n');
	}
	drop(&reader);
	free(reader.thread);
}

/* What libraries say of another rank. */
static const struct {
	const char *words;
	enum traceback_blame blame;
} victims[] = {
	/* gloo/transport/tcp/pair.cc */
	{ "Connection closed by peer", TRACEBACK_LOSS },
	{ "Connection reset by peer", TRACEBACK_LOSS },
	{ "Broken pipe", TRACEBACK_LOSS },
	/* gloo/transport/tcp/unbound_buffer.cc; also TCPStore */
	{ "Timed out waiting", TRACEBACK_TIMEOUT },
	{ "timed out after", TRACEBACK_TIMEOUT },
	/* torch/csrc/distributed/c10d: socket.cpp, TCPStore.cpp, ProcessGroupNCCL.cpp */
	{ "Did the remote server shutdown or crash", TRACEBACK_LOSS },
	{ "failed to recv, got 0 bytes", TRACEBACK_LOSS },
	{ "connectFullMesh failed", TRACEBACK_TIMEOUT },
	{ "Watchdog caught collective operation timeout", TRACEBACK_TIMEOUT },
	{ "wait timeout after", TRACEBACK_TIMEOUT },
	{ "Socket Timeout", TRACEBACK_TIMEOUT },
	/* nccl.h: ncclRemoteError */
	{ "remote process exited or there was a network error", TRACEBACK_LOSS },
	{ "NCCL communicator was aborted", TRACEBACK_LOSS },
};

enum traceback_blame traceback_blame(const struct traceback *traceback)
{
	for (size_t i = 0; traceback && i < ARRAY_LENGTH(victims); i++) {
		if (strstr(traceback->message, victims[i].words))
			return victims[i].blame;
	}
	return TRACEBACK_OWN;
}

struct traceback *traceback_add(struct traceback_list *list, const char *text)
{
	const struct line line = { .text = text, .length = strcspn(text, "\r\n") };
	size_t length = type_length(&line);
	size_t behind;

	/* "OSError(2, 'No such file')" */
	if (length == 0)
		length = strcspn(text, "(:\r\n");
	behind = length + strspn(text + length, ": ");
	ARRAY_GROW(list->items, list->count, list->capacity);
	list->items[list->count] = (struct traceback){ .rank = -1, .group = -1 };
	list->items[list->count].type = xstrndup(text, length);
	list->items[list->count].message = xstrndup(text + behind, strcspn(text + behind, "\r\n"));
	return &list->items[list->count++];
}

void traceback_read(struct traceback_list *list, const char *text)
{
	struct rankset ranks = RANKSET_INIT;
	int rank = -1;

	do
		read_lines(list, text, rank, &ranks);
	while ((rank = rankset_next(&ranks, rank)) >= 0);
	rankset_clear(&ranks);
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

void traceback_append(struct buffer *out, const struct traceback *traceback, int columns)
{
	const char *name = traceback->file ? place_file_name(traceback->file) : NULL;
	const char *message = without_source(traceback->message);
	struct buffer text = BUFFER_INIT;

	text_escape(&text, traceback->type, strlen(traceback->type));
	if (message[0] != '\0')
		buffer_append_string(&text, ": ");
	text_escape(&text, message, strlen(message));
	text_cut(out, text.data, columns);
	buffer_clear(&text);
	if (!name)
		return;
	buffer_append_string(out, " (");
	text_escape(out, name, strlen(name));
	buffer_printf(out, ":%d)", traceback->line);
}
