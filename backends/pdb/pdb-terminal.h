/*
 * pdb-terminal: the session with a debugger as a terminal shows it: the debugger's output without
 * hidden questions, and the typed lines. The end is kept for a console that opens later; an open
 * console receives everything.
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
/* Opens or closes the console; on opening the kept text is sent. */
void pdbtranscript_open(struct pdbtranscript *transcript, bool is_open);
void pdbtranscript_flush(struct pdbtranscript *transcript);

#endif
