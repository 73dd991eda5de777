/*
 * classmark: the character for a class of ranks, by verdict.h's `mark`: 0 the majority, 1
 * the outlier, then further classes.
 */
#ifndef MODEL_CLASSMARK_H
#define MODEL_CLASSMARK_H

#include <stddef.h>
#include <stdint.h>

/* Returns a code point; '?' for a mark below 0. */
int32_t classmark(int mark);
/* Parses a mark in Unicode or ASCII; -1: no mark. */
int classmark_find(const char *text, size_t length);

#endif
