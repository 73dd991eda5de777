/*
 * traceback: the tracebacks in a text that a Python program has printed, by the formats of
 * CPython's module traceback: plain ones, chains ("The above exception was the direct cause …"),
 * exception groups, and those of other threads; and what a process prints that aborts: an uncaught
 * exception of C++ (libstdc++), and a fault (CPython's faulthandler). Of several ranks that print
 * to one file, torch.distributed begins each line with "[rank2]: ".
 */
#ifndef MODEL_TRACEBACK_H
#define MODEL_TRACEBACK_H

#include <stdbool.h>
#include <stddef.h>

struct buffer;

/* How an exception follows from another one, which was printed before it. */
enum traceback_relation {
	TRACEBACK_ALONE,  /* it does not: a chain begins */
	TRACEBACK_CAUSED, /* __cause__: the one before was its cause */
	TRACEBACK_DURING, /* __context__: it was raised while the one before was handled */
};

enum traceback_kind {
	TRACEBACK_EXCEPTION, /* of Python */
	TRACEBACK_TERMINATE, /* of C++: type and message, no place */
	TRACEBACK_FAULT,     /* "Fatal Python error: Segmentation fault", and where Python was */
};

struct traceback {
	enum traceback_kind kind;
	int rank;      /* of the prefix "[rank2]: "; -1: no such prefix */
	char *thread;  /* name, if it ended a thread but not the program; NULL: none was named */
	char *type;    /* "ValueError", "torch.distributed.DistNetworkError" */
	char *message; /* first line with text; "": none */
	/* Innermost frame outside libraries, else innermost one; file NULL, line 0: no frame. */
	char *file;
	char *func;
	int line;
	int group; /* index of the exception group that it, or what it led to, is in; -1: none */
	enum traceback_relation relation; /* to the item `before` */
	int before;			  /* index; -1: none */
	size_t start; /* offsets in the text: of the first line, and behind the last one */
	size_t end;
};

/* What an exception says of other ranks. */
enum traceback_blame {
	TRACEBACK_OWN,	   /* nothing */
	TRACEBACK_LOSS,	   /* the connection to another rank was lost */
	TRACEBACK_TIMEOUT, /* another rank did not come in time */
};

struct traceback_list {
	struct traceback *items; /* in the order of their last lines */
	size_t count;
	size_t capacity;
};

/*
 * Appends an exception without its tracebacks, from its text "ValueError: bad batch"; returns it,
 * borrowed until the next is added.
 */
struct traceback *traceback_add(struct traceback_list *list, const char *text);
/* Judges by the texts of gloo, NCCL and torch.distributed; traceback may be NULL. */
enum traceback_blame traceback_blame(const struct traceback *traceback);
/* Appends the complete tracebacks in text; one that is cut at either end is left out. */
void traceback_read(struct traceback_list *list, const char *text);
void traceback_list_clear(struct traceback_list *list);
/*
 * Returns the index of the last exception with this rank's prefix (-1: with none) that ended a
 * thread; -1: there is none.
 */
int traceback_last_of_thread(const struct traceback_list *list, int rank);
/* Returns the index of the last item that is no exception of Python; -1: there is none. */
int traceback_last_abort(const struct traceback_list *list);
/*
 * Returns the index of the last exception of Python with this rank's prefix (-1: with none) that is
 * no member of a group and not torchrun's own: of those that ended more than a thread, else of all;
 * -1: there is none.
 */
int traceback_last(const struct traceback_list *list, int rank);
/*
 * Appends "ValueError: bad batch (data.py:12)", escaped; the part before " (" is cut to `columns`.
 * Where in torch's own source a message was made is left out.
 */
void traceback_append(struct buffer *out, const struct traceback *traceback, int columns);

#endif
