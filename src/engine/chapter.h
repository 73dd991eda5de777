/*
 * chapter: one member of a packed recording, and the note in its header:
 * where it ends and what is in it, so that a reader passes over chapters
 * without unpacking them.
 *
 * The note is written when a chapter ends; that of a chapter that is being
 * written, or whose recorder was killed, is not complete.
 */
#ifndef ENGINE_CHAPTER_H
#define ENGINE_CHAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The line that reaches one of these is a chapter's last. A chapter that has
 * lasted for less than the minimum of seconds goes on, whatever its number of
 * lines; the lengths are those of the text behind the snapshot, which has to be
 * the longer part.
 */
#define CHAPTER_SECONDS 60.0
#define CHAPTER_SECONDS_MINIMUM 5.0
#define CHAPTER_LINES 20000u
#define CHAPTER_LENGTH (16u << 20)
/* The same, at any age. */
#define CHAPTER_LENGTH_MAXIMUM (48u << 20)

enum chapter_flag {
	CHAPTER_SOURCES = 1, /* answers to `source` are in it */
	CHAPTER_VALUES = 4,  /* to `tensor` and `parameters` */
	CHAPTER_CHANGES = 2, /* a main thread's stack or a rank's state
			      * changed in it */
};

/* Of one whose end is not known. */
#define CHAPTER_ALL (CHAPTER_SOURCES | CHAPTER_CHANGES | CHAPTER_VALUES)

#define CHAPTER_NOTE_LENGTH 40

struct chapter {
	uint64_t packed_length; /* of the member; 0: it was not ended */
	uint64_t length;	/* of the text */
	double first;		/* time of its first and last line */
	double last;
	uint32_t line_count;
	uint32_t flags; /* of enum chapter_flag */
};

/* Numbers are little-endian, times IEEE 754. */
void chapter_to_note(const struct chapter *chapter, unsigned char note[CHAPTER_NOTE_LENGTH]);
/* False: no chapter of ours was written so. */
bool chapter_from_note(struct chapter *chapter, const unsigned char note[CHAPTER_NOTE_LENGTH]);

#endif
