/*
 * pdbtranscript: the session with a debugger as a terminal would show it: its
 * bytes without our hidden questions, and what was typed. The last of it is
 * kept for a console that opens later; while one is open all of it goes there.
 */
#ifndef BACKENDS_PDB_PDBTRANSCRIPT_H
#define BACKENDS_PDB_PDBTRANSCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct node;
struct pdbtranscript;

struct pdbtranscript *pdbtranscript_new(struct node *node, pid_t pid);
void pdbtranscript_free(struct pdbtranscript *transcript);
void pdbtranscript_add(struct pdbtranscript *transcript, const char *bytes, size_t length);
/* Opened: what is kept is told at once. */
void pdbtranscript_open(struct pdbtranscript *transcript, bool is_open);
void pdbtranscript_flush(struct pdbtranscript *transcript);

#endif
