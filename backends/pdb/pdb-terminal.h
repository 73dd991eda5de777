/*
 * pdb-terminal: the transcript of a session with a debugger, as a terminal would show it: the
 * debugger's output without the hidden questions, and the typed lines. An open console receives all
 * text; the end of the text is kept for a console that opens later.
 */
#ifndef BACKENDS_PDB_PDB_TERMINAL_H
#define BACKENDS_PDB_PDB_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct node;
struct pdbtranscript;

struct pdbtranscript *pdbtranscript_new(struct node *node, pid_t pid);
void pdbtranscript_free(struct pdbtranscript *transcript);
void pdbtranscript_add(struct pdbtranscript *transcript, const char *bytes, size_t length);
/* Opens or closes the console; when it opens, the kept text is sent. */
void pdbtranscript_open(struct pdbtranscript *transcript, bool is_open);
void pdbtranscript_flush(struct pdbtranscript *transcript);

#endif
