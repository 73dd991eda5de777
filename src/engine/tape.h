/*
 * tape: one recording as it lies there: its chapters, and cursors that read
 * its lines.
 *
 * A recording of ours that is packed stays in its file, and a cursor unpacks
 * the one chapter that it reads: long ones take little memory, and any time of
 * them is reached by reading one chapter. What is plain, or was packed by
 * another program, or comes through a pipe, is read once, completely; its
 * chapters begin at its snapshots. Nothing that a recording names is opened.
 *
 * A recorder that was killed leaves a last chapter without its end, or a last
 * line without its newline: what is whole of it is read.
 */
#ifndef ENGINE_TAPE_H
#define ENGINE_TAPE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "engine/chapter.h"

struct error;
struct message;

struct tape_line {
	size_t start; /* in the text */
	size_t length;
	double time;
};

/* Where a chapter lies. */
struct tape_chapter {
	struct chapter is;
	size_t start;	   /* packed: its byte in the file */
	size_t first_line; /* lines before it */
};

struct tape {
	char *path;
	int fd;			 /* of a packed recording; -1: it is in bytes */
	struct buffer bytes;	 /* packed, or text */
	bool is_packed;		 /* chapters are unpacked when they are read */
	size_t length;		 /* of the file */
	struct tape_line *lines; /* of all chapters, when not packed */
	size_t line_count;
	size_t line_capacity;
	struct tape_chapter *chapters; /* at least one */
	size_t chapter_count;
	size_t chapter_capacity;
	bool is_cut;
	double wall; /* clock at the tape's time 0; -1: not known */
};

/*
 * What tapes that are looked at together may still keep in memory: a small
 * file may unpack to much.
 */
struct tape_budget {
	size_t length; /* of text */
	size_t line_count;
};

void tape_budget_init(struct tape_budget *budget);
/* NULL and a sentence (with the line or byte) for a broken file. */
struct tape *tape_new(const char *path, struct tape_budget *budget, struct error *error);
/* The same of bytes, copied, which are called name. */
struct tape *tape_new_bytes(const char *name, const void *bytes, size_t length,
			    struct tape_budget *budget, struct error *error);
void tape_free(struct tape *tape);
double tape_first(const struct tape *tape);
double tape_last(const struct tape *tape);
/* The last chapter that begins not after time; 0 where none does. */
size_t tape_find_chapter(const struct tape *tape, double time);

/* Reads line after line. The tape is borrowed. */
struct tape_cursor {
	const struct tape *tape;
	size_t chapter; /* chapter_count: at the end */
	size_t line;	/* next one of it */
	/* Of that chapter; borrowed from the tape when it is not packed. */
	const struct tape_line *lines;
	size_t line_count;
	const char *text;
	bool is_loaded;
	struct tape_line *own_lines;
	size_t own_capacity;
	struct buffer own_text;
};

/* At the first line. */
void tape_cursor_init(struct tape_cursor *cursor, const struct tape *tape);
void tape_cursor_clear(struct tape_cursor *cursor);
/* To the first line of a chapter. */
void tape_cursor_go(struct tape_cursor *cursor, size_t chapter);
/*
 * The time of the next line: 1, 0 at the end, -1 and a sentence where the
 * recording is broken; the cursor is at its end then.
 */
int tape_cursor_time(struct tape_cursor *cursor, double *time, struct error *error);
/* Gives the next line's message, which the caller clears; as above. */
int tape_cursor_next(struct tape_cursor *cursor, struct message *message, struct error *error);
/*
 * The same for the chapter's next answer to a command that succeeded; 0: it
 * has none any more.
 */
int tape_cursor_find(struct tape_cursor *cursor, const char *command, struct message *message,
		     struct error *error);

#endif
