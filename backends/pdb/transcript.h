/*
 * transcript: the session with a debugger as a terminal would show it: its
 * bytes without our hidden questions, and what was typed. The last of it is
 * kept for a console that opens later; while one is open all of it goes there.
 */
#ifndef BACKENDS_PDB_TRANSCRIPT_H
#define BACKENDS_PDB_TRANSCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct node;
struct transcript;

struct transcript *transcript_new(struct node *node, pid_t pid);
void transcript_free(struct transcript *transcript);
void transcript_add(struct transcript *transcript, const char *bytes,
		    size_t length);
/* Opened: what is kept is told at once. */
void transcript_open(struct transcript *transcript, bool is_open);
void transcript_flush(struct transcript *transcript);

#endif
